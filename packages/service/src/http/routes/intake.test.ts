/** Log intake over real HTTP, with the real engine behind it: what Logpush sends, and what it is told. */
import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gzipHeaders, type LogService, ndjson, post, startLogService } from '../../../test/logs.ts';
import { insertIntakeCredential, revokeIntakeCredential } from '../../metadata/intake-credentials.ts';
import { closeStore } from '../../metadata/store.ts';

let service: LogService;
beforeAll(async () => {
  service = await startLogService({ settings: { intake_batch_limit: 8 * 1024 * 1024, intake_line_limit: 64 * 1024 } });
});
afterAll(() => service.stop());

let rayNumber = 0;
const rayId = () => (++rayNumber).toString(16).padStart(16, 'a');
const request = (change: Record<string, unknown> = {}) => ({
  ClientIP: '203.0.113.7',
  ClientRequestHost: 'shop.example.com',
  ClientRequestMethod: 'GET',
  ClientRequestURI: '/cart?id=1',
  EdgeResponseStatus: 200,
  EdgeStartTimestamp: 1_763_715_161_000_000_000,
  RayID: rayId(),
  ...change,
});
const rowsOf = (ray: string) =>
  service.rows<Record<string, string>>(
    `SELECT *, toString(toUnixTimestamp64Nano(timestamp)) AS nanos FROM obsiac.logs WHERE RayID = '${ray}' ORDER BY part`,
  );
const rejectFile = () => path.join(service.dataDir, 'logs', 'rejects', 'rejects.ndjson');
const rejects = (): Record<string, string>[] =>
  existsSync(rejectFile())
    ? readFileSync(rejectFile(), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
const accepted = (count: number, rejected = 0) => [200, { accepted: count, rejected }];

describe('a batch', () => {
  it('is stored, and counted in the answer', async () => {
    const ray = rayId();
    const answer = await service.push([request({ RayID: ray }), request()]);
    expect([answer.status, answer.body]).toEqual(accepted(2));
    const [row] = await rowsOf(ray);
    expect(row).toMatchObject({
      dataset: 'http_requests',
      body: `GET shop.example.com/cart?id=1 200 203.0.113.7 ${ray}`,
      EdgeResponseStatus: '200',
      severity_text: 'INFO',
    });
  });

  it.each([
    ['gzip that says so', true, { 'content-encoding': 'gzip' }],
    ['gzip called x-gzip', true, { 'content-encoding': 'x-gzip' }],
    ['gzip that does not say so', true, {}],
    ['gzip called identity', true, { 'content-encoding': 'identity' }],
    ['plain text', false, {}],
    ['plain text called gzip', false, { 'content-encoding': 'gzip' }],
  ] as const)('is read as %s', async (_name, compressed, headers) => {
    const ray = rayId();
    const text = ndjson([request({ RayID: ray })]);
    const authorization = service.access.authorization;
    const answer = await service.deliver('/cloudflare', compressed ? gzipSync(text) : text, {
      authorization,
      ...headers,
    });
    expect([answer.status, answer.body]).toEqual(accepted(1));
    expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('whose encoding is neither is refused with a name for it', async () => {
    const { authorization } = service.access;
    const body = deflateSync(ndjson([request()]));
    const answer = await service.deliver('/cloudflare', body, { authorization, 'content-encoding': 'deflate' });
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
    expect(answer.body.error).toContain('deflate');
  });

  it.each([
    'application/json',
    'application/x-ndjson',
    'text/plain; charset=utf-8',
    'application/gzip',
    'not a type',
    '',
  ])('is read whatever its content type: %j', async (type) => {
    const headers = type === '' ? {} : { 'content-type': type };
    const { authorization } = service.access;
    const body = gzipSync(ndjson([request()]));
    const answer = await service.deliver('/cloudflare', body, { authorization, ...headers });
    expect([answer.status, answer.body]).toEqual(accepted(1));
  });

  it('may come without a line feed at its end, with empty lines, and with carriage returns', async () => {
    const rays = [rayId(), rayId(), rayId()];
    const lines = rays.map((RayID) => JSON.stringify(request({ RayID })));
    const text = `\n${lines[0]}\r\n\n  \n${lines[1]}\n\n${lines[2]}`;
    const answer = await service.deliver('/cloudflare', gzipSync(text), gzipHeaders(service.access));
    expect([answer.status, answer.body]).toEqual(accepted(3));
    for (const ray of rays) expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('may be several gzip members, and may have zeros behind them', async () => {
    const rays = [rayId(), rayId(), rayId()];
    const members = rays.map((RayID) => gzipSync(ndjson([request({ RayID })])));
    for (const tail of [Buffer.alloc(0), Buffer.alloc(16)]) {
      const answer = await service.deliver(
        '/cloudflare',
        Buffer.concat([...members, tail]),
        gzipHeaders(service.access),
      );
      expect([answer.status, answer.body]).toEqual(accepted(3));
    }
    for (const ray of rays) expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('may come in pieces of any size, without a declared length', async () => {
    const ray = rayId();
    const body = gzipSync(ndjson([request({ RayID: ray }), request()]));
    async function* bytes() {
      for (const byte of body) yield Buffer.from([byte]);
    }
    const answer = await post(`${service.access.endpoint}/cloudflare`, bytes(), gzipHeaders(service.access));
    expect([answer.status, answer.body]).toEqual(accepted(2));
    expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('that is empty is no error', async () => {
    for (const body of ['', '\n', gzipSync('')]) {
      const answer = await service.deliver('/cloudflare', body);
      expect([answer.status, answer.body]).toEqual(accepted(0));
    }
  });

  it('delivered again is acknowledged and stored once, however it is compressed', async () => {
    const ray = rayId();
    const text = ndjson([request({ RayID: ray }), 'no json', request()]);
    const before = rejects().length;
    const bodies = [gzipSync(text), gzipSync(text), gzipSync(text, { level: 1 }), text];
    for (const body of bodies) {
      expect((await service.deliver('/cloudflare', body)).body).toEqual({ accepted: 2, rejected: 1 });
    }
    expect(await rowsOf(ray)).toHaveLength(1);
    const together = await Promise.all(bodies.map((body) => service.deliver('/cloudflare', body)));
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await rowsOf(ray)).toHaveLength(1);
    expect(rejects()).toHaveLength(before + 1);
  });

  it('delivered several times at the same moment is acknowledged each time and stored once', async () => {
    const ray = rayId();
    const lines = [request({ RayID: ray }), request()];
    const answers = await Promise.all(Array.from({ length: 6 }, () => service.push(lines)));
    for (const answer of answers) expect([answer.status, answer.body]).toEqual(accepted(2));
    expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('may be late, and may come after younger ones: records are found by their own time', async () => {
    const [young, old] = [rayId(), rayId()];
    const at = (time: string, RayID: string) => [request({ RayID, EdgeStartTimestamp: time })];
    expect((await service.push(at('2026-11-20T10:00:00Z', young))).status).toBe(200);
    expect((await service.push(at('2026-11-17T10:00:00.000000007Z', old))).status).toBe(200);
    const [row] = await service.rows(
      `SELECT toString(toUnixTimestamp64Nano(timestamp)) AS nanos FROM obsiac.logs
      WHERE RayID IN ('${young}', '${old}') AND toDate(timestamp) = '2026-11-17'`,
    );
    expect(row).toEqual({ nanos: '1794909600000000007' });
  });

  it('is its own although its records share a ray id', async () => {
    const ray = rayId();
    const event = { Action: 'block', Datetime: 1_763_715_161_000_000_000, RayID: ray, Source: 'waf', MatchIndex: 0 };
    await service.push([event, { ...event, MatchIndex: 1 }], '?dataset=firewall_events');
    await service.push([event, { ...event, MatchIndex: 2 }], '?dataset=firewall_events');
    expect(await rowsOf(ray)).toHaveLength(4);
  });
});

describe('the destination check', () => {
  const probes = ['{"content":"tests"}', '{"content":"test"}', 'test', 'tests\n', '{"content": "tests"}\n'];

  it.each(probes)('%j is answered 200 and stored nowhere', async (text) => {
    const count = () => service.rows('SELECT count() AS count FROM obsiac.logs');
    const before = [await count(), rejects().length];
    for (const body of [gzipSync(text), text]) {
      const answer = await service.deliver('/cloudflare?dataset=http_requests', body);
      expect([answer.status, answer.body]).toEqual(accepted(0));
    }
    expect([await count(), rejects().length]).toEqual(before);
  });

  it('needs credentials, and right ones', async () => {
    const url = `${service.access.endpoint}/cloudflare`;
    const none = await post(url, gzipSync('test'));
    expect([none.status, none.body.code]).toEqual([401, 'no_credentials']);
    expect(none.headers.get('www-authenticate')).toBe('Basic realm="obsiac"');
    const authorization = `Basic ${btoa(`${service.access.username}:wrong`)}`;
    const wrong = await post(url, gzipSync('test'), { authorization });
    expect([wrong.status, wrong.body.code]).toEqual([401, 'wrong_credentials']);
  });

  it('is not what a record looks like that only happens to have content', async () => {
    const answer = await service.push([{ content: 'x'.repeat(100) }]);
    expect([answer.status, answer.body]).toEqual(accepted(1));
  });
});

describe('authorization', () => {
  const send = (query: string, headers: Record<string, string> = {}) =>
    post(`${service.access.endpoint}/cloudflare${query}`, gzipSync(ndjson([request()])), headers);

  it('is taken from the address that Cloudflare is given, when its header does not come', async () => {
    const answer = await post(service.access.cloudflare_url, gzipSync(ndjson([request()])));
    expect([answer.status, answer.body]).toEqual(accepted(1));
  });

  it('in the address is read however often it was encoded or decoded', async () => {
    // A password whose base64 has a plus and a slash.
    const { username, password } = await createCredential('plus', '~~?>~~?>\u00fb\u00ef\u00be');
    const encoded = Buffer.from(`${username}:${password}`).toString('base64');
    expect(encoded).toContain('+');
    const forms = [
      encodeURIComponent(`Basic ${encoded}`),
      `Basic%20${encoded}`,
      `Basic+${encoded}`,
      `Basic%20${encoded.replaceAll('+', '%2B')}`,
      `Basic%20${encoded.replaceAll('+', '%20')}`,
      `basic%20${encoded.replaceAll('=', '%3D')}`,
    ];
    for (const form of forms) {
      for (const name of ['header_Authorization', 'header_authorization']) {
        const answer = await send(`?dataset=http_requests&${name}=${form}&tags=host:x`);
        expect([form, answer.status]).toEqual([form, 200]);
      }
    }
  });

  it('in the header comes first', async () => {
    const right = service.access.authorization;
    const wrong = `Basic ${btoa('nobody:nothing')}`;
    const inAddress = (value: string) => `?header_Authorization=${encodeURIComponent(value)}`;
    expect((await send(inAddress(wrong), { authorization: right })).status).toBe(200);
    expect((await send(inAddress(right), { authorization: wrong })).status).toBe(401);
    expect((await send(inAddress(right), { authorization: 'Bearer of-a-proxy' })).status).toBe(200);
  });

  it.each(['Basic', 'Basic ', 'Basic !!!', `Basic ${btoa('nocolon')}`, 'Digest x', '%', 'Basic%'])(
    'is refused when it is none: %j',
    async (value) => {
      expect((await send(`?header_Authorization=${value.replace(' ', '%20')}`)).status).toBe(401);
      expect((await send('', { authorization: value })).status).toBe(401);
    },
  );

  it('with any of several credentials, until one is revoked', async () => {
    const second = await createCredential('second');
    const authorization = `Basic ${btoa(`${second.username}:${second.password}`)}`;
    expect((await send('', { authorization })).status).toBe(200);
    expect((await send('', { authorization: service.access.authorization })).status).toBe(200);
    const store = await service.openStore();
    const { organization_id: organizationId } = await store.db
      .selectFrom('intake_credentials')
      .select('organization_id')
      .executeTakeFirstOrThrow();
    await revokeIntakeCredential(store.db, { organizationId, actor: 'test', now: 1 }, 'second');
    await closeStore(store);
    expect((await send('', { authorization })).body.code).toBe('wrong_credentials');
    expect((await send('', { authorization: service.access.authorization })).status).toBe(200);
  });

  it('is in no line of the service log, and neither is a query string', async () => {
    await post(service.access.cloudflare_url, gzipSync(ndjson([request()])));
    await post(`${service.access.cloudflare_url}&secret=hush-hush`, 'a,b,c,d\n');
    const log = service.logs.join('');
    expect(log).toContain('"route":"/cloudflare"');
    for (const secret of [service.access.password, 'header_Authorization', 'hush-hush', service.access.authorization]) {
      expect(log).not.toContain(secret);
    }
  });

  async function createCredential(username: string, password = 'a password') {
    const store = await service.openStore();
    const { id: organizationId } = await store.db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
    await insertIntakeCredential(store.db, { organizationId, username, password, actor: 'test', now: 1 });
    await closeStore(store);
    return { username, password };
  }
});

describe('a line that is no record', () => {
  it.each([
    ['not_json', '{"RayID":"cut of'],
    ['not_json', 'plain words'],
    ['not_an_object', '"text"'],
    ['not_an_object', '17'],
    ['not_an_object', 'null'],
    ['not_an_object', '[{"a":1}]'],
    ['too_long', `{"a":"${'x'.repeat(70_000)}"}`],
    ['too_deep', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
  ])('is rejected as %s, and the rest of its batch is stored', async (reason, bad) => {
    const [before, after] = [rayId(), rayId()];
    const answer = await service.push([request({ RayID: before }), bad, request({ RayID: after })]);
    expect([answer.status, answer.body]).toEqual(accepted(2, 1));
    expect(rejects().at(-1)).toMatchObject({ reason, bytes: bad.length, line: bad.slice(0, 4096) });
    for (const ray of [before, after]) expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('is counted in the metrics', async () => {
    await service.push([request(), '{']);
    const { text } = await service.fetch('GET', '/metrics');
    expect(text).toMatch(/obsiac_intake_rejected_lines_total\{reason="not_json"\} [1-9]/);
    expect(text).toMatch(/obsiac_intake_records_total\{dataset="http_requests"\} [1-9]/);
  });

  it('alone is answered 200 too, or its batch would be sent again for a day', async () => {
    const answer = await service.push(['{"a":']);
    expect([answer.status, answer.body]).toEqual(accepted(0, 1));
  });

  it('that is not good UTF-8 is kept, byte for byte', async () => {
    const ray = rayId();
    const line = Buffer.concat([
      Buffer.from(`{"RayID":"${ray}","ClientRequestUserAgent":"`),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    const answer = await service.deliver('/cloudflare?dataset=http_requests', gzipSync(line));
    expect([answer.status, answer.body]).toEqual(accepted(1));
    const [row] = await service.rows<{ hex: string }>(`SELECT hex(raw) AS hex FROM obsiac.logs WHERE RayID = '${ray}'`);
    expect(row?.hex).toBe(line.toString('hex').toUpperCase());
  });

  it('never keeps others from being loaded, however odd it is', async () => {
    const rays = Array.from({ length: 12 }, rayId);
    const odd = [
      `{"RayID":"${rays[0]}","a":"\\ud800"}`,
      `{"RayID":"${rays[1]}","RayID":"${rays[1]}","x":1,"x":{"y":2}}`,
      `{"RayID":"${rays[2]}","n":123456789012345678901234567890,"m":1e400}`,
      `{"RayID":"${rays[3]}","":"","a.b":1,"a":{"b":2},"a":3}`,
      `{"RayID":"${rays[4]}","\\u0000":"\\u0000","EdgeResponseStatus":"teapot","EdgeStartTimestamp":"yesterday"}`,
      `{"RayID":"${rays[5]}","__proto__":{"x":1},"constructor":"c","toString":1,"hasOwnProperty":2}`,
      `{"RayID":"${rays[6]}","EdgeStartTimestamp":99999999999999999999,"ClientASN":-1,"EdgeResponseBytes":1.5}`,
      `{"RayID":"${rays[7]}","EdgeStartTimestamp":-5,"Subrequests":[{"a":[1,{"b":null}]},null,true]}`,
      `{"RayID":"${rays[8]}","dataset":"x","timestamp":"1","body":[],"raw":5,"org":"other","id":7,"part":9}`,
      `{"RayID":"${rays[9]}","attributes":{"body":"x"},"severity_number":"high"}`,
      ` {"RayID" : "${rays[10]}" , "ClientIP" : "::1"} `,
      `{"RayID":"${rays[11]}",${Array.from({ length: 3000 }, (_, index) => `"f${index}":${index}`).join(',')}}`,
    ];
    const answer = await service.push(odd, '?dataset=http_requests');
    expect([answer.status, answer.body]).toEqual(accepted(odd.length));
    for (const [index, ray] of rays.entries()) {
      const [row, ...more] = await rowsOf(ray);
      expect([ray, row?.['raw'], row?.['dataset'], more.length]).toEqual([ray, odd[index], 'http_requests', 0]);
    }
    expect(service.app.logs!.store.status().loader.quarantinedBatches).toBe(0);
  });
});

describe('a body that is no batch of lines', () => {
  const record = JSON.stringify(request());
  it.each([
    ['CSV', '203.0.113.7,GET,/cart,200\n203.0.113.8,GET,/cart,404\n'],
    ['CSV with quotes', '"203.0.113.7","GET, twice","/a ""b""",200\n'],
    ['CSV with a header line', 'ClientIP,RayID\n203.0.113.7,aaaa\n'],
    ['CSV with semicolons', 'ClientIP;RayID\n203.0.113.7;aaaa\n'],
    ['a JSON array', `[${record},${record}]`],
    ['a JSON array over several lines', `[\n${record},\n${record}\n]\n`],
    ['a wrapped document', `{"events":[${record},${record}]}`],
    ['a wrapped document over several lines', `{"events":[${record},\n${record}\n]}\n`],
    ['a wrapped document whose records stand on lines', `{"events":[\n${record},\n${record}\n]}\n`],
    ['indented JSON', `${JSON.stringify(request(), undefined, 2)}\n`],
    ['records with commas behind them', `${record},\n${record},\n`],
  ])('%s is refused with a hint', async (_name, text) => {
    for (const body of [text, gzipSync(text)]) {
      const answer = await service.deliver('/cloudflare', body);
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
      expect(answer.body.error).toContain('ndjson');
      expect(answer.text.length).toBeLessThan(300);
    }
  });

  it('a truncated gzip is refused, and nothing of it is stored', async () => {
    const ray = rayId();
    const whole = gzipSync(ndjson([request({ RayID: ray }), ...Array.from({ length: 500 }, () => request())]));
    for (const length of [3, 12, 100, Math.floor(whole.length / 2), whole.length - 1]) {
      const answer = await service.deliver('/cloudflare', whole.subarray(0, length), gzipHeaders(service.access));
      expect([length, answer.status, answer.body.code]).toEqual([length, 400, 'bad_request']);
      expect(answer.body.error).toMatch(/ends too early/);
    }
    expect(await rowsOf(ray)).toHaveLength(0);
    expect((await service.deliver('/cloudflare', whole)).body).toEqual({ accepted: 501, rejected: 0 });
    expect(await rowsOf(ray)).toHaveLength(1);
  });

  it('a damaged gzip is refused', async () => {
    const whole = gzipSync(ndjson(Array.from({ length: 100 }, () => request())));
    whole[Math.floor(whole.length / 2)]! ^= 0xff;
    const answer = await service.deliver('/cloudflare', whole);
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
    expect(answer.body.error).toMatch(/cannot be decompressed/);
  });

  it('a gzip bomb is cut off with 413, and the connection still answers', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a'));
    expect(bomb.length).toBeLessThan(100_000);
    for (let round = 0; round < 3; round += 1) {
      const answer = await service.deliver('/cloudflare', bomb);
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
    }
    expect((await service.push([request()])).status).toBe(200);
  });

  it('a batch over the limit is refused with 413, also when it is plain text', async () => {
    const lines = Array.from({ length: 200 }, () => request({ ClientRequestUserAgent: 'x'.repeat(50_000) }));
    for (const body of [ndjson(lines), gzipSync(ndjson(lines))]) {
      const answer = await service.deliver('/cloudflare', body);
      expect([answer.status, answer.body.code]).toEqual([413, 'body_too_large']);
      expect(answer.body.error).toContain('max_upload_bytes');
    }
  });

  it('a sender who breaks off leaves nothing behind', async () => {
    const ray = rayId();
    const body = gzipSync(ndjson([request({ RayID: ray })]));
    async function* half() {
      yield body.subarray(0, 20);
      throw new Error('gone');
    }
    const url = `${service.access.endpoint}/cloudflare`;
    const sent = new Promise<void>((resolve) => {
      const { hostname, port, pathname } = new URL(url);
      const headers = { ...gzipHeaders(service.access), 'content-length': String(body.length) };
      const outgoing = httpRequest({ hostname, port, path: pathname, method: 'POST', headers });
      outgoing.on('error', () => undefined).on('close', resolve);
      void half()
        .next()
        .then(({ value }) => outgoing.write(value as Buffer, () => outgoing.destroy()));
    });
    await sent;
    expect((await service.push([request()])).status).toBe(200);
    expect(await rowsOf(ray)).toHaveLength(0);
    expect(service.logs.join('')).not.toContain('"level":"error"');
  });

  it('a dataset whose name is none is refused', async () => {
    const answer = await service.push([request()], '?dataset=../../etc');
    expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
  });
});
