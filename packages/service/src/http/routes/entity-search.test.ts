import { entitySearchResult } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BACKENDS, cannotRun, entityBody, type Service, startService, stopDatabases } from '../../../test/service.ts';

afterAll(stopDatabases);

describe.each(BACKENDS.map((backend) => ({ backend })))('entity search on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;

    beforeAll(async () => {
      service = await startService({ backend });
      const [embedded] = (await service.call('read', 'GET', '/datasources')).body;
      const make = async (name: string, change: Record<string, unknown>, tags: string[]) => {
        const made = await service.call(
          'write',
          'POST',
          '/entities',
          entityBody({ name, external_ref: name, ...change }),
        );
        await service.call('write', 'PUT', `/entities/${made.body.id}/metadata`, { tags });
      };
      await make('Checkout API', { type: 'service', data_source: 'prod' }, ['payments', 'tier-1']);
      await make('Orders Kafka', { type: 'kafka-alerts', data_source_id: embedded.id }, ['streaming']);
      await make('CDN', { type: 'service', entity_class: 'grafana-alerts' }, []);
    });
    afterAll(() => service.stop());

    const filter = (filter_type: string, value: string, more: Record<string, unknown> = {}) => ({
      filter_type,
      key: filter_type,
      value,
      ...more,
    });
    const search = async (filters: unknown[]) => {
      const answer = await service.call('read', 'POST', '/entities/list', { filters, groups: [], orders: [] });
      expect(answer.status).toBe(200);
      const [group, ...others] = entitySearchResult.parse(answer.body);
      expect(others).toEqual([]);
      return group!.entities;
    };

    it('takes null for an empty list, as a Go client sends one', async () => {
      const body = { filters: null, groups: null, orders: null };
      const answer = await service.call('read', 'POST', '/entities/list', body);
      expect(answer.body[0].entities).toHaveLength(3);
    });

    it.each([
      [[], ['Checkout API', 'Orders Kafka', 'CDN']],
      [[filter('entity_name', 'cHECK')], ['Checkout API']],
      [[filter('entity_name', 'checkout api', { operator: 'equal' })], []],
      [[filter('entity_name', 'CDN', { operator: 'equal' })], ['CDN']],
      [[filter('entity_type', 'service', { operator: 'equal' })], ['Checkout API', 'CDN']],
      [[filter('entity_class', 'alert-manager', { operator: 'equal' })], ['Checkout API', 'Orders Kafka']],
      [[filter('data_source_name', 'embedded')], ['Orders Kafka']],
      [[filter('data_source_name', 'prod')], ['Checkout API']],
      [[filter('tags', 'tier-1', { operator: 'equal' })], ['Checkout API']],
      [[filter('tags', 'tier', { operator: 'equal' })], []],
      [[filter('entity_type', 'service'), filter('tags', 'pay', { conjunction: 'and' })], ['Checkout API']],
      [
        [filter('tags', 'pay'), filter('tags', 'stream', { conjunction: 'or' })],
        ['Checkout API', 'Orders Kafka'],
      ],
      [
        [filter('tags', 'pay'), filter('tags', 'stream', { conjunction: 'OR' }), filter('entity_type', 'kafka')],
        ['Orders Kafka'],
      ],
    ])('%j finds %j', async (filters, names) => {
      expect((await search(filters)).map((entity) => entity.name)).toEqual(names);
    });

    it('gives the few fields that clients read', async () => {
      expect(await search([filter('entity_name', 'Orders')])).toEqual([
        {
          id: expect.any(String),
          name: 'Orders Kafka',
          type: 'kafka-alerts',
          data_source_name: 'embedded',
          metadata: { tags: ['streaming'] },
        },
      ]);
    });

    it('names a filter that it does not know', async () => {
      const refused = await service.call('read', 'POST', '/entities/list', { filters: [filter('colour', 'red')] });
      expect(refused.status).toBe(400);
      expect(refused.body.details[0].path).toBe('body.filters.0.filter_type');
    });

    it('takes an empty body as a search for everything', async () => {
      expect((await service.call('write', 'POST', '/entities/list', {})).body[0].entities).toHaveLength(3);
    });
  });
});

describe('the conversion of Prometheus rules', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const rules = 'groups:\n- name: g\n  rules:\n  - alert: Down\n    expr: up == 0\n    for: 5m\n';
  const convert = (raw: string, type?: string) =>
    service.fetch('POST', '/api/v4/organizations/default/entities/migrate/alertmanager', {
      token: service.tokens.read,
      raw,
      headers: type === undefined ? {} : { 'content-type': type },
    });

  it.each(['application/json', 'application/yaml', 'text/plain', 'application/x-yaml'])(
    'takes YAML that says it is %s',
    async (type) => {
      const answer = await convert(rules, type);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain('application/yaml');
      expect(parse(answer.text).entities[0]).toMatchObject({
        name: 'g',
        external_ref: 'g-alert-manager-alert-manager',
        alert_rules: [{ name: 'Down', greater_than: 0, bad_minutes: 5, total_minutes: 5 }],
      });
    },
  );

  it('says where the YAML is wrong', async () => {
    const broken = await convert('groups:\n  - name: "x\n');
    expect(broken.status).toBe(400);
    expect(broken.body.error).toMatch(/body: line \d+, column \d+/);
    const wrong = await convert('groups:\n  - rules: []\n');
    expect(wrong.body.details[0].path).toBe('body.groups.0.name');
    expect((await convert('[]')).status).toBe(400);
    expect((await convert('')).status).toBe(400);
  });
});
