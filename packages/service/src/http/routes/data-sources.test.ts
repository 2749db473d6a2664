import { auditList, dataSource, dataSourceList } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BACKENDS,
  cannotRun,
  entityBody,
  kpiBody,
  type Service,
  startService,
  stopDatabases,
} from '../../../test/service.ts';
import { AUTHORITY, CLIENT, SERVER } from '../../data-source/testdata/certificates.ts';
import { openProperties } from '../../metadata/data-sources.ts';

afterAll(stopDatabases);

describe.each(BACKENDS.map((backend) => ({ backend })))('data sources on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;
    let count = 0;

    beforeAll(async () => {
      service = await startService({ backend });
    });
    afterAll(() => service.stop());

    const list = async () => dataSourceList.parse((await service.call('read', 'GET', '/datasources')).body);
    const create = (change: Record<string, unknown> = {}) => {
      count += 1;
      const body = { name: `source ${count}`, url: 'https://prometheus.example:9090/', ...change };
      return service.call('write', 'POST', '/datasources', body);
    };

    it('begin with one, the default, that is the service itself', async () => {
      expect((await list()).find((source) => source.name === 'embedded')).toMatchObject({
        url: '',
        is_default: true,
        properties: { flavour: 'embedded' },
      });
    });

    it('creates, lists masked, replaces and deletes', async () => {
      const properties = {
        username: 'grafana',
        password: 'a-long-password-1234',
        bearer_token: 'tok',
        headers: { 'X-Scope-OrgID': 'tenant' },
        flavour: 'mimir',
        timeout: 5,
      };
      const made = await create({ properties });
      expect(made.status).toBe(200);
      expect(dataSource.parse(made.body)).toEqual(made.body);
      const shown = {
        username: 'grafana',
        password: '********1234',
        bearer_token: '********',
        headers: { 'X-Scope-OrgID': '********' },
        flavour: 'mimir',
        timeout: 5,
      };
      expect(made.body).toMatchObject({ is_default: false, properties: shown });
      expect((await list()).at(-1)).toEqual(made.body);
      const put = await service.call('write', 'PUT', `/datasources/${made.body.id}`, {
        ...made.body,
        url: 'https://other.example',
      });
      expect(put.body).toMatchObject({ id: made.body.id, url: 'https://other.example', properties: shown });
      const store = await service.openStore();
      try {
        const row = await store.db
          .selectFrom('data_sources')
          .selectAll()
          .where('id', '=', made.body.id)
          .executeTakeFirstOrThrow();
        expect(JSON.parse(store.vault.open(row.secrets))).toEqual({
          password: properties.password,
          bearer_token: 'tok',
          headers: properties.headers,
        });
        expect(JSON.stringify(row)).not.toContain(properties.password);
      } finally {
        await store.db.destroy();
      }
      const audit = auditList.parse((await service.call('read', 'GET', `/audit_trail?object_id=${made.body.id}`)).body);
      expect(audit.entries.map((entry) => entry.action)).toEqual(['update', 'create']);
      expect(JSON.stringify(audit)).not.toContain(properties.password);
      expect((await service.call('delete', 'DELETE', `/datasources/${made.body.id}`)).body).toEqual({
        message: 'success',
      });
      expect((await service.call('delete', 'DELETE', `/datasources/${made.body.id}`)).status).toBe(404);
      expect((await service.call('write', 'PUT', `/datasources/${made.body.id}`, made.body)).status).toBe(404);
    });

    it('seals the key of a client certificate and shows the rest of the TLS settings', async () => {
      const tls = {
        ca_cert: AUTHORITY,
        client_cert: CLIENT.cert,
        client_key: CLIENT.key,
        server_name: 'metrics.internal',
      };
      const settings = { timeout_seconds: 5, concurrency: 32, evaluation_delay_seconds: 0 };
      const made = await create({ properties: { flavour: 'prometheus', tls, ...settings } });
      expect(made.status).toBe(200);
      const { client_key, ...shown } = made.body.properties.tls;
      expect(made.body.properties).toMatchObject(settings);
      expect(shown).toEqual({ ca_cert: tls.ca_cert, client_cert: tls.client_cert, server_name: tls.server_name });
      expect(client_key).toMatch(/^\*{8}/);
      expect(CLIENT.key).not.toContain(client_key);
      const put = await service.call('write', 'PUT', `/datasources/${made.body.id}`, made.body);
      expect(put.body.properties).toEqual(made.body.properties);
      const store = await service.openStore();
      try {
        const find = store.db.selectFrom('data_sources').selectAll().where('id', '=', made.body.id);
        const row = await find.executeTakeFirstOrThrow();
        expect(openProperties(row, store.vault)).toEqual({ flavour: 'prometheus', tls, ...settings });
        expect(row.properties).not.toContain('PRIVATE KEY');
      } finally {
        await store.db.destroy();
      }
    });

    it('has exactly one default', async () => {
      const first = (await create({ is_default: true })).body;
      expect((await list()).filter((source) => source.is_default).map((source) => source.id)).toEqual([first.id]);
      const put = (body: object) => service.call('write', 'PUT', `/datasources/${first.id}`, body);
      expect((await put({ name: first.name, url: first.url, is_default: false })).body.details[0].path).toBe(
        'body.is_default',
      );
      expect((await put({ name: first.name, url: first.url })).body.is_default).toBe(true);
      expect((await service.call('delete', 'DELETE', `/datasources/${first.id}`)).status).toBe(409);
      const embedded = (await list()).find((source) => source.name === 'embedded')!;
      await service.call('write', 'PUT', `/datasources/${embedded.id}`, { ...embedded, is_default: true });
      expect((await list()).filter((source) => source.is_default).map((source) => source.name)).toEqual(['embedded']);
      expect((await service.call('delete', 'DELETE', `/datasources/${first.id}`)).status).toBe(200);
    });

    it.each([
      ['body.name', { name: '' }],
      ['body.url', { url: 'prometheus:9090' }],
      ['body.url', { url: '' }],
      ['body.url', { url: 'ftp://x' }],
      ['body.url', { url: 'https://user:pass@example.com' }],
      ['body.url', { url: 'https://x', properties: { flavour: 'embedded' } }],
      ['body.properties.flavour', { properties: { flavour: 'graphite' } }],
      ['body.is_default', { is_default: 1 }],
      ['body.properties.timeout_seconds', { properties: { timeout_seconds: 0 } }],
      ['body.properties.concurrency', { properties: { concurrency: 33 } }],
      ['body.properties.concurrency', { properties: { concurrency: 1.5 } }],
      ['body.properties.evaluation_delay_seconds', { properties: { evaluation_delay_seconds: -1 } }],
      ['body.properties.headers.bad name', { properties: { headers: { 'bad name': 'x' } } }],
      ['body.properties.headers.X-A', { properties: { headers: { 'X-A': 'a\r\nX-B: b' } } }],
      ['body.properties.headers.Content-Length', { properties: { headers: { 'Content-Length': '1' } } }],
      ['body.properties.bearer_token', { properties: { bearer_token: 'two words' } }],
      ['body.properties.username', { properties: { username: 'a:b' } }],
      ['body.properties.tls.ca_cert', { properties: { tls: { ca_cert: 'not PEM' } } }],
      ['body.properties.tls.ca_cert', { properties: { tls: { ca_cert: CLIENT.key } } }],
      ['body.properties.tls.client_key', { properties: { tls: { client_cert: CLIENT.cert } } }],
      ['body.properties.tls.client_cert', { properties: { tls: { client_key: CLIENT.key } } }],
      ['body.properties.tls.client_key', { properties: { tls: { client_cert: CLIENT.cert, client_key: SERVER.key } } }],
      ['body.properties.tls.server_name', { properties: { tls: { server_name: '10.0.0.1' } } }],
    ])('names %s when it is wrong: %j', async (path, change) => {
      const refused = await create(change);
      expect(refused.status).toBe(400);
      expect(refused.body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    });

    it('is unique by name', async () => {
      const made = (await create()).body;
      expect((await create({ name: made.name })).body).toMatchObject({ code: 'duplicate_name' });
      const other = (await create()).body;
      const put = await service.call('write', 'PUT', `/datasources/${other.id}`, { ...other, name: made.name });
      expect(put.status).toBe(409);
    });

    it.each([
      ['an entity by name', (name: string) => ({ entity: { data_source: name } })],
      ['an entity by id', (_name: string, id: string) => ({ entity: { data_source_id: id } })],
      ['an indicator', (name: string) => ({ kpi: { definition: { query: 'up', data_source: name } } })],
    ])('stays while it is used by %s', async (_what, use) => {
      const made = (await create()).body;
      const { entity = {}, kpi } = use(made.name, made.id) as { entity?: object; kpi?: object };
      const user = await service.call(
        'write',
        'POST',
        '/entities',
        entityBody({ external_ref: `user-${count}`, ...entity }),
      );
      if (kpi) await service.call('write', 'POST', `/entities/${user.body.id}/kpis`, kpiBody({ ...kpi }));
      const refused = await service.call('delete', 'DELETE', `/datasources/${made.id}`);
      expect(refused.body).toMatchObject({ code: 'in_use' });
      await service.call('delete', 'DELETE', `/entities/${user.body.id}`);
      expect((await service.call('delete', 'DELETE', `/datasources/${made.id}`)).status).toBe(200);
    });

    it('keeps its name while entities name it', async () => {
      const made = (await create()).body;
      await service.call(
        'write',
        'POST',
        '/entities',
        entityBody({ external_ref: `named-${count}`, data_source: made.name }),
      );
      const put = (name: string) => service.call('write', 'PUT', `/datasources/${made.id}`, { ...made, name });
      expect((await put('renamed')).body).toMatchObject({ code: 'in_use' });
      expect((await put(made.name)).status).toBe(200);
    });
  });
});
