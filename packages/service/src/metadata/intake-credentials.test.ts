import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, cannotRun, databaseFor, stopDatabases, temporaryDir } from '../../test/service.ts';
import { ensureOrganization } from '../installation/first-start.ts';
import { ensureIntakeFile } from '../installation/intake-file.ts';
import { intakeCommand } from '../intake-command.ts';
import { createVault, loadSecretKey } from '../secrets/vault.ts';
import { settingsSchema } from '../settings/definition.ts';
import {
  findByPassword,
  generatePassword,
  insertIntakeCredential,
  listIntakeCredentials,
  revokeIntakeCredential,
  touchIntakeCredential,
} from './intake-credentials.ts';
import { closeStore, openStore, type Store } from './store.ts';

afterAll(stopDatabases);

const NOW = 1_800_000_000;

describe.each(BACKENDS.map((backend) => ({ backend })))('intake credentials on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('contract', () => {
    let dataDir: string;
    let databaseUrl: string | undefined;
    let store: Store;
    let organizationId: string;
    let otherId: string;

    const organizationOf = async (slug: string) => {
      await ensureOrganization(store, slug, () => undefined);
      const row = await store.db
        .selectFrom('organizations')
        .select('id')
        .where('slug', '=', slug)
        .executeTakeFirstOrThrow();
      return row.id;
    };
    beforeEach(async () => {
      dataDir = temporaryDir();
      databaseUrl = await databaseFor(backend);
      const vault = createVault(loadSecretKey(dataDir, undefined));
      store = await openStore({ dataDir, databaseUrl, vault, now: () => NOW * 1000 });
      organizationId = await organizationOf('default');
      otherId = await organizationOf('other');
    });
    afterEach(async () => {
      await closeStore(store);
      rmSync(dataDir, { recursive: true });
    });

    const create = (username: string, password: string, organization = organizationId, now = NOW) =>
      store.db
        .transaction()
        .execute((tx) =>
          insertIntakeCredential(tx, { organizationId: organization, username, password, actor: 'test', now }),
        );
    const revoke = (target: string, organization = organizationId) =>
      store.db
        .transaction()
        .execute((tx) => revokeIntakeCredential(tx, { organizationId: organization, actor: 'test', now: NOW }, target));
    const audit = async () =>
      (await store.db.selectFrom('audit_entries').selectAll().where('kind', '=', 'intake_credential').execute()).map(
        (entry) => JSON.stringify(entry),
      );

    it('are found by user name and password, and by nothing less', async () => {
      const password = generatePassword();
      expect(Buffer.from(password, 'base64url').length).toBe(32);
      const { id } = await create('cloudflare', password);
      expect(await findByPassword(store.db, 'cloudflare', password)).toEqual({ id, organizationId });
      for (const [username, given] of [
        ['cloudflare', `${password}x`],
        ['cloudflare', password.slice(1)],
        ['cloudflare', ''],
        ['Cloudflare', password],
        ["cloudflare' or '1'='1", password],
        ['', password],
      ] as const) {
        expect(await findByPassword(store.db, username, given)).toBeUndefined();
      }
    });

    it('are kept as hashes: no password is in the store or the audit trail', async () => {
      await create('cloudflare', 'a password that must not be kept');
      const rows = await store.db.selectFrom('intake_credentials').selectAll().execute();
      const kept = JSON.stringify([rows, await audit(), await listIntakeCredentials(store.db, organizationId)]);
      expect(kept).not.toContain('must not be kept');
      expect(JSON.stringify([await audit(), await listIntakeCredentials(store.db, organizationId)])).not.toContain(
        rows[0]?.hash,
      );
    });

    it('of several are all in force, each until it is revoked, by name or by id', async () => {
      const first = await create('first', 'one', organizationId, NOW);
      const second = await create('second', 'two', organizationId, NOW + 1);
      expect((await listIntakeCredentials(store.db, organizationId)).map(({ username }) => username)).toEqual([
        'first',
        'second',
      ]);
      expect(await revoke('first')).toMatchObject({ id: first.id, revoked_at: NOW });
      expect(await findByPassword(store.db, 'first', 'one')).toBeUndefined();
      expect(await findByPassword(store.db, 'second', 'two')).toMatchObject({ id: second.id });
      await revoke(second.id);
      expect(await findByPassword(store.db, 'second', 'two')).toBeUndefined();
      for (const target of ['first', 'second', second.id, 'never']) {
        await expect(revoke(target)).rejects.toMatchObject({ code: 'not_found' });
      }
      expect((await audit()).length).toBe(4);
    });

    it('have user names of their own while they are in force, in all organisations', async () => {
      const { id } = await create('shared', 'one');
      await expect(create('shared', 'two')).rejects.toMatchObject({ code: 'duplicate_name' });
      await expect(create('shared', 'two', otherId)).rejects.toMatchObject({ code: 'duplicate_name' });
      await revoke(id);
      await create('shared', 'two', otherId);
      expect(await findByPassword(store.db, 'shared', 'two')).toMatchObject({ organizationId: otherId });
      expect(await findByPassword(store.db, 'shared', 'one')).toBeUndefined();
    });

    it('belong to their organisation: another can neither see nor revoke them', async () => {
      await create('mine', 'one');
      expect(await listIntakeCredentials(store.db, otherId)).toEqual([]);
      await expect(revoke('mine', otherId)).rejects.toMatchObject({ code: 'not_found' });
      expect(await findByPassword(store.db, 'mine', 'one')).toMatchObject({ organizationId });
    });

    it('tell when they were last used', async () => {
      const { id, last_used_at } = await create('mine', 'one');
      expect(last_used_at).toBeNull();
      await touchIntakeCredential(store.db, id, NOW + 60);
      expect(await listIntakeCredentials(store.db, organizationId)).toEqual([
        { id, username: 'mine', created_at: NOW, last_used_at: NOW + 60, revoked_at: null },
      ]);
    });

    it('are made, listed and revoked by the command, and by the first start', async () => {
      await ensureIntakeFile(store, 'default', path.join(dataDir, 'intake.json'), 'https://logs.example.com');
      const settings = settingsSchema.parse({ data_dir: dataDir, database_url: databaseUrl });
      const run = async (args: string[], username?: string) => {
        const outcome = await intakeCommand(settings, args, { username });
        return 'text' in outcome ? outcome.text : outcome.usage;
      };
      const made = JSON.parse(await run(['create'], 'second')) as { password: string; cloudflare_url: string };
      expect(made).toMatchObject({ endpoint: 'https://logs.example.com' });
      expect(await findByPassword(store.db, 'second', made.password)).toMatchObject({ organizationId });
      const list = await run(['list']);
      expect(list).toMatch(/\nsecond .*in force/);
      expect(list.trimEnd().split('\n').length).toBe(3);
      expect(list).not.toContain(made.password);
      await run(['revoke', 'second']);
      expect(await findByPassword(store.db, 'second', made.password)).toBeUndefined();
      expect(await run(['list'])).toMatch(/\nsecond .* revoked \d{4}/);
    });
  });
});
