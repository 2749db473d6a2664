import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, cannotRun, databaseFor, stopDatabases, temporaryDir } from '../../test/service.ts';
import { ensureOrganization, requireSameKey } from '../installation/first-start.ts';
import { Refusal } from '../refusal.ts';
import { createVault, SecretKeyError } from '../secrets/vault.ts';
import { createEntity, pageOfEntities, requireEntity, updateEntity } from './entities.ts';
import { type Change, change, closeStore, openStore, type Store } from './store.ts';

afterAll(stopDatabases);

const run = promisify(execFile);
const vault = (fill = 1) => createVault(new Uint8Array(32).fill(fill));

describe.each(BACKENDS.map((backend) => ({ backend })))('the metadata store on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('contract', () => {
    let dataDir: string;
    let databaseUrl: string | undefined;
    let store: Store;
    let organizationId: string;
    let opened: Store[];

    const open = async (fill = 1) => {
      const made = await openStore({ dataDir, databaseUrl, vault: vault(fill), now: () => 1_800_000_000_999 });
      opened.push(made);
      return made;
    };
    beforeEach(async () => {
      opened = [];
      dataDir = temporaryDir();
      databaseUrl = await databaseFor(backend);
      store = await open();
      await ensureOrganization(store, 'default', () => undefined);
      const row = await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
      organizationId = row.id;
    });
    afterEach(async () => {
      for (const each of opened) await closeStore(each);
      rmSync(dataDir, { recursive: true });
    });

    const write = <T>(on: Store, work: (change: Change) => Promise<T>, ifMatch?: string) =>
      change(on, { organizationId, actor: 'test', ifMatch }, work);
    const create = (on: Store, reference: string) =>
      write(on, (under) => createEntity(under, { name: reference, type: 't', external_ref: reference }));
    const revisionOf = async (on: Store) =>
      (await on.db.selectFrom('organizations').select('revision').executeTakeFirstOrThrow()).revision;
    const references = async (on: Store) =>
      (await pageOfEntities(on.db, organizationId, {}, undefined, 10_000)).map((entity) => entity.external_ref);
    const auditCount = async (on: Store) =>
      (await on.db.selectFrom('audit_entries').select('id').where('kind', '=', 'entity').execute()).length;

    it('opens again, at the same version, with what it had', async () => {
      const { value } = await create(store, 'kept');
      const again = await open();
      expect(await references(again)).toEqual(['kept']);
      expect(value).toMatchObject({ created_at: 1_800_000_000, updated_at: 1_800_000_000 });
    });

    it('is opened by several processes at once, the first time too', async () => {
      dataDir = temporaryDir();
      databaseUrl = await databaseFor(backend);
      const script = `
        const { openStore, closeStore } = await import(${JSON.stringify(new URL('./store.ts', import.meta.url).href)});
        const { createVault } = await import(${JSON.stringify(new URL('../secrets/vault.ts', import.meta.url).href)});
        const { ensureOrganization } = await import(${JSON.stringify(new URL('../installation/first-start.ts', import.meta.url).href)});
        const [dataDir, databaseUrl] = JSON.parse(process.argv[1]);
        const vault = createVault(new Uint8Array(32).fill(1));
        const store = await openStore({ dataDir, databaseUrl, vault, now: Date.now });
        console.log(await ensureOrganization(store, 'default', () => undefined));
        await closeStore(store);`;
      const args = ['--input-type=module', '-e', script, JSON.stringify([dataDir, databaseUrl])];
      const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
      expect(outputs.map(({ stdout }) => stdout.trim()).toSorted()).toEqual(['false', 'false', 'true']);
      const tokens = await (await open()).db.selectFrom('refresh_tokens').select('scope').execute();
      expect(tokens.map((token) => token.scope).toSorted()).toEqual(['delete', 'read', 'write']);
    });

    it('refuses a database of a newer version, and leaves it alone', async () => {
      await sql`insert into kysely_migration (name, timestamp) values ('9999-future', 'x')`.execute(store.db);
      await expect(open()).rejects.toMatchObject({
        code: 'newer_database',
        message: expect.stringContaining('9999-future'),
      });
    });

    it('does what was recorded, or nothing of it', async () => {
      await expect(
        write(store, async (under) => {
          await createEntity(under, { name: 'x', type: 't', external_ref: 'lost' });
          throw new Error('on purpose');
        }),
      ).rejects.toThrow('on purpose');
      expect(await references(store)).toEqual([]);
      expect(await revisionOf(store)).toBe(1);
      expect(await auditCount(store)).toBe(0);
    });

    it('keeps writes that wait together apart', async () => {
      const results = await Promise.allSettled([
        create(store, 'a'),
        write(store, async (under) => {
          await createEntity(under, { name: 'x', type: 't', external_ref: 'half' });
          throw new Error('on purpose');
        }),
        create(store, 'a'),
        create(store, 'b'),
        write(store, (under) => sql`insert into nowhere values (1)`.execute(under.tx)),
        create(store, 'c'),
      ]);
      expect(results.map((result) => result.status)).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect(
        results.map((result) => (result.status === 'fulfilled' ? (result.value as { revision: number }).revision : 0)),
      ).toEqual([2, 0, 0, 3, 0, 4]);
      expect(await references(store)).toEqual(['a', 'b', 'c']);
      expect(await revisionOf(store)).toBe(4);
      expect(await auditCount(store)).toBe(3);
    });

    it('counts one revision over two processes that write at once', async () => {
      const other = await open();
      const revisions = await Promise.all(
        Array.from(
          { length: 120 },
          async (_, index) => (await create(index % 2 ? store : other, `e${index}`)).revision,
        ),
      );
      expect(revisions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, index) => index + 2));
      expect(await revisionOf(other)).toBe(121);
      expect((await references(store)).toSorted()).toEqual((await references(other)).toSorted());
      expect(await auditCount(store)).toBe(120);
    });

    it('lets one of two processes win when both met the same revision', async () => {
      const other = await open();
      const results = await Promise.allSettled(
        [store, other].map((each, index) =>
          write(each, (under) => createEntity(under, { name: 'x', type: 't', external_ref: `r${index}` }), '"1"'),
        ),
      );
      expect(results.map((result) => result.status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const lost = results.find((result) => result.status === 'rejected')!;
      expect(lost.reason).toMatchObject({ code: 'revision_moved' });
    });

    it('does not let two processes take the same reference', async () => {
      const other = await open();
      const results = await Promise.allSettled([create(store, 'same'), create(other, 'same')]);
      const lost = results.filter((result) => result.status === 'rejected');
      expect(lost).toHaveLength(1);
      expect(lost[0]!.reason).toMatchObject({ code: 'duplicate_external_ref' });
    });

    it('moves the revision of its own organisation only', async () => {
      await ensureOrganization(store, 'other', () => undefined);
      await create(store, 'a');
      const rows = await store.db.selectFrom('organizations').select(['slug', 'revision']).orderBy('slug').execute();
      expect(rows).toEqual([
        { slug: 'default', revision: 2 },
        { slug: 'other', revision: 1 },
      ]);
    });

    it('gives numbers for numbers, also beyond 32 bits', async () => {
      const { value } = await create(store, 'a');
      const until = 4_000_000_000;
      await store.db.updateTable('entities').set({ snoozed_until: until }).execute();
      const row = await requireEntity(store.db, organizationId, value.id);
      expect([row.snoozed_until, row.ui_readonly, row.created_at]).toEqual([until, 0, 1_800_000_000]);
    });

    it('keeps texts as they are, with case, order and every plane of Unicode', async () => {
      const texts = ['b', 'a', 'B', 'ä', ' x ', "it's; drop table entities", '😀 \u{10ffff}', '\t\n\\"%_'];
      for (const text of texts) await create(store, text);
      expect(await references(store)).toEqual(texts);
      for (const text of texts) {
        const found = await pageOfEntities(store.db, organizationId, { external_ref: text }, undefined, 10);
        expect(found.map((entity) => entity.external_ref)).toEqual([text]);
      }
    });

    it('answers not found, not a failure, for an id of any shape', async () => {
      for (const id of ['', 'x', "'", '999999999999999999999', '01a1fd1b-39c2-7000-a114-0c0ec0f03234']) {
        await expect(requireEntity(store.db, organizationId, id)).rejects.toThrow(Refusal);
        await expect(write(store, (under) => updateEntity(under, id, { name: 'x', type: 't' }))).rejects.toThrow(
          Refusal,
        );
      }
    });

    it('refuses another secret key', async () => {
      await requireSameKey(store);
      await requireSameKey(await open());
      await expect(requireSameKey(await open(2))).rejects.toThrow(SecretKeyError);
    });
  });
});

describe('the SQLite file', () => {
  it('belongs to its owner alone, in WAL mode, and flushes every commit', async () => {
    const dataDir = temporaryDir();
    const store = await openStore({ dataDir, databaseUrl: undefined, vault: vault(), now: Date.now });
    const pragma = async (name: string) =>
      Object.values((await sql.raw(`pragma ${name}`).execute(store.db)).rows[0]!)[0];
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('busy_timeout')).toBe(5000);
    for (const name of ['metadata.sqlite', 'metadata.sqlite-wal', 'metadata.sqlite-shm']) {
      expect(statSync(path.join(dataDir, name)).mode & 0o777).toBe(0o600);
    }
    await closeStore(store);
    rmSync(dataDir, { recursive: true });
  });

  it('is unavailable, not broken, while another process holds it', async () => {
    const dataDir = temporaryDir();
    const store = await openStore({ dataDir, databaseUrl: undefined, vault: vault(), now: Date.now });
    await sql.raw('pragma busy_timeout = 10').execute(store.db);
    await ensureOrganization(store, 'default', () => undefined);
    const { id } = await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
    const other = new DatabaseSync(path.join(dataDir, 'metadata.sqlite'));
    other.exec('begin immediate');
    const attempt = () => change(store, { organizationId: id, actor: 'test' }, async () => 'done');
    await expect(attempt()).rejects.toMatchObject({ code: 'unavailable', retryAfter: expect.any(Number) });
    other.exec('rollback');
    other.close();
    expect((await attempt()).value).toBe('done');
    await closeStore(store);
    rmSync(dataDir, { recursive: true });
  });
});
