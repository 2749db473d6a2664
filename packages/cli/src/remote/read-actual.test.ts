import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, type Client, createClient } from '@obsiac/api';
import { afterEach, describe, expect, it } from 'vitest';
import { type Http, openHttp } from './http.ts';
import { readActual } from './read-actual.ts';

const servers: Server[] = [];
const https: Http[] = [];
afterEach(async () => {
  await Promise.all(https.splice(0).map((http) => http.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Answers = Record<string, unknown>;
const UNKNOWN = Symbol('404');

/** A service that answers each path below the organisation with a value, or what a function makes of the request. */
async function serving(
  answers: Answers,
  etag?: () => string,
): Promise<{ client: Client; paths: string[]; most: () => number }> {
  const paths: string[] = [];
  let now = 0;
  let most = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now -= 1;
    const path = request.url!.replace('/api/v4/organizations/acme', '').replace('/api/v4', '');
    if (path === '/oauth/access_token') {
      return void response.end(JSON.stringify({ access_token: 'a', expires_at: 2e9, issued_at: 1e9 }));
    }
    paths.push(path);
    const value = path in answers ? answers[path] : UNKNOWN;
    if (value === UNKNOWN) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    if (etag) response.setHeader('etag', `"${etag()}"`);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
  };
  const server = createServer((request, response) => void answer(request, response));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`;
  const http = openHttp();
  https.push(http);
  const client = createClient({
    fetch: http.fetch,
    credential: () => ({ refresh_token: 'r', api_base_url: base, org: 'acme' }),
    maxAttempts: 1,
  });
  return { client, paths, most: () => most };
}

const entity = {
  id: 'e1',
  name: 'Checkout',
  type: 'service',
  external_ref: 'checkout',
  metadata: { team: 'payments' },
};
const kpi = { id: 'k1', entity_id: 'e1', name: 'toString', definition: { query: 'up' } };
const rule = {
  id: 'r1',
  entity_id: 'e1',
  rule_name: 'Up',
  primary_indicator: 'toString',
  expression: 'toString',
  condition: 'expr < 1.000000',
  alert_condition: 'count_true(result) >= 2',
  eval_window: 5,
  expression_args: {},
};
const master = { id: 1, name: 'ops', type: 'slack', global: true, service_fqid: '' };
const attached = {
  id: 9,
  name: 'ops',
  type: 'slack',
  global: false,
  service_fqid: 'e1',
  severity: 'breach',
  parent_id: 1,
  mention: ['@a'],
};
const ours: Answers = {
  '/entities': { entities: [entity] },
  '/kpis': [kpi, { ...kpi, id: 'k2', entity_id: 'gone' }],
  '/alert-rules': [rule],
  '/notification_settings?exact=true': [master, attached],
  '/datasources': [{ id: 'd1', name: 'main', is_default: true, url: '' }],
};

describe('reading our service', () => {
  it('takes five lists and puts them together', async () => {
    const { client, paths } = await serving(ours, () => '7');
    const { actual, revision, consistent } = await readActual(client);
    expect(paths.toSorted()).toEqual(Object.keys(ours).toSorted());
    expect({ revision, consistent }).toEqual({ revision: 7, consistent: true });
    expect(actual.channels).toEqual([{ id: '1', name: 'ops', type: 'slack' }]);
    expect(actual.data_sources).toEqual([{ id: 'd1', name: 'main', is_default: true }]);
    const [held] = actual.entities;
    expect(held).toMatchObject({
      id: 'e1',
      entity: {
        external_ref: 'checkout',
        team: 'payments',
        indicators: [{ name: 'toString', query: 'up' }],
        alert_rules: [{ name: 'Up', threshold: { operator: 'less_than', value: 1 }, bad_minutes: 2, total_minutes: 5 }],
        notification_channels: [{ name: 'ops', type: 'slack', severity: 'breach', mention: ['@a'] }],
      },
    });
    expect({ ...held!.indicatorIds }).toEqual({ toString: 'k1' });
    expect({ ...held!.ruleIds }).toEqual({ Up: 'r1' });
    expect({ ...held!.bindingIds }).toEqual({ 'ops/breach': '9' });
  });

  it('reads again when somebody wrote in between', async () => {
    let reads = 0;
    const { client, paths } = await serving(ours, () => (++reads < 4 ? '7' : '8'));
    expect(await readActual(client)).toMatchObject({ revision: 8, consistent: true });
    expect(paths).toHaveLength(10);
  });

  it('gives up on that after a few times, and says so', async () => {
    let reads = 0;
    const { client, paths } = await serving(ours, () => String(++reads));
    expect(await readActual(client)).toMatchObject({ consistent: false });
    expect(paths).toHaveLength(20);
  });

  it('can be cancelled', async () => {
    const { client } = await serving(ours);
    await expect(readActual(client, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('reading a service without lists of its own kind', () => {
  const entities = Array.from({ length: 40 }, (_, index) => ({
    id: `e${index}`,
    name: `n${index}`,
    external_ref: `ref-${index}`,
  }));
  const hosted: Answers = {
    ...ours,
    '/entities': { entities },
    '/alert-rules': null,
    '/notification_settings?exact=true': [
      { ...master, global: null },
      { ...attached, parent_id: undefined },
    ],
    ...Object.fromEntries(
      entities.flatMap((each) => [
        [`/entities/${each.id}`, { ...each, metadata: { team: `team of ${each.id}` } }],
        [`/entities/${each.id}/kpis`, [{ ...kpi, id: `k-${each.id}`, entity_id: undefined }]],
      ]),
    ),
  };
  delete hosted['/kpis'];

  it('asks each entity, a bounded number at a time', async () => {
    const { client, paths, most } = await serving(hosted);
    const { actual, revision } = await readActual(client, { concurrency: 4 });
    expect(revision).toBeNull();
    expect(paths).toHaveLength(5 + 80);
    expect(most()).toBeLessThanOrEqual(6);
    expect(actual.entities.map(({ entity: each }) => each.team)).toEqual(entities.map(({ id }) => `team of ${id}`));
    expect({ ...actual.entities[3]!.indicatorIds }).toEqual({ toString: 'k-e3' });
    expect({ ...actual.entities[1]!.bindingIds }).toEqual({ 'ops/breach': '9' });
  });
});

describe('what is not there', () => {
  it.each(['/entities', '/alert-rules', '/notification_settings?exact=true', '/datasources'])(
    'is an error for %s, never nothing',
    async (path) => {
      const { client } = await serving({ ...ours, [path]: UNKNOWN });
      await expect(readActual(client)).rejects.toMatchObject({ code: 'unknown_organization' });
    },
  );

  it.each([{}, '', [], { rules: [] }])('is an error when the list of entities is %j', async (value) => {
    const { client } = await serving({ ...ours, '/entities': value });
    await expect(readActual(client)).rejects.toMatchObject({ code: 'bad_answer' });
  });
});

describe('the connection', () => {
  it('gives up on a service that does not answer in time', async () => {
    const silent = createServer(() => undefined);
    servers.push(silent);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/api/v4`;
    const http = openHttp({ answerTimeoutMs: 50 });
    https.push(http);
    const credential = () => ({ refresh_token: 'r', api_base_url: base, org: 'acme' });
    const client = createClient({ fetch: http.fetch, credential, maxAttempts: 1 });
    const error = await client.listEntities().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'timeout' });
  });

  it('does not follow a redirect, which would take the token elsewhere', async () => {
    let followed = 0;
    const server = createServer((request, response) => {
      if (request.url === '/elsewhere') followed += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`;
    const http = openHttp();
    https.push(http);
    const client = createClient({
      fetch: http.fetch,
      credential: () => ({ refresh_token: 'r', api_base_url: base, org: 'acme' }),
      maxAttempts: 1,
    });
    await expect(client.listEntities()).rejects.toMatchObject({ code: 'bad_answer' });
    expect(followed).toBe(0);
  });
});
