import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  BACKENDS,
  cannotRun,
  entityBody,
  kpiBody,
  postgresServer,
  ruleBody,
  type Service,
  startService,
  stopDatabases,
} from '../../test/service.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; schema: object }[];
  readonly requestBody?: { readonly required: boolean };
  readonly responses: Record<string, { description: string; content: object }>;
}

let service: Service;
afterEach(() => service.stop());
afterAll(stopDatabases);

const revision = async () => (await service.call('read', 'GET', '')).body.revision as number;

describe.each(BACKENDS.map((backend) => ({ backend })))('the revision on $backend', ({ backend }) => {
  it.skipIf(cannotRun(backend))('moves by one with each write, and every answer carries it', async () => {
    service = await startService({ backend });
    const organization = await service.call('read', 'GET', '');
    expect(organization.body).toEqual({
      id: expect.any(String),
      slug: 'default',
      name: 'default',
      revision: 1,
      created_at: expect.any(Number),
    });
    expect(organization.headers.get('etag')).toBe('"1"');
    const made = await service.call('write', 'POST', '/entities', entityBody());
    expect(made.headers.get('etag')).toBe('"2"');
    expect((await service.call('read', 'GET', '/entities')).headers.get('etag')).toBe('"2"');
    const refused = await service.call('write', 'POST', '/entities', entityBody());
    expect([refused.status, refused.headers.get('etag')]).toEqual([409, '"2"']);
    expect(await revision()).toBe(2);
    expect((await service.call('read', 'GET', '/entities/nothing')).headers.get('etag')).toBe('"2"');
  });

  it.skipIf(cannotRun(backend))('refuses a write that was meant for another one', async () => {
    service = await startService({ backend });
    const made = await service.call('write', 'POST', '/entities', entityBody(), { 'if-match': '"1"' });
    expect(made.status).toBe(200);
    const path = `/entities/${made.body.id}`;
    const stale = await service.call('write', 'PUT', path, entityBody({ name: 'Stale' }), { 'if-match': '"1"' });
    expect([stale.status, stale.body.code]).toEqual([412, 'revision_moved']);
    expect(stale.body.error).toContain('revision 2');
    expect((await service.call('read', 'GET', path)).body.name).toBe('Checkout');
    expect(await revision()).toBe(2);
    for (const [header, status] of [
      ['W/"2"', 200],
      ['"7", "3"', 200],
      ['*', 200],
      ['4', 412],
      ['5', 200],
      ['"nonsense"', 412],
    ] as const) {
      const answer = await service.call('write', 'PUT', path, entityBody(), { 'if-match': header });
      expect(answer.status, header).toBe(status);
    }
    expect((await service.call('delete', 'DELETE', path, undefined, { 'if-match': '"1"' })).status).toBe(412);
    expect((await service.call('delete', 'DELETE', path)).status).toBe(200);
  });

  it.skipIf(cannotRun(backend))(
    'is exact when many write at once, and only one of those that met it wins',
    async () => {
      service = await startService({ backend });
      const entity = (await service.call('write', 'POST', '/entities', entityBody())).body.id;
      await service.call('write', 'POST', `/entities/${entity}/kpis`, kpiBody());
      const before = await revision();
      const names = Array.from({ length: 100 }, (_, index) => `rule ${index % 60}`);
      const answers = await Promise.all(
        names.map((rule_name) =>
          service.call('write', 'POST', `/entities/${entity}/alert-rules`, ruleBody({ rule_name })),
        ),
      );
      const statuses = answers.map((answer) => answer.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(60);
      expect(statuses.filter((status) => status === 409)).toHaveLength(40);
      expect(await revision()).toBe(before + 60);
      const won = answers
        .filter((answer) => answer.status === 200)
        .map((answer) => Number(answer.headers.get('etag')!.slice(1, -1)));
      expect(won.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => before + 1 + index));
      const match = `"${await revision()}"`;
      const racing = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          service.call('write', 'PUT', `/entities/${entity}`, entityBody({ name: `n${index}` }), { 'if-match': match }),
        ),
      );
      expect(racing.map((answer) => answer.status).toSorted()).toEqual([200, ...Array(9).fill(412)]);
    },
  );
});

describe('the audit trail', () => {
  it('tells each write with actor, revision, before and after, newest first and in pages', async () => {
    service = await startService({ now: () => 1_800_000_000_000 });
    const made = (await service.call('write', 'POST', '/entities', entityBody())).body;
    const put = (await service.call('write', 'PUT', `/entities/${made.id}`, entityBody({ name: 'New' }))).body;
    await service.call('write', 'POST', `/entities/${made.id}/alert-rules/snooze`, { until: 5 });
    await service.call('delete', 'DELETE', `/entities/${made.id}`);
    const { entries } = (await service.call('read', 'GET', `/audit_trail?object_id=${made.id}`)).body;
    expect(entries).toMatchObject([
      { action: 'delete', kind: 'entity', actor: 'first-start-delete', revision: 5, after: null },
      { action: 'snooze', before: { alert_snoozed_until: 0 }, after: { alert_snoozed_until: 5 }, revision: 4 },
      { action: 'update', before: made, after: put, revision: 3, object_name: 'New' },
      { action: 'create', before: null, after: made, revision: 2, at: 1_800_000_000, actor: 'first-start-write' },
    ]);
    const page = (await service.call('read', 'GET', `/audit_trail?limit=2&before_id=${entries[1].id}`)).body.entries;
    expect(page.map((entry: { id: number }) => entry.id)).toEqual([entries[2].id, entries[3].id]);
    expect((await service.call('read', 'GET', '/audit_trail?limit=0')).body.details[0].path).toBe('query.limit');
    expect((await service.call('read', 'GET', '/audit_trail?kind=x')).body.details[0].path).toBe('query.kind');
    const tokens = (await service.call('read', 'GET', '/audit_trail?kind=token')).body.entries;
    expect(tokens.map((entry: { action: string }) => entry.action)).toEqual(['create', 'create', 'create']);
  });
});

describe('the rate limit', () => {
  it('counts each token by itself, over all its requests', async () => {
    service = await startService({ settings: { rate_limit: 3 } });
    const statuses = [];
    for (const path of ['', '/entities', '/kpis', '/entities', '']) {
      statuses.push((await service.call('read', 'GET', path)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const limited = await service.call('read', 'GET', '');
    expect(limited.body).toMatchObject({ code: 'rate_limited', error: expect.stringContaining('3 requests') });
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(limited.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect((await service.call('write', 'GET', '')).status).toBe(200);
    expect((await service.fetch('GET', '/healthz')).status).toBe(200);
  });
});

describe('health, metrics and logs', () => {
  it('is healthy and ready', async () => {
    service = await startService();
    expect((await service.fetch('GET', '/healthz')).body).toEqual({ status: 'ok' });
    expect((await service.fetch('GET', '/readyz')).body).toEqual({
      status: 'ready',
      logs: { state: 'disabled' },
    });
  });

  it.skipIf(cannotRun('postgresql'))('says 503 while PostgreSQL is away, and goes on when it is back', async () => {
    service = await startService({ backend: 'postgresql' });
    await (await postgresServer()).pause();
    expect((await service.fetch('GET', '/healthz')).status).toBe(200);
    for (const answer of [
      await service.fetch('GET', '/readyz'),
      await service.call('read', 'GET', '/entities'),
      await service.call('write', 'POST', '/entities', entityBody()),
      await service.exchange(service.refreshTokens.read),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    await (await postgresServer()).resume();
    expect((await service.fetch('GET', '/readyz')).status).toBe(200);
    expect((await service.call('write', 'POST', '/entities', entityBody())).status).toBe(200);
  });

  it('counts requests by route and status, not by address', async () => {
    service = await startService();
    await service.call('read', 'GET', '/entities/some-id');
    await service.fetch('GET', '/nowhere/secret-path');
    const { text, headers } = await service.fetch('GET', '/metrics');
    expect(headers.get('content-type')).toContain('text/plain');
    expect(text).toContain(
      'obsiac_http_requests_total{method="GET",route="/api/v4/organizations/:org/entities/:entity",status="404"} 1',
    );
    expect(text).toContain('obsiac_http_requests_total{method="GET",route="unknown",status="404"} 1');
    expect(text).toMatch(
      /obsiac_http_request_duration_seconds_bucket\{le="0\.001",method="POST",route="\/api\/v4\/oauth\/access_token"\} \d/,
    );
    expect(text).toMatch(/obsiac_build_info\{version="\d+\.\d+\.\d+",node="24\.[\d.]+"\} 1/);
    expect(text).toContain('process_resident_memory_bytes');
    expect(text).not.toContain('secret-path');
    expect(text).not.toContain('some-id');
  });

  it('logs each request and nothing secret', async () => {
    service = await startService();
    const destination = 'https://hooks.example/very-secret-destination';
    await service.call('write', 'POST', '/notification_settings', { name: 'c', type: 'slack', destination });
    await service.call('read', 'GET', '/entities?external_ref=very-secret-query');
    await service.fetch('GET', '/api/v4/organizations/default', {
      headers: { 'x-last9-api-token': 'very-secret-header' },
    });
    await service.fetch('POST', '/api/v4/oauth/access_token', { raw: '{"refresh_token": "very-secret-body' });
    const text = service.logs.join('');
    for (const secret of ['very-secret', ...Object.values(service.tokens), ...Object.values(service.refreshTokens)]) {
      expect(text).not.toContain(secret);
    }
    const lines = service.logs.map((line) => JSON.parse(line));
    const line = lines.find((each) => each.route === '/api/v4/organizations/:org/notification_settings');
    expect(line).toMatchObject({
      level: 'info',
      msg: 'request',
      method: 'POST',
      status: 200,
      org: 'default',
      token: 'first-start-write',
      reqId: expect.any(String),
      ms: expect.any(Number),
    });
  });

  it('answers a failure of its own without details, and logs them', async () => {
    service = await startService();
    const channel = { name: 'c', type: 'slack', destination: 'https://hooks.example/x' };
    await service.call('write', 'POST', '/notification_settings', channel);
    const store = await service.openStore();
    await store.db.updateTable('notification_settings').set({ destination: 'broken' }).execute();
    await store.db.destroy();
    const answer = await service.call('read', 'GET', '/notification_settings');
    expect(answer.status).toBe(500);
    expect(answer.body).toEqual({ error: expect.stringContaining('request id'), code: 'internal' });
    const logged = service.logs.map((line) => JSON.parse(line)).find((line) => line.msg === 'request failed');
    expect(logged).toMatchObject({ level: 'error', reqId: answer.headers.get('x-request-id') });
    expect(logged.err.message).toContain('secret key');
  });
});

describe('the description of the API', () => {
  it('is OpenAPI 3.1 whose references and parameters all hold', async () => {
    service = await startService();
    const document = (await service.fetch('GET', '/api/v4/openapi.json')).body;
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toMatch(/^\d+\.\d+\.\d+/);
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(
      (match) => match[1]!,
    );
    const schemas = Object.keys(document.components.schemas);
    expect(new Set(references)).toEqual(new Set(schemas));
    expect(schemas).toEqual(
      expect.arrayContaining(['AlertRule', 'AlertRuleDocument', 'Entity', 'Error', 'Kpi', 'ChannelRow']),
    );
    const operationIds: string[] = [];
    for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        operationIds.push(operation.operationId);
        const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
        const parameters = operation.parameters ?? [];
        const inPath = parameters.filter((parameter) => parameter.in === 'path');
        expect(inPath.map((parameter) => parameter.name).toSorted(), `${method} ${path}`).toEqual(named.toSorted());
        for (const { schema } of parameters) {
          expect('type' in schema || 'anyOf' in schema, JSON.stringify(schema)).toBe(true);
        }
        expect(operation).toMatchObject({ summary: expect.any(String), tags: [expect.any(String)] });
        expect(operation.requestBody?.required ?? true).toBe(true);
        for (const response of Object.values(operation.responses)) {
          expect(Object.values(response.content)[0]).toHaveProperty('schema');
        }
      }
    }
    expect(new Set(operationIds).size).toBe(operationIds.length);
    expect(operationIds).toContain('createAlertRule');
    expect(document.paths['/api/v4/oauth/access_token'].post.security).toEqual([]);
  });

  it('says which members of a document are required and what they default to', async () => {
    service = await startService();
    const { components } = (await service.fetch('GET', '/api/v4/openapi.json')).body;
    expect(components.schemas.AlertRuleDocument.required.toSorted()).toEqual([
      'alert_condition',
      'condition',
      'eval_window',
      'primary_indicator',
      'rule_name',
    ]);
    expect(components.schemas.AlertRuleDocument.properties.severity).toMatchObject({
      enum: ['breach', 'threat'],
      default: 'breach',
    });
    expect(components.schemas.AlertRuleDocument.properties.group_timeseries_notifications.default).toBe(true);
  });
});
