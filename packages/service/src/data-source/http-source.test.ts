import { once } from 'node:events';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { DataSourceProperties } from '@obsiac/api';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpSource, type HttpSourceOptions } from './http-source.ts';
import { type RangeRequest, type SourceClient, SourceError } from './source.ts';
import { AUTHORITY, CLIENT, OTHER_SERVER, SERVER } from './testdata/certificates.ts';
import { matrix, type Script, type ScriptedServer, send, startScriptedServer } from './testdata/scripted-server.ts';

const REQUEST = { query: 'sum by (a) (up)', start: 600, end: 1200, step: 60 };
const ONE = [
  {
    metric: { a: 'b' },
    values: [
      [600, '1'],
      [660, '0.5'],
    ],
  },
];
const OK = send(200, matrix(ONE));
const SECRETS = { bearer_token: 'token-of-the-test', headers: { 'X-Scope-OrgID': 'tenant-of-the-test' } };

const clients: SourceClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

function source(url: string, properties: DataSourceProperties = {}, options?: HttpSourceOptions): SourceClient {
  const client = createHttpSource({ url, properties }, options);
  clients.push(client);
  return client;
}

const ask = (client: SourceClient, change: Partial<RangeRequest> = {}) =>
  client.queryRange({ ...REQUEST, signal: new AbortController().signal, ...change });

async function errorOf(asking: Promise<unknown>): Promise<SourceError> {
  const error: unknown = await asking.then(
    () => new Error('it was answered'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SourceError)) throw error;
  return error;
}

describe('a data source over HTTP', () => {
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer(OK);
  });
  afterAll(() => server.stop());
  afterEach(() => {
    server.asked.length = 0;
  });
  const refusedWith = async (script: Script, properties: DataSourceProperties = {}, options?: HttpSourceOptions) => {
    server.answer(script);
    return errorOf(ask(source(server.url, properties, options)));
  };

  describe('asks', () => {
    beforeAll(() => server.answer(OK));

    it.each([
      ['', '/api/v1/query_range'],
      ['/', '/api/v1/query_range'],
      ['/prometheus', '/prometheus/api/v1/query_range'],
      ['/select/0/prometheus/', '/select/0/prometheus/api/v1/query_range'],
      ['/a%20b?tenant=x&y#z', '/a%20b/api/v1/query_range?tenant=x&y'],
    ])('under the address %j at %s', async (path, target) => {
      expect(await ask(source(server.url + path))).toEqual({
        series: [{ labels: { a: 'b' }, times: Float64Array.of(600, 660), values: Float64Array.of(1, 0.5) }],
        warnings: [],
        bytes: JSON.stringify(matrix(ONE)).length,
      });
      expect(server.asked).toMatchObject([{ method: 'POST', url: target }]);
      expect(server.asked[0]!.headers['content-type']).toBe('application/x-www-form-urlencoded');
    });

    it.each([
      [undefined, {}, 60],
      ['prometheus', {}, 60],
      ['victoriametrics', { nocache: '1' }, 30],
      ['thanos', { partial_response: 'false', dedup: 'true' }, 60],
      ['mimir', {}, 60],
    ] as const)('with the parameters of %s', async (flavour, parameters, delay) => {
      const client = source(server.url, flavour && { flavour });
      const query = 'a{b="ü+&=%"}\n > 1';
      await ask(client, { query });
      expect(server.asked[0]!.form).toEqual({
        query,
        start: '600',
        end: '1200',
        step: '60',
        timeout: '15',
        ...parameters,
      });
      expect(client.evaluationDelay).toBe(delay);
      expect(source(server.url, { ...(flavour && { flavour }), evaluation_delay_seconds: 0 }).evaluationDelay).toBe(0);
    });

    it.each([
      [{ username: 'Aladdin', password: 'open sesame' }, 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
      [{ username: 'ünï' }, `Basic ${Buffer.from('ünï:').toString('base64')}`],
      [{ username: 'a', password: 'b', bearer_token: 'tok' }, 'Bearer tok'],
      [{ bearer_token: 'tok', headers: { Authorization: 'Own way' } }, 'Own way'],
      [{}, undefined],
    ])('with the credentials %j', async (properties, authorization) => {
      await ask(source(server.url, properties));
      expect(server.asked[0]!.headers.authorization).toBe(authorization);
    });

    it('with headers of its own', async () => {
      await ask(source(server.url, { headers: { 'X-Scope-OrgID': 'team-a|team-b', 'User-Agent': 'me' } }));
      expect(server.asked[0]!.headers).toMatchObject({ 'x-scope-orgid': 'team-a|team-b', 'user-agent': 'me' });
    });

    it('past the proxies of the environment', async () => {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:9');
      try {
        expect((await ask(source(server.url))).series).toHaveLength(1);
      } finally {
        vi.unstubAllEnvs();
      }
    });

    it('over connections that are kept, never more than the queries allowed at a time', async () => {
      let open = 0;
      let most = 0;
      server.answer((response, asked) => {
        most = Math.max(most, ++open);
        setTimeout(() => {
          open -= 1;
          OK(response, asked);
        }, 5);
      });
      const client = source(server.url, { concurrency: 3 });
      await Promise.all(Array.from({ length: 30 }, () => ask(client)));
      expect(most).toBe(3);
      expect(new Set(server.asked.map((asked) => asked.connection)).size).toBe(3);
      server.answer(OK);
    });

    it('a second time when a kept connection ends at the moment of its use', async () => {
      const client = source(server.url, { concurrency: 1 });
      await ask(client);
      let cuts = 0;
      server.answer((response, asked) => {
        if (cuts++ === 0) response.socket!.destroy();
        else OK(response, asked);
      });
      expect((await ask(client)).series).toHaveLength(1);
      expect(cuts).toBe(2);
      server.answer(OK);
    });
  });

  describe('reads', () => {
    it('what comes compressed without having been asked', async () => {
      for (const encoding of ['gzip', 'x-gzip', 'identity']) {
        const body = JSON.stringify(matrix(ONE));
        server.answer(send(200, encoding === 'identity' ? body : gzipSync(body), { 'content-encoding': encoding }));
        expect(await ask(source(server.url))).toMatchObject({ series: [{ labels: { a: 'b' } }], bytes: body.length });
      }
      expect(server.asked[0]!.headers['accept-encoding']).toBe('identity');
      expect((await refusedWith(send(200, 'x', { 'content-encoding': 'gzip' }))).code).toBe('bad_answer');
      expect((await refusedWith(send(200, 'x', { 'content-encoding': 'br' }))).message).toContain('br');
    });

    it('big answers on a thread, with the same result as small ones', async () => {
      const result = Array.from({ length: 3500 }, (_, i) => ({
        metric: { instance: `i${i}`, padding: 'x'.repeat(700) },
        values: [
          [600, `${i}`],
          [660, 'NaN'],
          [720, '-Inf'],
        ],
      }));
      server.answer(send(200, matrix(result, { warnings: ['PromQL warning: w'] })));
      const client = source(server.url);
      const answers = await Promise.all([ask(client), ask(client)]);
      for (const { series, warnings, bytes } of answers) {
        expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
        expect(warnings).toEqual(['PromQL warning: w']);
        expect(series.map((one) => one.labels['instance'])).toEqual(result.map((one) => one.metric.instance));
        expect(series[3400]!.times).toEqual(Float64Array.of(600, 660, 720));
        expect(series[3400]!.values).toEqual(Float64Array.of(3400, Number.NaN, Number.NEGATIVE_INFINITY));
      }
      expect((await errorOf(ask(source(server.url, {}, { maxSeries: 3499 })))).message).toContain('3500 series');
      const errors = { status: 'error', errorType: 'bad_data', error: 'no such thing', padding: 'x'.repeat(3e6) };
      expect(await refusedWith(send(200, errors))).toMatchObject({
        code: 'bad_query',
        message: 'Prometheus refuses the query: no such thing',
      });
    });

    it('no more bytes than allowed, told or untold, packed or not', async () => {
      const body = Buffer.from(JSON.stringify(matrix([], { padding: 'x'.repeat(200_000) })));
      const scripts: Script[] = [
        send(200, body, { 'content-length': String(body.length) }),
        (response) => {
          response.writeHead(200);
          for (let at = 0; at < body.length; at += 10_000) response.write(body.subarray(at, at + 10_000));
        },
        send(200, gzipSync(body), { 'content-encoding': 'gzip' }),
      ];
      for (const script of scripts) {
        const error = await refusedWith(script, {}, { maxBytes: 100_000 });
        expect(error).toMatchObject({ code: 'too_large', isFaultOfTheSource: false });
        expect(error.message).toContain('100000 bytes');
      }
      server.answer(scripts[0]!);
      expect((await ask(source(server.url, {}, { maxBytes: body.length }))).bytes).toBe(body.length);
    });

    it('no more series than allowed', async () => {
      server.answer(OK);
      expect((await ask(source(server.url, {}, { maxSeries: 1 }))).series).toHaveLength(1);
      expect((await errorOf(ask(source(server.url, {}, { maxSeries: 0 })))).code).toBe('too_large');
    });
  });

  describe('calls partial', () => {
    it.each([
      ['victoriametrics', { isPartial: true }],
      ['thanos', { warnings: ['No StoreAPIs matched for this query'] }],
      [
        'thanos',
        { warnings: ['PromQL info: x', 'receive series from Addr: store-1:10901: rpc error: code = Unavailable'] },
      ],
      ['mimir', { warnings: ['some blocks were not queried'] }],
      ['prometheus', { warnings: ['remote_read: remote server http://far returned HTTP status 500'] }],
    ] as const)('an answer of %s with %j', async (flavour, more) => {
      const error = await refusedWith(send(200, matrix(ONE, more)), { flavour });
      expect(error).toMatchObject({ code: 'partial', isFaultOfTheSource: false });
    });

    it('no answer whose warnings are remarks of PromQL', async () => {
      const warnings = [
        'PromQL warning: ratio value should be between -1 and 1 (1:2)',
        '3 more warning annotations omitted',
      ];
      const infos = ['PromQL info: metric might not be a counter (1:6)'];
      server.answer(send(200, matrix(ONE, { isPartial: false, warnings, infos })));
      expect((await ask(source(server.url, { flavour: 'thanos' }))).warnings).toEqual([...warnings, ...infos]);
    });
  });

  describe('refusals', () => {
    const api = (errorType: string, error: string) => ({ status: 'error', errorType, error });
    const html = { 'content-type': 'text/html' };
    it.each([
      [401, 'no org id', {}, 'refused_credentials', 'refuses the credentials (401): no org id'],
      [403, '<html>Forbidden</html>', html, 'refused_credentials', 'refuses the credentials (403).'],
      [400, api('bad_data', 'invalid parameter "query": 1:5: parse error'), {}, 'bad_query', '1:5: parse error'],
      [422, api('execution', 'found duplicate series for the match group'), {}, 'bad_query', 'duplicate series'],
      [422, api('422', 'cannot parse query: unexpected token'), {}, 'bad_query', 'unexpected token'],
      [
        422,
        api('execution', 'expanding series: proxy Series(): rpc error: code = Aborted'),
        {},
        'server_error',
        'storage',
      ],
      [422, api('422', 'error when executing query: timeout exceeded: 15s'), {}, 'timeout', 'timeout exceeded'],
      [503, api('timeout', 'query timed out in expression evaluation'), {}, 'timeout', 'gave the query up'],
      [500, api('internal', 'the head is gone'), {}, 'server_error', 'the head is gone'],
      [502, '<h1>Bad Gateway</h1>', html, 'server_error', 'answers with the error 502.'],
      [503, 'no healthy upstream', {}, 'server_error', 'no healthy upstream'],
      [504, '', {}, 'timeout', '504'],
      [413, '', {}, 'too_large', '413'],
      [404, '404 page not found', {}, 'bad_answer', 'path of the address'],
      [400, 'Client sent an HTTP request to an HTTPS server.', {}, 'bad_answer', 'HTTPS server'],
      [302, '', { location: '/login?state=abc' }, 'bad_answer', 'redirects to /login (302)'],
      [301, '', { location: 'https://other.example/x?y' }, 'bad_answer', 'https://other.example/x (301)'],
      [302, '', { location: '//other.example/login' }, 'bad_answer', 'http://other.example/login (302)'],
      [200, '<!doctype html><title>Sign in</title>', html, 'bad_answer', 'login page'],
      [200, '', {}, 'bad_answer', 'empty'],
      [200, '{"status":"succ', {}, 'bad_answer', 'not whole JSON'],
      [204, '', {}, 'bad_answer', '204'],
    ])('%i %j is told', async (status, body, headers, code, part) => {
      const error = await refusedWith(send(status, body, headers as Record<string, string>), SECRETS);
      expect(error.code).toBe(code);
      expect(error.message).toContain(part);
    });

    it.each([
      [429, { 'retry-after': '7' }, 7000],
      [503, { 'retry-after': '120' }, 120_000],
      [503, { 'retry-after': new Date(0).toUTCString() }, 0],
      [429, {}, undefined],
      [429, { 'retry-after': 'soon' }, undefined],
    ])('%i with %j asks to wait', async (status, headers, retryAfter) => {
      const error = await refusedWith(send(status, 'too many', headers));
      expect(error).toMatchObject({ code: 'overloaded', retryAfter, isFaultOfTheSource: true });
    });

    it('of any length are told in one line, and never with a secret', async () => {
      const properties: DataSourceProperties = { ...SECRETS, password: 'p"w\\d1' };
      const said = `no ${SECRETS.bearer_token}\n${properties.password} ${'x'.repeat(480)} ${SECRETS.headers['X-Scope-OrgID']} `;
      const answers: Script[] = [
        send(401, said.repeat(1000), { 'content-type': 'text/plain' }),
        send(400, { status: 'error', errorType: 'bad_data', error: said }),
        send(200, { status: 'error', errorType: 'bad_data', error: said }),
        send(200, matrix([], { warnings: [said] })),
        send(302, '', { location: `/${SECRETS.bearer_token}` }),
        send(500, gzipSync(said.repeat(1000)), { 'content-encoding': 'gzip' }),
      ];
      for (const answer of answers) {
        const { message } = await refusedWith(answer, properties);
        expect(message.length).toBeLessThan(700);
        expect(message).not.toMatch(/\n|token-of|tenant-of|p"w/);
      }
    });
  });

  describe('time', () => {
    it('is over for an answer that does not come, does not begin or does not end', async () => {
      const scripts: Script[] = [
        () => undefined,
        (response) => void response.writeHead(200).flushHeaders(),
        (response) => void response.writeHead(200).write('{"status":'),
      ];
      for (const script of scripts) {
        const error = await refusedWith(script, { timeout_seconds: 0.2 });
        expect(error).toMatchObject({ code: 'timeout', isFaultOfTheSource: true });
        expect(error.message).toContain('0.2 s');
      }
    });

    it('begins with the turn of a query, not while it waits', async () => {
      server.answer((response, asked) => setTimeout(() => OK(response, asked), 150));
      const client = source(server.url, { timeout_seconds: 1, concurrency: 1 });
      await expect(Promise.all(Array.from({ length: 10 }, () => ask(client)))).resolves.toHaveLength(10);
    });

    it('ends with the signal, before, while waiting and in the middle', async () => {
      server.answer(() => undefined);
      const client = source(server.url, { concurrency: 1 });
      const [first, second] = [new AbortController(), new AbortController()];
      const asking = [errorOf(ask(client, { signal: first.signal })), errorOf(ask(client, { signal: second.signal }))];
      while (server.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      second.abort();
      expect((await asking[1]!).code).toBe('cancelled');
      first.abort();
      expect((await asking[0]!).code).toBe('cancelled');
      expect((await errorOf(ask(client, { signal: AbortSignal.abort() }))).code).toBe('cancelled');
      expect((await errorOf(ask(client, { signal: AbortSignal.timeout(20) }))).code).toBe('timeout');
      server.answer(OK);
      expect((await ask(client)).series).toHaveLength(1);
    });

    it('ends with the client: what runs, what waits and what comes later is cancelled', async () => {
      server.answer(() => undefined);
      const client = source(server.url, { concurrency: 1 });
      const asking = [errorOf(ask(client)), errorOf(ask(client))];
      while (server.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await client.close();
      for (const error of [...asking, errorOf(ask(client))]) expect((await error).code).toBe('cancelled');
    });
  });

  describe('connections', () => {
    it('that are cut in the middle of an answer are told', async () => {
      const cut = await refusedWith((response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"status":"success",');
        setTimeout(() => response.socket!.destroy(), 20);
      });
      expect(cut).toMatchObject({ code: 'unreachable', isFaultOfTheSource: true });
      expect(cut.message).toContain('cut the connection');
      const always = await refusedWith((response) => void response.socket!.destroy());
      expect(always.message).toContain('cut the connection');
    });

    it('that nobody takes are told', async () => {
      const free = createServer().listen(0, '127.0.0.1');
      await once(free, 'listening');
      const { port } = free.address() as { port: number };
      free.close();
      await once(free, 'close');
      const error = await errorOf(ask(source(`http://127.0.0.1:${port}`)));
      expect(error).toMatchObject({ code: 'unreachable', message: `127.0.0.1:${port} refuses connections.` });
    });

    it('to a name that is none are told', async () => {
      const error = await errorOf(ask(source('http://nowhere.invalid:9090')));
      expect(error.code).toBe('unreachable');
      expect(error.message).toMatch(/nowhere\.invalid:9090/);
      expect(error.message).toMatch(/DNS/);
    });

    it('to something that speaks no HTTP are told', async () => {
      const odd = createServer((socket) => socket.on('error', () => undefined).end('220 mail ready\r\n'));
      odd.listen(0, '127.0.0.1');
      await once(odd, 'listening');
      const { port } = odd.address() as { port: number };
      expect(await errorOf(ask(source(`http://127.0.0.1:${port}`)))).toMatchObject({
        code: 'unreachable',
        message: expect.stringContaining('does not answer in HTTP'),
      });
      odd.close();
    });
  });
});

describe('TLS', () => {
  const servers: ScriptedServer[] = [];
  const start = async (tls: object) => {
    const server = await startScriptedServer(OK, tls);
    servers.push(server);
    return server;
  };
  let plain: ScriptedServer;
  let mutual: ScriptedServer;
  let other: ScriptedServer;
  beforeAll(async () => {
    plain = await start(SERVER);
    mutual = await start({ ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true });
    other = await start(OTHER_SERVER);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const client = { client_cert: CLIENT.cert, client_key: CLIENT.key };
  it.each([
    ['an authority of its own', () => plain, { ca_cert: AUTHORITY }],
    ['a client certificate', () => mutual, { ca_cert: AUTHORITY, ...client }],
    ['another server name', () => other, { ca_cert: AUTHORITY, server_name: 'other.internal' }],
    ['no check', () => other, { insecure_skip_verify: true }],
  ])('with %s is spoken', async (_what, server, tls) => {
    expect((await ask(source(server().url, { tls }))).series).toHaveLength(1);
  });

  it.each([
    ['an unknown authority', () => plain, {}, 'tls.ca_cert'],
    ['a wrong name', () => other, { ca_cert: AUTHORITY }, 'tls.server_name'],
    ['another wrong name', () => plain, { ca_cert: AUTHORITY, server_name: 'x.internal' }, 'tls.server_name'],
    ['no client certificate', () => mutual, { ca_cert: AUTHORITY }, 'tls.client_cert'],
  ])('with %s is refused', async (_what, server, tls, part) => {
    const error = await errorOf(ask(source(server().url, { tls })));
    expect(error.code).toBe('unreachable');
    expect(error.message).toContain(part);
    expect(error.message).toContain(`127.0.0.1:${server().port}`);
  });

  it('to a server without it is told', async () => {
    const without = await startScriptedServer(OK);
    servers.push(without);
    const error = await errorOf(ask(source(without.url.replace('http:', 'https:'))));
    expect(error).toMatchObject({ code: 'unreachable', message: expect.stringContaining('does not speak TLS') });
  });
});
