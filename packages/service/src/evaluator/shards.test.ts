import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, cannotRun, databaseFor, stopDatabases, temporaryDir } from '../../test/service.ts';
import { closeStore, openStore, type Store } from '../metadata/store.ts';
import { createVault, loadSecretKey } from '../secrets/vault.ts';
import { createShardLeases, LEASE, LeaseLost, SHARDS, type ShardLeases, shardOf } from './shards.ts';

afterAll(stopDatabases);

describe.each(BACKENDS)('shards on %s', (backend) => {
  describe.skipIf(cannotRun(backend))('of several processes', () => {
    let store: Store;
    let dataDir: string;
    let now: number;
    const process = (id: string): ShardLeases =>
      createShardLeases(store, { id, address: () => `http://${id}`, clock: async () => now });

    beforeEach(async () => {
      dataDir = temporaryDir();
      now = 1_780_000_000_000;
      const databaseUrl = await databaseFor(backend);
      const vault = createVault(loadSecretKey(dataDir, undefined));
      store = await openStore({ dataDir, databaseUrl, vault, now: () => now });
    });
    afterEach(async () => {
      await closeStore(store);
      rmSync(dataDir, { recursive: true });
    });

    const shardsOf = (...processes: ShardLeases[]) =>
      processes.flatMap(({ held }) => [...held.keys()]).sort((a, b) => a - b);
    const all = Array.from({ length: SHARDS }, (_, shard) => shard);
    const requires = (leases: ShardLeases, shards: readonly number[]) =>
      store.db.transaction().execute((tx) => leases.require(tx, shards));

    it('are all held by the only one', async () => {
      const a = process('a');
      await a.renew(() => 0);
      expect(shardsOf(a)).toEqual(all);
      await requires(a, all);
    });

    it('are shared fairly, each held once, as processes come and go', async () => {
      const [a, b, c] = [process('a'), process('b'), process('c')];
      const renewAll = async (...some: ShardLeases[]) => {
        for (let round = 0; round < 3; round++) for (const each of some) await each.renew(() => 0);
      };
      await renewAll(a, b);
      expect(shardsOf(a, b)).toEqual(all);
      expect([a.held.size, b.held.size]).toEqual([SHARDS / 2, SHARDS / 2]);
      await renewAll(a, b, c);
      expect(shardsOf(a, b, c)).toEqual(all);
      expect(Math.max(a.held.size, b.held.size, c.held.size)).toBeLessThanOrEqual(Math.ceil(SHARDS / 3));
      await b.release(() => 0);
      await renewAll(a, c);
      expect(shardsOf(a, c)).toEqual(all);
    });

    it('go to another when their lease is over, and not before; the old owner can write no more', async () => {
      const [a, b] = [process('a'), process('b')];
      await a.renew(() => 0);
      now += LEASE - 1;
      await b.renew(() => 0);
      expect(b.held.size).toBe(0);
      now += LEASE + 1;
      await b.renew(() => 0);
      expect(shardsOf(b)).toEqual(all);
      await expect(requires(a, [0])).rejects.toBeInstanceOf(LeaseLost);
      await requires(b, [0]);
    });

    it('are not the old owner’s again by their old epoch', async () => {
      const [a, b] = [process('a'), process('b')];
      await a.renew(() => 0);
      const stale = new Map(a.held);
      now += 2 * LEASE;
      await b.renew(() => 0);
      await b.release(() => 0);
      await a.renew(() => 0);
      expect(shardsOf(a)).toEqual(all);
      for (const [shard, { epoch }] of a.held) expect(epoch).toBeGreaterThan(stale.get(shard)!.epoch);
      await requires(a, all);
    });

    it('hand over the minute up to which they were evaluated', async () => {
      const [a, b] = [process('a'), process('b')];
      const minute = Math.floor(now / 60_000);
      await a.renew(() => 0);
      await a.renew((shard) => minute + 1000 + shard);
      await a.release((shard) => minute + 2000 + shard);
      await b.renew(() => 0);
      expect([...b.held.values()].map(({ shard, evaluatedMinute }) => evaluatedMinute - minute - shard)).toEqual(
        all.map(() => 2000),
      );
    });

    it('hand over the minute in which they began when their first owner dies before it has said more', async () => {
      const [a, b] = [process('a'), process('b')];
      const minute = Math.floor(now / 60_000);
      await a.renew(() => 0);
      expect(new Set([...a.held.values()].map(({ evaluatedMinute }) => evaluatedMinute))).toEqual(new Set([0]));
      now += 600_000;
      await b.renew(() => 0);
      expect(shardsOf(b)).toEqual(all);
      expect(new Set([...b.held.values()].map(({ evaluatedMinute }) => evaluatedMinute))).toEqual(
        new Set([minute - 1]),
      );
    });

    it('are not waited for while somebody stands still in the middle of a transaction', async () => {
      const [a, b] = [process('a'), process('b')];
      await a.renew(() => 0);
      if (backend === 'sqlite') return;
      let finish = () => {};
      const standing = store.db.transaction().execute(async (tx) => {
        await a.require(tx, [3]);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      });
      now += 2 * LEASE;
      await b.renew(() => 0);
      expect(shardsOf(b)).toEqual(all.filter((shard) => shard !== 3));
      finish();
      await standing;
      await b.renew(() => 0);
      expect(shardsOf(b)).toEqual(all);
    });
  });
});

describe('the shard of an entity', () => {
  it('is the same everywhere, and spreads', () => {
    const shards = new Set(Array.from({ length: 2000 }, (_, index) => shardOf(`entity-${index}`)));
    expect(shards.size).toBe(SHARDS);
    expect(shardOf('01a1fdde-5f48-7000-9013-e91da358388a')).toBe(shardOf('01a1fdde-5f48-7000-9013-e91da358388a'));
  });
});
