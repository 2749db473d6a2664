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
