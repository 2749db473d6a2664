/**
 * Which process evaluates what. Entities are dealt out over shards by the hash of their id; a process holds shards by leases in the
 * metadata store. Each new owner gets a greater epoch, and every write of the evaluator checks owner and epoch in its own
 * transaction: a process that was stopped and wakes up cannot write what it thought before.
 */
import { createHash } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { guarded, type Store } from '../metadata/store.ts';
import type { Tables } from '../metadata/tables.ts';

export const SHARDS = 64;

/** Milliseconds that a lease lasts, and between two renewals. A dead process' rules go on elsewhere within their sum. */
export const LEASE = 15_000;
export const RENEWAL = 5_000;

/** Processes that have not been seen for this long are forgotten. */
const FORGOTTEN = 3_600_000;

export interface Lease {
  readonly shard: number;
  readonly epoch: number;
  /** The last minute that the owner before had evaluated for the whole shard; 0: none. */
  readonly evaluatedMinute: number;
}

/** The shard is no longer this process'. */
export class LeaseLost extends Error {
  readonly code = 'lease_lost';
}

export interface ShardLeases {
  /** Shards of this process, as of the last renewal. */
  readonly held: ReadonlyMap<number, Lease>;
  /**
   * Says that this process lives, keeps its fair share of shards, takes those whose owner is gone, gives back what is too much.
   * @param evaluated the last minute evaluated for a shard, kept for its next owner
   */
  renew(evaluated: (shard: number) => number): Promise<void>;
  /** Gives everything back, so that others need not wait. */
  release(evaluated: (shard: number) => number): Promise<void>;
  /** Ends the transaction unless this process still holds the shards, and keeps them from being taken until it is over. @throws LeaseLost */
  require(tx: Transaction<Tables>, shards: Iterable<number>): Promise<void>;
}

export function shardOf(entityId: string): number {
  return createHash('sha256').update(entityId).digest().readUInt16BE(0) % SHARDS;
}

interface LeaseOptions {
  readonly id: string;
  readonly address: () => string;
  /** Unix milliseconds; the database's own clock where processes share it. */
  readonly clock: (db: Kysely<Tables>) => Promise<number>;
}

export function createShardLeases(store: Store, options: LeaseOptions): ShardLeases {
  const held = new Map<number, Lease>();
  return {
    held,
    renew: async (evaluated) => {
      const leases = await guarded(store, () =>
        store.db.transaction().execute((tx) => renew(store, tx, options, held, evaluated)),
      );
      held.clear();
      for (const lease of leases) held.set(lease.shard, lease);
    },
    release: async (evaluated) => {
      const leases = [...held.values()];
      held.clear();
      await guarded(store, () =>
        store.db.transaction().execute(async (tx) => {
          for (const lease of leases) await giveBack(tx, options.id, lease, evaluated(lease.shard));
          await tx.deleteFrom('evaluators').where('id', '=', options.id).execute();
        }),
      );
    },
    require: (tx, shards) => requireHeld(store, tx, options.id, held, shards),
  };
}

/** The clock of the database on PostgreSQL, where processes on several machines share the leases. */
export function databaseClock(store: Store): LeaseOptions['clock'] {
  if (store.backend.name === 'sqlite') return async () => store.now();
  return async (db) => {
    const { rows } = await sql<{ now: number }>`
      select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db);
    return rows[0]!.now;
  };
}

async function renew(
  store: Store,
  tx: Transaction<Tables>,
  { id, address, clock }: LeaseOptions,
  held: ReadonlyMap<number, Lease>,
  evaluated: (shard: number) => number,
): Promise<Lease[]> {
  const now = await clock(tx);
  const members = await sayAlive(tx, id, address(), now);
  await createShards(tx);
  const rows = await tx.selectFrom('evaluator_shards').selectAll().orderBy('shard').execute();
  const share = Math.ceil(SHARDS / members);
  const mine = rows.filter((row) => row.owner === id && held.get(row.shard)?.epoch === row.epoch);
  for (const row of mine.slice(share)) await giveBack(tx, id, row, evaluated(row.shard));
  const kept: Lease[] = [];
  // Most shards stand at the same minute: one statement for them.
  const reached = (row: (typeof rows)[number]) => Math.max(evaluated(row.shard), row.evaluated_minute);
  for (const [evaluatedMinute, same] of Map.groupBy(mine.slice(0, share), reached)) {
    const shards = same.map(({ shard }) => shard);
    // The owner's name stands for the epoch: whoever takes a shard writes its own.
    const renewed = await tx
      .updateTable('evaluator_shards')
      .set({ expires_at: now + LEASE, evaluated_minute: evaluatedMinute })
      .where('shard', 'in', shards)
      .where('owner', '=', id)
      .returning(['shard', 'epoch'])
      .execute();
    for (const { shard, epoch } of renewed) kept.push({ shard, epoch, evaluatedMinute });
  }
  const free = rows.filter((row) => row.owner === '' || (row.owner !== id && row.expires_at <= now) || isLeftover(row));
  const wanted = free.slice(0, Math.max(share - kept.length, 0)).map(({ shard }) => shard);
  for (const row of await lockFree(store, tx, wanted)) {
    const lease = await take(tx, id, row, { now, minute: Math.floor(store.now() / 60_000) });
    if (lease) kept.push(lease);
  }
  return kept;

  /** Held by this process in the store and not in its memory: a renewal whose commit was not heard of. */
  function isLeftover(row: { shard: number; owner: string; epoch: number }): boolean {
    return row.owner === id && held.get(row.shard)?.epoch !== row.epoch;
  }
}

/** @returns how many processes live, this one counted */
async function sayAlive(tx: Transaction<Tables>, id: string, address: string, now: number): Promise<number> {
  await tx
    .insertInto('evaluators')
    .values({ id, address, started_at: now, seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ address, seen_at: now }))
    .execute();
  await tx
    .deleteFrom('evaluators')
    .where('seen_at', '<', now - FORGOTTEN)
    .execute();
  const { count } = await tx
    .selectFrom('evaluators')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('seen_at', '>', now - LEASE)
    .executeTakeFirstOrThrow();
  return Math.max(Number(count), 1);
}

async function createShards(tx: Transaction<Tables>): Promise<void> {
  const { count } = await tx
    .selectFrom('evaluator_shards')
    .select((row) => row.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= SHARDS) return;
  const values = Array.from({ length: SHARDS }, (_, shard) => ({
    shard,
    owner: '',
    epoch: 0,
    expires_at: 0,
    evaluated_minute: 0,
  }));
  await tx
    .insertInto('evaluator_shards')
    .values(values)
    .onConflict((conflict) => conflict.column('shard').doNothing())
    .execute();
}

/** Rows that nobody is writing under: a process that stands still in the middle of a transaction must not hold up the others. */
async function lockFree(store: Store, tx: Transaction<Tables>, shards: readonly number[]) {
  if (shards.length === 0) return [];
  const select = tx.selectFrom('evaluator_shards').selectAll().where('shard', 'in', shards).orderBy('shard');
  return (store.backend.name === 'sqlite' ? select : select.forUpdate().skipLocked()).execute();
}

/**
 * A shard that nobody has had begins with this minute. That is written down at once: should this process end before its first
 * renewal, the next one begins where it did.
 */
async function take(
  tx: Transaction<Tables>,
  id: string,
  row: { shard: number; epoch: number; evaluated_minute: number },
  { now, minute }: { readonly now: number; readonly minute: number },
): Promise<Lease | undefined> {
  const epoch = row.epoch + 1;
  const evaluated_minute = row.evaluated_minute === 0 ? minute - 1 : row.evaluated_minute;
  const changed = await tx
    .updateTable('evaluator_shards')
    .set({ owner: id, epoch, expires_at: now + LEASE, evaluated_minute })
    .where('shard', '=', row.shard)
    .where('epoch', '=', row.epoch)
    .executeTakeFirst();
  if (changed.numUpdatedRows === 0n) return undefined;
  return { shard: row.shard, epoch, evaluatedMinute: row.evaluated_minute };
}

async function giveBack(
  tx: Transaction<Tables>,
  id: string,
  lease: { shard: number; epoch: number },
  evaluatedMinute: number,
): Promise<void> {
  await tx
    .updateTable('evaluator_shards')
    .set((row) => ({
      owner: '',
      expires_at: 0,
      evaluated_minute: evaluatedMinute > 0 ? evaluatedMinute : row.ref('evaluated_minute'),
    }))
    .where('shard', '=', lease.shard)
    .where('owner', '=', id)
    .where('epoch', '=', lease.epoch)
    .execute();
}

async function requireHeld(
  store: Store,
  tx: Transaction<Tables>,
  id: string,
  held: ReadonlyMap<number, Lease>,
  shards: Iterable<number>,
): Promise<void> {
  const wanted = [...new Set(shards)];
  const select = tx.selectFrom('evaluator_shards').select(['shard', 'owner', 'epoch']).where('shard', 'in', wanted);
  // SQLite's transactions hold the write lock from their beginning.
  const rows = await (store.backend.name === 'sqlite' ? select : select.forShare()).execute();
  for (const shard of wanted) {
    const row = rows.find((each) => each.shard === shard);
    if (row?.owner === id && row.epoch === held.get(shard)?.epoch) continue;
    throw new LeaseLost(`shard ${shard} belongs to another process now`);
  }
}
