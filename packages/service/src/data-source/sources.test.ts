import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { temporaryDir } from '../../test/service.ts';
import { ensureOrganization } from '../installation/first-start.ts';
import {
  createDataSource,
  type DataSourceInput,
  deleteDataSource,
  updateDataSource,
} from '../metadata/data-sources.ts';
import { type Change, change, closeStore, openStore, type Store } from '../metadata/store.ts';
import { createVault } from '../secrets/vault.ts';
import type { SourceClient } from './source.ts';
import {
  createSources,
  type ResolvedSource,
  type Sources,
  type SourcesOptions,
  type UnresolvedSource,
} from './sources.ts';
import { matrix, type ScriptedServer, send, startScriptedServer } from './testdata/scripted-server.ts';

const ANSWER = send(200, matrix([{ metric: {}, values: [[60, '1']] }]));
const NAMES_NONE = { data_source: '', data_source_id: '' };

/** Stands for the engine of the service. */
function ownSource(): SourceClient & { isClosed: boolean } {
  return {
    isClosed: false,
    evaluationDelay: 0,
    queryRange: () => Promise.resolve({ series: [], warnings: [], bytes: 0 }),
    curl: () => '',
    async close() {
      this.isClosed = true;
    },
  };
}

describe('the data sources of an organisation', () => {
  let dataDir: string;
  let store: Store;
  let organizationId: string;
  let server: ScriptedServer;
  const opened: Sources[] = [];

  beforeAll(async () => {
    server = await startScriptedServer(ANSWER);
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    server.asked.length = 0;
    dataDir = temporaryDir();
    const vault = createVault(new Uint8Array(32).fill(1));
    // The clock stands: two changes come in the same second.
    store = await openStore({ dataDir, databaseUrl: undefined, vault, now: () => 1_800_000_000_999 });
    await ensureOrganization(store, 'default', () => undefined);
    organizationId = (await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow()).id;
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((sources) => sources.close()));
    await closeStore(store);
    rmSync(dataDir, { recursive: true });
  });

  const open = (options: Partial<SourcesOptions> = {}) => {
    const sources = createSources({ store, ...options });
    opened.push(sources);
    return sources;
  };
  const write = async <T>(work: (under: Change) => Promise<T>) =>
    (await change(store, { organizationId, actor: 'test' }, work)).value;
  const create = (name: string, more: Partial<DataSourceInput> = {}) =>
    write((under) => createDataSource(under, { name, url: server.url, is_default: false, ...more }));
  const resolve = async (sources: Sources, kpi = '', entity: Partial<typeof NAMES_NONE> = {}) =>
    (await sources.load(organizationId)).resolve({ data_source: kpi }, { ...NAMES_NONE, ...entity });
  const found = (resolution: ResolvedSource | UnresolvedSource): ResolvedSource => {
    if ('problem' in resolution) throw new Error(resolution.problem);
    return resolution;
  };
  const ask = (client: SourceClient) =>
    client.queryRange({ query: 'up', start: 60, end: 60, step: 60, signal: AbortSignal.timeout(10_000) });

  it('are found by the names that the indicator, then the entity give, else it is the default', async () => {
    const [a, b, c] = [await create('a'), await create('b'), await create('c', { is_default: true })];
    const sources = open();
    const nameOf = async (kpi: string, entity?: Partial<typeof NAMES_NONE>) =>
      found(await resolve(sources, kpi, entity)).name;
    expect(await nameOf('')).toBe('c');
    expect(await nameOf('', { data_source: 'b' })).toBe('b');
    expect(await nameOf('', { data_source: b.id })).toBe('b');
    expect(await nameOf('', { data_source: 'b', data_source_id: a.id })).toBe('a');
    expect(await nameOf('', { data_source_id: 'b' })).toBe('b');
    expect(await nameOf('a', { data_source: 'b', data_source_id: c.id })).toBe('a');
    expect(await nameOf(c.id, { data_source: 'b' })).toBe('c');
    const named = await create(a.id);
    expect(found(await resolve(sources, '', { data_source_id: a.id })).id).toBe(a.id);
    expect(found(await resolve(sources, a.id)).id).toBe(named.id);
  });

  it('say which one is not there', async () => {
    await create('a');
    const sources = open();
    for (const [kpi, entity] of [
      ['gone', {}],
      ['', { data_source: 'gone' }],
      ['', { data_source_id: 'gone' }],
    ] as const) {
      expect(await resolve(sources, kpi, entity)).toEqual({
        code: 'unknown_data_source',
        problem: 'There is no data source with the name or id "gone" in this organisation.',
      });
    }
    const nobody = await sources.load('another organisation');
    expect(nobody.resolve({ data_source: 'a' }, NAMES_NONE)).toMatchObject({ code: 'unknown_data_source' });
    expect(nobody.resolve({ data_source: '' }, NAMES_NONE)).toMatchObject({ code: 'no_data_source' });
  });

  it('are asked with the secrets that were sealed', async () => {
    const properties = {
      flavour: 'mimir' as const,
      username: 'u',
      password: 'p',
      headers: { 'X-Scope-OrgID': 't' },
      concurrency: 3,
    };
    await create('a', { properties });
    const { client, ...rest } = found(await resolve(open(), 'a'));
    expect(rest).toMatchObject({ name: 'a', flavour: 'mimir', concurrency: 3 });
    expect((await ask(client)).series).toHaveLength(1);
    expect(server.asked[0]!.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('u:p').toString('base64')}`,
      'x-scope-orgid': 't',
    });
  });

  it('keep their client while they stay as they are', async () => {
    await create('a');
    const made = await create('b', { properties: { bearer_token: 'one' } });
    const sources = open();
    const [a, b] = [found(await resolve(sources, 'a')), found(await resolve(sources, 'b'))];
    const next = { name: 'b', url: server.url, properties: { bearer_token: 'two' } };
    await write((under) => updateDataSource(under, made.id, next));
    expect(found(await resolve(sources, 'a')).client).toBe(a.client);
    const changed = found(await resolve(sources, 'b'));
    expect(changed.client).not.toBe(b.client);
    await Promise.all([ask(changed.client), ask(b.client)]);
    expect(server.asked.map((asked) => asked.headers.authorization).sort()).toEqual(['Bearer one', 'Bearer two']);
  });

  it('close the clients of replaced and deleted ones after a while, and all in the end', async () => {
    const made = await create('a');
    await create('b');
    const sources = open({ retireAfter: 10 });
    const [a, b] = [found(await resolve(sources, 'a')), found(await resolve(sources, 'b'))];
    await write((under) => deleteDataSource(under, made.id));
    expect(await resolve(sources, 'a')).toMatchObject({ code: 'unknown_data_source' });
    await expect
      .poll(() =>
        ask(a.client).then(
          () => 'open',
          (error) => error.code,
        ),
      )
      .toBe('cancelled');
    expect((await ask(b.client)).series).toHaveLength(1);
    await sources.close();
    await expect(ask(b.client)).rejects.toMatchObject({ code: 'cancelled' });
    await expect(sources.load(organizationId)).rejects.toThrow('closed');
  });

  it('are the service itself where it has an engine', async () => {
    await create('edge', { url: '', properties: { flavour: 'logs' } });
    const made: string[] = [];
    const own = ownSource();
    const sources = open({
      embedded: (organization) => {
        made.push(organization);
        return own;
      },
    });
    expect(found(await resolve(sources))).toMatchObject({ name: 'embedded', flavour: 'embedded', client: own });
    await resolve(sources);
    expect(made).toEqual([organizationId]);
    expect(await resolve(sources, 'edge')).toEqual({
      code: 'unusable_data_source',
      problem: 'The data source "edge" cannot be used: This service keeps no logs of its own.',
    });
    await sources.close();
    expect(own.isClosed).toBe(true);
  });

  it('that cannot be opened do not keep the others away', async () => {
    const made = await create('a');
    await create('b');
    const foreign = createVault(new Uint8Array(32).fill(2)).seal('{}');
    await store.db.updateTable('data_sources').set({ secrets: foreign }).where('id', '=', made.id).execute();
    const sources = open();
    expect(await resolve(sources, 'a')).toMatchObject({ code: 'unusable_data_source' });
    expect(found(await resolve(sources, 'b')).name).toBe('b');
  });
});
