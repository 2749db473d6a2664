/** Every route refuses what it must: taken from the description of the API itself, so that no route is forgotten. */
import { ERROR_CODES, errorBody, type Scope } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entityBody, kpiBody, ruleBody, type Service, startService } from '../../test/service.ts';

interface Operation {
  readonly summary: string;
  readonly requestBody?: unknown;
  readonly responses: Record<string, { description: string }>;
}

/** Which scopes may call what; everything else is refused. */
function allowed(method: string, path: string): readonly Scope[] {
  const onlyReads = /\/(entities\/list|migrate\/alertmanager|logs\/\w+)$/.test(path);
  if (method === 'GET' || onlyReads) return ['read', 'write'];
  if (method === 'DELETE') return path.endsWith('/attach') ? ['write', 'delete'] : ['delete'];
  return ['write'];
}

const BODY_LIMIT = 4096;
let service: Service;
let strangers: Record<Scope, string>;
let operations: { method: string; path: string; operation: Operation }[];
/** Real ids of the organisation `default`, by the name of the path's parameter. */
let ids: Record<string, string>;

beforeAll(async () => {
  service = await startService({ settings: { body_limit: BODY_LIMIT } });
  strangers = await service.addOrganization('strangers');
  const { paths } = (await service.fetch('GET', '/api/v4/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const entity = (await service.call('write', 'POST', '/entities', entityBody())).body.id;
  const kpi = (await service.call('write', 'POST', `/entities/${entity}/kpis`, kpiBody())).body.id;
  const rule = (await service.call('write', 'POST', `/entities/${entity}/alert-rules`, ruleBody())).body.id;
  const channel = { name: 'c', type: 'slack', destination: 'https://x' };
  const id = (await service.call('write', 'POST', '/notification_settings', channel)).body.id;
  ids = { org: 'default', workspace: 'default', entity, kpi, rule, id: String(id) };
});
afterAll(() => service.stop());

const fill = (path: string, values: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'missing');
const inOrganization = () => operations.filter(({ path }) => path.includes('{org}'));
/** A token with which the request goes as far as it can. */
const tokenFor = (tokens: Record<Scope, string>, method: string, path: string) => tokens[allowed(method, path).at(-1)!];

async function expectRefusal(
  request: Promise<{ status: number; body: unknown; headers: Headers }>,
  code: keyof typeof ERROR_CODES,
): Promise<void> {
  const answer = await request;
  expect(errorBody.parse(answer.body)).toMatchObject({ code });
  expect(answer.status).toBe(ERROR_CODES[code]);
  expect(answer.headers.get('content-type')).toContain('application/json');
}

describe('every route below an organisation', () => {
  it('is in the description', () => {
    expect(inOrganization().length).toBeGreaterThanOrEqual(31);
  });

  it('refuses a request without token, before it looks at anything else', async () => {
    for (const { method, path } of inOrganization()) {
      const raw = method === 'GET' ? undefined : 'x'.repeat(BODY_LIMIT * 2);
      const answer = service.fetch(method, fill(path, ids), raw === undefined ? {} : { raw });
      await expectRefusal(answer, 'no_credentials');
    }
  });

  it('refuses a token of too low a scope, and takes the others', async () => {
    for (const { method, path } of inOrganization()) {
      for (const scope of ['read', 'write', 'delete'] as const) {
        const may = allowed(method, path).includes(scope);
        // Ids of nothing: what is allowed goes on to 404 or 400 and changes nothing.
        const where = fill(path, {
          org: 'default',
          workspace: 'default',
          entity: 'none',
          kpi: 'none',
          rule: 'none',
          id: '999',
        });
        const answer = await service.fetch(method, where, { token: service.tokens[scope] });
        expect(answer.status === 403, `${method} ${path} with ${scope}: ${answer.status}`).toBe(!may);
        if (!may) expect(answer.body.code).toBe('scope_too_low');
      }
    }
  });

  it('does not know the organisation of another token', async () => {
    for (const { method, path } of inOrganization()) {
      await expectRefusal(
        service.fetch(method, fill(path, ids), { token: tokenFor(strangers, method, path) }),
        'unknown_organization',
      );
      const nowhere = fill(path, { ...ids, org: 'nowhere', workspace: 'nowhere' });
      await expectRefusal(
        service.fetch(method, nowhere, { token: tokenFor(service.tokens, method, path) }),
        'unknown_organization',
      );
    }
  });

  it('does not find the objects of another organisation', async () => {
    const bodies: Record<string, unknown> = {
      '/entities/{entity}': entityBody(),
      '/entities/{entity}/metadata': {},
      '/entities/{entity}/alert-rules/snooze': { until: 0 },
      '/entities/{entity}/kpis': kpiBody(),
      '/entities/{entity}/kpis/{kpi}': kpiBody(),
      '/entities/{entity}/alert-rules': ruleBody(),
      '/entities/{entity}/alert-rules/{rule}': ruleBody(),
      '/notification_settings/{id}': { name: 'x', type: 'slack', destination: 'https://x' },
      '/notification_settings/{id}/attach': { entity_id: ids['entity'], severity: 'breach' },
      '/notification_settings/{id}/test': {},
      '/notifications/{id}/resend': {},
      '/datasources/{id}': { name: 'x', url: 'https://x' },
    };
    const own = (await service.call('read', 'GET', '/datasources')).body[0].id;
    const withObject = inOrganization().filter(({ path }) => /\{(entity|id)\}/.test(path));
    expect(withObject.length).toBeGreaterThanOrEqual(20);
    for (const { method, path } of withObject) {
      const id = path.includes('datasources') ? own : ids['id']!;
      const where = fill(path, { ...ids, org: 'strangers', workspace: 'strangers', id });
      const key = path.replace('/api/v4/organizations/{org}', '');
      const body = method === 'GET' || method === 'DELETE' ? undefined : bodies[key];
      if (method === 'POST' || method === 'PUT') expect(body, `a body for ${method} ${key}`).toBeDefined();
      const token = tokenFor(strangers, method, path);
      await expectRefusal(service.fetch(method, where, { token, body }), 'not_found');
    }
    const all = await service.fetch('GET', '/api/v4/organizations/strangers/alert-rules', { token: strangers.read });
    expect(all.body).toEqual([]);
  });

  it('refuses a body that is too large, not JSON, or of another type', async () => {
    const withBody = operations.filter(({ operation }) => operation.requestBody);
    expect(withBody.length).toBeGreaterThanOrEqual(14);
    for (const { method, path } of withBody) {
      const token = tokenFor(service.tokens, method, path);
      const where = fill(path, ids);
      await expectRefusal(
        service.fetch(method, where, { token, raw: JSON.stringify('x'.repeat(BODY_LIMIT)) }),
        'body_too_large',
      );
      if (path.endsWith('/migrate/alertmanager')) continue;
      await expectRefusal(service.fetch(method, where, { token, raw: '{"a": ' }), 'bad_request');
      const headers = { 'content-type': 'application/xml' };
      await expectRefusal(service.fetch(method, where, { token, raw: '<a/>', headers }), 'unsupported_media_type');
    }
  });

  it('answers a client that is still sending a body it refuses', async () => {
    const token = service.tokens.write;
    const where = '/api/v4/organizations/default/entities';
    const raw = JSON.stringify('x'.repeat(32 * 1024 * 1024));
    for (let round = 0; round < 5; round += 1) {
      await expectRefusal(service.fetch('POST', where, { token, raw }), 'body_too_large');
    }
  });

  it('cuts a client off that sends without end', async () => {
    const chunk = new Uint8Array(1024 * 1024);
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${service.tokens.write}` };
    const where = `${service.origin}/api/v4/organizations/default/entities`;
    let sent = 0;
    const counted = endless.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (bytes, controller) => {
          sent += bytes.length;
          controller.enqueue(bytes);
        },
      }),
    );
    await fetch(where, { method: 'POST', headers, body: counted, duplex: 'half' }).then(
      (answer) => answer.text(),
      () => undefined,
    );
    expect(sent).toBeGreaterThan(BODY_LIMIT);
    expect(sent).toBeLessThan(1024 * 1024 * 1024);
    expect((await service.call('read', 'GET', '/entities')).status).toBe(200);
  });

  it('names the body when it is no object, or not there', async () => {
    const withBody = operations.filter(
      ({ path, operation }) => operation.requestBody && !path.endsWith('/alertmanager'),
    );
    for (const { method, path } of withBody) {
      const token = tokenFor(service.tokens, method, path);
      for (const raw of ['[]', '"text"', 'null', '']) {
        const answer = await service.fetch(method, fill(path, ids), { token, raw });
        expect(answer.status, `${method} ${path} with ${raw}`).toBe(400);
        expect(answer.body.details[0].path).toBe('body');
      }
    }
  });

  it('documents the codes it answers with', () => {
    for (const { path, operation } of inOrganization()) {
      for (const status of ['200', '400', '401', '403', '404', '429', '500', '503']) {
        expect(operation.responses, `${path} ${operation.summary}`).toHaveProperty(status);
      }
    }
  });
});

describe('texts that no store can keep', () => {
  it.each(['"\\u0000"', '"a\\ud800b"', '{"b": ["\\udfff"]}'])('are refused: %s', async (text) => {
    const raw = `{"name": "x", "type": "t", "external_ref": "r", "indicators": ${text}, "description": ${text}}`;
    const answer = await service.fetch('POST', '/api/v4/organizations/default/entities', {
      token: service.tokens.write,
      raw,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(/^body\.indicators.*cannot be stored/);
  });

  it('but an escaped backslash and a whole pair are texts like others', async () => {
    const raw = '{"name": "\\\\u0000 \\ud83d\\ude00", "type": "t", "external_ref": "escapes"}';
    const answer = await service.fetch('POST', '/api/v4/organizations/default/entities', {
      token: service.tokens.write,
      raw,
    });
    expect(answer.body.name).toBe('\\u0000 😀');
  });

  it('are refused in the address', async () => {
    const answer = await service.call('read', 'GET', '/entities?external_ref=%00');
    expect(answer.status).toBe(400);
  });

  it('cannot change what an object is', async () => {
    const raw = '{"name": "x", "type": "t", "external_ref": "p", "__proto__": {"polluted": true}}';
    const answer = await service.fetch('POST', '/api/v4/organizations/default/entities', {
      token: service.tokens.write,
      raw,
    });
    expect(answer.status).toBe(400);
  });
});

describe('paths', () => {
  it.each([
    '/',
    '/api',
    '/api/v4',
    '/api/v4/organizations',
    '/api/v3/organizations/default/entities',
    '/api/v4/organizations/default/dashboards',
  ])('%s is not there', async (path) => {
    await expectRefusal(service.fetch('GET', path, { token: service.tokens.read }), 'not_found');
  });

  it.each([
    ['PATCH', '/api/v4/organizations/default/entities', 'GET, HEAD, POST'],
    ['GET', '/api/v4/oauth/access_token', 'POST'],
    ['POST', '/api/v4/organizations/default/alert-rules?x=1', 'GET, HEAD'],
    ['DELETE', '/healthz', 'GET, HEAD'],
    ['GET', '/api/organizations/default/workspace/default/notification_settings/1', 'DELETE'],
  ])('%s %s is not allowed', async (method, path, allow) => {
    const answer = await service.fetch(method, path, { token: service.tokens.read });
    expect(answer.status).toBe(405);
    expect(answer.body.code).toBe('method_not_allowed');
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('take repeated slashes, as a base address with a slash at its end makes them', async () => {
    const token = service.tokens.read;
    expect((await service.fetch('GET', '//api/v4/organizations/default//entities', { token })).status).toBe(200);
    const refused = await service.fetch('DELETE', '//api/v4//organizations/default/entities', { token });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  it('take a slash at their end', async () => {
    expect((await service.call('read', 'GET', '/entities/')).status).toBe(200);
    expect((await service.call('read', 'GET', '/')).status).toBe(200);
  });

  it('cannot be nonsense', async () => {
    expect((await service.fetch('GET', '/%zz')).body.code).toBe('bad_request');
    expect((await service.call('read', 'GET', `/entities/${'x'.repeat(5000)}`)).body.code).toBe('bad_request');
  });

  it('answer with headers that keep browsers from harm', async () => {
    for (const path of ['/healthz', '/nowhere', '/api/v4/openapi.json']) {
      const { headers } = await service.fetch('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
