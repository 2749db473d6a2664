import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, type Client, type ClientOptions, createClient, type Fetch } from './client.ts';
import { SELF_SIGNED } from './testdata/self-signed.ts';

const running: Server[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) {
    (server as { closeAllConnections?: () => void }).closeAllConnections?.();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(server: Server): Promise<number> {
  running.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

type Handler = (request: Seen, response: ServerResponse, count: number) => void;

const json = (response: ServerResponse, status: number, body: unknown, headers = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
};

/** A service whose token exchange works; everything else is the test's. */
async function service(handler: Handler, exchange?: Handler): Promise<{ base: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  let exchanges = 0;
  const read = async (request: IncomingMessage): Promise<Seen> => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const token = request.headers['x-last9-api-token'] as string | undefined;
    return { method: request.method!, path: request.url!, token, ifMatch: request.headers['if-match'], body };
  };
  const server = createServer(async (request, response) => {
    const each = await read(request);
    seen.push(each);
    if (each.path !== '/api/v4/oauth/access_token') return handler(each, response, seen.length);
    exchanges += 1;
    if (exchange) return exchange(each, response, exchanges);
    const { refresh_token } = JSON.parse(each.body);
    json(response, 200, { access_token: `access-${refresh_token}-${exchanges}`, issued_at: 1000, expires_at: 4600 });
  });
  return { base: `http://127.0.0.1:${await listen(server)}/api/v4`, seen };
}

/** A client whose clock only moves when it sleeps. */
function client(
  base: string,
  options: Partial<ClientOptions> = {},
): { client: Client; slept: number[]; asked: string[]; clock: { ms: number } } {
  const slept: number[] = [];
  const asked: string[] = [];
  const clock = { ms: 1_000_000 };
  const made = createClient({
    fetch: fetch as unknown as Fetch,
    credential: (scope) => {
      asked.push(scope);
      return { refresh_token: `secret-${scope}`, api_base_url: base, org: 'acme' };
    },
    now: () => clock.ms,
    random: () => 0.5,
    sleep: async (ms) => {
      slept.push(ms);
      clock.ms += ms;
    },
    ...options,
  });
  return { client: made, slept, asked, clock };
}

async function failure(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  const shown = `${(error as Error).stack} ${JSON.stringify(error)} ${String((error as Error).cause)}`;
  expect(shown).not.toContain('secret-');
  expect(shown).not.toContain('access-secret');
  return error as ApiError;
}

describe('tokens', () => {
  it('exchanges a scope when it is first needed, once, and uses the least scope of each request', async () => {
    const { base, seen } = await service((request, response) =>
      json(response, 200, request.method === 'GET' ? { entities: [] } : { id: 'e1', name: 'n' }),
    );
    const { client: api, asked } = client(base);
    await Promise.all([api.listEntities(), api.listEntities(), api.listEntities()]);
    expect(asked).toEqual(['read']);
    expect(seen.filter((each) => each.path.endsWith('/oauth/access_token'))).toHaveLength(1);
    await api.updateEntity('e1', { name: 'n', type: 't' });
    await api.detachChannel('7');
    expect(asked).toEqual(['read', 'write']);
    await api.deleteEntity('e1');
    expect(asked).toEqual(['read', 'write', 'delete']);
    expect(seen.filter((each) => each.method === 'DELETE').map((each) => [each.path, each.token])).toEqual([
      ['/api/v4/organizations/acme/notification_settings/7/attach', 'Bearer access-secret-write-2'],
      ['/api/v4/organizations/acme/entities/e1', 'Bearer access-secret-delete-3'],
    ]);
  });

  it('renews five minutes before the token expires, by the length of its life and not by the clock here', async () => {
    const { base, seen } = await service((_, response) => json(response, 200, { entities: [] }));
    const { client: api, clock } = client(base);
    const exchanges = () => seen.filter((each) => each.path.endsWith('/oauth/access_token')).length;
    await api.listEntities();
    clock.ms += (3600 - 300) * 1000 - 1;
    await api.listEntities();
    expect(exchanges()).toBe(1);
    clock.ms += 1;
    await Promise.all([api.listEntities(), api.listEntities()]);
    expect(exchanges()).toBe(2);
  });

  it('exchanges again once when the service does not take a token any more', async () => {
    const { base, seen } = await service((request, response) =>
      request.token?.endsWith('-1')
        ? json(response, 401, { error: 'Authorization token is expired', code: 'token_expired' })
        : json(response, 200, { entities: [] }),
    );
    await client(base).client.listEntities();
    expect(seen).toHaveLength(4);
  });

  it('says which token is refused, and never quotes one that the service echoes', async () => {
    const { base } = await service((request, response) => json(response, 401, { error: `no: ${request.token}` }));
    const error = await failure(client(base).client.listEntities());
    expect(error).toMatchObject({ code: 'credentials_refused', status: 401, retryable: false });
    expect(error.message).toContain('[redacted]');
    expect(error.message).toContain('api_config.read');
  });

  it.each([400, 401, 403])('takes a refused exchange (%i) as a refused credential', async (status) => {
    const exchange: Handler = (request, response) =>
      json(response, status, { error: `invalid refresh token: ${JSON.parse(request.body).refresh_token}` });
    const { base } = await service((_, response) => json(response, 200, []), exchange);
    expect(await failure(client(base).client.deleteEntity('e'))).toMatchObject({ code: 'credentials_refused', status });
  });

  it('does not quote an exchange that is cut in the middle of the token', async () => {
    const { base } = await service(
      () => undefined,
      (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"access_token":"access-secr'),
    );
    expect(await failure(client(base).client.listEntities())).toMatchObject({ code: 'bad_answer' });
  });

  it('has no exchange at a wrong base address', async () => {
    const { base } = await service(
      () => undefined,
      (_, response) => json(response, 404, { error: 'not found' }),
    );
    const error = await failure(client(base).client.listEntities());
    expect(error.code).toBe('not_the_api');
    expect(error.message).toContain('/api/v4');
  });
});

describe('the way to the service', () => {
  const cases: [string, string, string][] = [
    ['a closed port', 'http://127.0.0.1:59999/api/v4', 'connection refused'],
    ['an unknown host', 'http://obsiac.invalid/api/v4', 'api_base_url'],
  ];
  it.each(cases)('is unreachable at %s, after bounded retries', async (_, base, says) => {
    const { client: api, slept } = client(base, { maxAttempts: 3 });
    const error = await failure(api.listEntities());
    expect(error).toMatchObject({ code: 'unreachable', status: 0, retryable: true, ambiguous: false });
    expect(error.message).toContain(says);
    expect(slept).toEqual([100, 200]);
  });

  it('is no address at all', async () => {
    const error = await failure(client('app.example.com').client.listEntities());
    expect(error.message).toContain('is not an address');
  });

  it('names what is wrong with a certificate and what to do', async () => {
    const port = await listen(createTlsServer(SELF_SIGNED, (_, response) => response.end('{}')));
    const { client: api, slept } = client(`https://localhost:${port}/api/v4`);
    const error = await failure(api.listEntities());
    expect(error).toMatchObject({ code: 'tls', retryable: false });
    expect(error.message).toMatch(/signed by itself.*NODE_EXTRA_CA_CERTS/);
    expect(slept).toEqual([]);
  });

  it('does not speak TLS where a plain service listens', async () => {
    const { base } = await service((_, response) => json(response, 200, {}));
    expect(await failure(client(base.replace('http:', 'https:')).client.listEntities())).toMatchObject({ code: 'tls' });
  });

  it('breaks before an answer, or within one', async () => {
    const { base } = await service((request, response) => {
      if (request.path.endsWith('/entities')) return void response.socket?.destroy();
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('[');
      setTimeout(() => response.socket?.destroy(), 10);
    });
    const { client: api } = client(base, { maxAttempts: 2 });
    expect(await failure(api.listEntities())).toMatchObject({ code: 'cut', ambiguous: true });
    expect(await failure(api.listAlertRules())).toMatchObject({ code: 'cut', ambiguous: true });
  });

  it('is something that does not speak HTTP', async () => {
    const port = await listen(
      createTcpServer((socket) => socket.on('data', () => socket.write('SSH-2.0-OpenSSH_9.2\r\n'))),
    );
    const error = await failure(client(`http://127.0.0.1:${port}/api/v4`).client.listEntities());
    expect(error).toMatchObject({ code: 'cut', retryable: false });
    expect(error.message).toContain('not HTTP');
  });

  it('is too slow', async () => {
    const slow: Fetch = () => Promise.reject(new DOMException('took long', 'TimeoutError'));
    const { client: api } = client('http://127.0.0.1:1/api/v4', { fetch: slow, maxAttempts: 1 });
    expect(await failure(api.listEntities())).toMatchObject({ code: 'timeout', retryable: true, ambiguous: false });
  });
});

describe('answers', () => {
  it.each([
    ['text/html', '<!doctype html><title>Sign in</title>'],
    ['', '  <html><body>hello'],
  ])('that are web pages (%j) are not the API', async (type, page) => {
    const { base } = await service((_, response) => response.writeHead(200, { 'content-type': type }).end(page));
    const error = await failure(client(base).client.listEntities());
    expect(error).toMatchObject({ code: 'not_the_api', retryable: false });
    expect(error.message).toContain('api_base_url');
  });

  it.each([
    ['', 'expected an object'],
    ['{}', 'expected an object with "entities"'],
    ['{"entities":{}}', 'entities: expected a list'],
    ['{"entities":[{"id":"e1"}]}', 'entities.0.name'],
    ['{"entities":[', 'not whole JSON'],
  ])('that are not what was asked for (%s) are not read as nothing', async (text, says) => {
    const { base } = await service((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    );
    const error = await failure(client(base).client.listEntities());
    expect(error.code).toBe('bad_answer');
    expect(error.message).toContain(says);
  });

  const refusals: [number, unknown, string, string][] = [
    [
      400,
      {
        error: 'the request is not valid',
        code: 'bad_request',
        details: [{ path: 'body.eval_window', message: 'too big' }],
      },
      'bad_request',
      'body.eval_window: too big',
    ],
    [400, { error: 'invalid access token' }, 'bad_request', 'invalid access token'],
    [403, { error: 'scope', code: 'scope_too_low' }, 'scope_too_low', 'api_config.read'],
    [404, { error: 'no', code: 'unknown_organization' }, 'unknown_organization', '"acme"'],
    [404, {}, 'unknown_organization', '"acme"'],
    [409, { error: { message: 'taken', code: 'duplicate_name' } }, 'conflict', 'taken'],
    [412, { error: 'moved', code: 'revision_moved' }, 'revision_moved', 'Run plan again'],
    [413, {}, 'bad_request', 'too large'],
    [418, 'short and stout', 'bad_request', '418'],
  ];
  it.each(refusals)('%i %j', async (status, body, code, says) => {
    const { base, seen } = await service((_, response) => json(response, status, body));
    const error = await failure(client(base).client.listEntities());
    expect(error).toMatchObject({ code, status, retryable: false });
    expect(error.message).toContain(says);
    expect(seen).toHaveLength(2);
  });

  it('carry the revision', async () => {
    const { base, seen } = await service((_, response) => json(response, 200, { entities: [] }, { etag: '"17"' }));
    const { client: api } = client(base);
    expect(await api.listEntities()).toEqual({ value: [], revision: 17 });
    await api.updateEntity('e', { name: 'n', type: 't' }, { ifMatch: 17 }).catch(() => undefined);
    expect(seen.at(-1)?.ifMatch).toBe('"17"');
  });

  it('of an unknown single object is not about the organization', async () => {
    const { base } = await service((_, response) =>
      json(response, 404, { error: 'no such entity', code: 'not_found' }),
    );
    expect(await failure(client(base).client.getEntity('e1'))).toMatchObject({ code: 'not_found', status: 404 });
  });
});

describe('retries', () => {
  it.each([502, 503, 504])('go on through %i, also as a web page, with growing jittered waits', async (status) => {
    const { base } = await service((_, response, count) =>
      count < 5
        ? response.writeHead(status, { 'content-type': 'text/html' }).end('<html>Maintenance Mode')
        : json(response, 200, { entities: [] }),
    );
    const { client: api, slept } = client(base);
    await api.listEntities();
    expect(slept).toEqual([100, 200, 400]);
  });

  it('end after the attempts given, with what the service said', async () => {
    const { base, seen } = await service((_, response) => json(response, 503, { error: 'disk is full' }));
    const error = await failure(client(base, { maxAttempts: 3 }).client.listEntities());
    expect(error).toMatchObject({ code: 'service_error', status: 503 });
    expect(error.message).toContain('disk is full');
    expect(seen).toHaveLength(1 + 3);
  });

  it('do not follow a 500', async () => {
    const { base, seen } = await service((_, response) => json(response, 500, { error: 'a fault' }));
    await failure(client(base).client.listEntities());
    expect(seen).toHaveLength(2);
  });

  it('honour Retry-After in seconds and as a date, and hold back the other requests as well', async () => {
    const answers = [{ 'retry-after': '7' }, { 'retry-after': new Date(1_000_000 + 7_100 + 20_900).toUTCString() }];
    const { base } = await service((_, response) => {
      const headers = answers.shift();
      if (headers) json(response, 429, { error: 'slow down' }, headers);
      else json(response, 200, { entities: [] });
    });
    const { client: api, slept } = client(base);
    await api.listEntities();
    expect(slept[0]).toBe(7_100);
    expect(slept[1]).toBeGreaterThanOrEqual(20_000);
    expect(slept).toHaveLength(2);
  });

  it('do not wait longer than the total time allowed', async () => {
    const { base } = await service((_, response) => json(response, 429, {}, { 'retry-after': '3600' }));
    const { client: api, slept } = client(base);
    expect(await failure(api.listEntities())).toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 });
    expect(slept).toEqual([]);
  });

  it('stop when cancelled', async () => {
    const stop = new AbortController();
    const { base } = await service((_, response) => {
      json(response, 503, {});
      stop.abort();
    });
    expect(await failure(client(base).client.listEntities({ signal: stop.signal }))).toMatchObject({
      code: expect.stringMatching(/cancelled|service_error/),
    });
  });
});

describe('creating', () => {
  const entity = { name: 'n', type: 't', external_ref: 'a b' };

  /** The service acts, and the answer is lost. */
  it('finds what an attempt without an answer has made, instead of making it twice', async () => {
    const made: unknown[] = [];
    const { base, seen } = await service((request, response) => {
      if (request.method === 'GET') return json(response, 200, { entities: made });
      made.push({ id: 'e1', ...JSON.parse(request.body) });
      response.socket?.destroy();
    });
    const { client: api } = client(base);
    expect(await api.createEntity(entity)).toMatchObject({ id: 'e1', external_ref: 'a b' });
    expect(made).toHaveLength(1);
    expect(seen.some((each) => each.path.endsWith('/entities?external_ref=a%20b'))).toBe(true);
  });

  it('sends again when nothing was made', async () => {
    const posts: string[] = [];
    const { base } = await service((request, response) => {
      if (request.method === 'GET') return json(response, 200, []);
      posts.push(request.path);
      if (posts.length < 2) return void response.socket?.destroy();
      json(response, 201, { id: 'k1', ...JSON.parse(request.body) });
    });
    const document = { name: 'up', definition: { query: 'up' } };
    expect(await client(base).client.createKpi('e1', document)).toMatchObject({ id: 'k1' });
    expect(posts).toHaveLength(2);
  });

  it('does not look anything up after a 429, which says that nothing was done', async () => {
    let posts = 0;
    const { base, seen } = await service((request, response) => {
      posts += 1;
      if (posts === 1) json(response, 429, {});
      else json(response, 201, { id: 'r1', ...JSON.parse(request.body) });
    });
    const rule = {
      rule_name: 'r',
      primary_indicator: 'i',
      condition: 'expr > 1',
      alert_condition: 'x',
      eval_window: 1,
    };
    await client(base).client.createAlertRule('e1', rule);
    expect(seen.filter((each) => each.method === 'GET')).toHaveLength(0);
  });

  it('leaves it open what became of it when the way stays broken', async () => {
    const { base } = await service((_, response) => void response.socket?.destroy());
    const error = await failure(client(base, { maxAttempts: 3 }).client.createEntity(entity));
    expect(error).toMatchObject({ code: 'cut', ambiguous: true });
  });

  it('finds an attachment by channel, entity, severity and mention', async () => {
    const row = (id: number, more: object) => ({
      id,
      name: 'c',
      type: 'slack',
      service_fqid: 'e1',
      severity: 'breach',
      parent_id: 3,
      mention: [],
      ...more,
    });
    const rows = [row(1, { parent_id: 4 }), row(2, { severity: 'threat' }), row(5, { mention: ['@a'] })];
    const { base } = await service((request, response) => {
      if (request.method === 'GET') return json(response, 200, rows);
      rows.push(row(9, JSON.parse(request.body)));
      response.socket?.destroy();
    });
    const found = await client(base).client.attachChannel('3', {
      entity_id: 'e1',
      severity: 'breach',
      mention: ['@b'],
    });
    expect(found.id).toBe('9');
  });
});
