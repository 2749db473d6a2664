/** What becomes of delivered records, over real HTTP with the real engine: times, fields, datasets, workers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LogService, ndjson, startLogService } from '../../../test/logs.ts';

let service: LogService;
beforeAll(async () => {
  service = await startLogService();
});
afterAll(() => service.stop());

let rayNumber = 0;
const rayId = () => (++rayNumber).toString(16).padStart(16, 'b');
type Row = Record<string, unknown>;
const rowsOf = (ray: string) =>
  service.rows<Row>(
    `SELECT *, toString(toUnixTimestamp64Nano(timestamp)) AS nanos FROM obsiac.logs WHERE RayID = '${ray}' ORDER BY part`,
  );
/** Delivers one record and gives its rows. */
async function stored(record: Row | string, query = ''): Promise<Row[]> {
  const ray = rayId();
  const line = typeof record === 'string' ? record.replace('RAY', ray) : JSON.stringify({ ...record, RayID: ray });
  const answer = await service.push([line], query);
  expect([answer.status, answer.body]).toEqual([200, { accepted: 1, rejected: 0 }]);
  return rowsOf(ray);
}
const http = { ClientRequestHost: 'shop.example.com', ClientRequestMethod: 'GET', EdgeResponseStatus: 200 };

describe('times', () => {
  const NANOS = '1506702504433000201';
  it.each([
    ['unixnano', NANOS, NANOS],
    ['unixnano of the last digit', '1506702504433000199', '1506702504433000199'],
    ['unix', '1506702504', '1506702504000000000'],
    ['milliseconds', '1506702504433', '1506702504433000000'],
    ['microseconds', '1506702504433000', '1506702504433000000'],
    ['rfc3339', '2017-09-29T16:28:24Z', '1506702504000000000'],
    ['rfc3339ms', '2017-09-29T16:28:24.433Z', '1506702504433000000'],
    ['rfc3339ns', '2017-09-29T16:28:24.433000201Z', NANOS],
    ['rfc3339 with an offset', '2017-09-29T18:28:24.433000201+02:00', NANOS],
  ])('%s is exact to the last digit, as a number and as text', async (_name, text, expected) => {
    const forms = /^\d+$/.test(text) ? [text, `"${text}"`] : [`"${text}"`];
    for (const form of forms) {
      // Plain lines are read by the engine; white space makes the service read a line itself.
      for (const space of ['', ' ']) {
        const line = `{"RayID":"RAY","ClientRequestHost":"x",${space}"EdgeResponseStatus":200,"EdgeStartTimestamp":${form}}`;
        const [row] = await stored(line);
        expect([form, space, row?.['nanos']]).toEqual([form, space, expected]);
      }
    }
  });

  it('that are missing are taken from the next field, else from the time of receipt', async () => {
    const [ended] = await stored(
      { ...http, EdgeEndTimestamp: '2026-11-20T00:00:00.000000001Z' },
      '?dataset=http_requests',
    );
    expect(ended?.['nanos']).toBe('1795132800000000001');
    const before = BigInt(Date.now() - 1000) * 1_000_000n;
    for (const value of [undefined, null, '', 0, 'not a time']) {
      const [row] = await stored({ ...http, EdgeStartTimestamp: value }, '?dataset=http_requests');
      expect(BigInt(row?.['nanos'] as string)).toBeGreaterThan(before);
    }
  });
});

describe('records of http_requests', () => {
  it('are the same whether the engine or the service reads the line', async () => {
    const record = {
      ...http,
      ClientRequestScheme: 'https',
      ClientRequestURI: '/a?b=1',
      ClientRequestPath: '/a',
      ClientIP: '2001:db8::1',
      ClientASN: 64496,
      ClientCountry: 'de',
      BotScore: 0,
      BotTags: ['api', 'known'],
      OriginResponseStatus: 0,
      ParentRayID: '00',
      ClientMTLSAuthStatus: 'unknown',
      EdgeResponseStatus: 503,
      EdgeResponseCompressionRatio: 2.5,
      EdgeResponseBytes: 9007199254740993n,
      WorkerSubrequest: false,
      EdgeStartTimestamp: '1506702504433000201',
      EdgeEndTimestamp: '1506702504433000999',
      ZoneName: 'example.com',
      SecurityRuleDescription: 'tab\there "quoted"',
    };
    const text = JSON.stringify(record, (_key, value) => (typeof value === 'bigint' ? `#${value}#` : value)).replace(
      /"#(\d+)#"/,
      '$1',
    );
    const [plain] = await stored(`${text.slice(0, -1)},"RayID":"RAY"}`);
    const [general] = await stored(`${text.slice(0, -1)}, "RayID": "RAY"}`);
    const same = (row: Row | undefined) => {
      const { id: _id, raw: _raw, observed_timestamp: _observed, stored: _stored, RayID, body, ...rest } = row!;
      return { ...rest, body: String(body).replace(String(RayID), 'RAY') };
    };
    expect(same(general)).toEqual(same(plain));
    expect(plain).toMatchObject({
      body: expect.stringMatching(/^GET https:\/\/shop\.example\.com\/a\?b=1 503 2001:db8::1 b+\w+$/),
      service: 'example.com',
      severity_text: 'ERROR',
      severity_number: 17,
      EdgeResponseBytes: '9007199254740993',
      BotScore: null,
      OriginResponseStatus: null,
      ParentRayID: '',
      ClientMTLSAuthStatus: '',
      BotTags: ['api', 'known'],
      WorkerSubrequest: false,
      nanos: '1506702504433000201',
    });
  });

  it('of before 2023-08-01 are found under the names of today', async () => {
    const [row] = await stored({
      ...http,
      WAFAction: 'block',
      WAFRuleID: '100',
      WAFRuleMessage: 'SQLi',
      FirewallMatchesActions: ['block', 'log'],
      FirewallMatchesRuleIDs: ['1'],
      FirewallMatchesSources: ['waf'],
    });
    expect(row).toMatchObject({
      dataset: 'http_requests',
      SecurityAction: 'block',
      SecurityRuleID: '100',
      SecurityRuleDescription: 'SQLi',
      SecurityActions: ['block', 'log'],
      SecurityRuleIDs: ['1'],
      SecuritySources: ['waf'],
    });
  });

  it('keep custom headers, cookies, subrequests and fields that nobody knows', async () => {
    const [row] = await stored({
      ...http,
      RequestHeaders: { 'x-tenant': 'acme', accept: ['text/html', '*/*'] },
      Cookies: { session: 'abc' },
      Subrequests: [{ RayID: 'cc', EdgeResponseStatus: 200 }],
      BrandNewField: { nested: { deep: [1, 'two', { three: 3 }] }, flag: false, nothing: null },
    });
    expect(row?.['attributes']).toMatchObject({
      RequestHeaders: { 'x-tenant': 'acme', accept: ['text/html', '*/*'] },
      Cookies: { session: 'abc' },
      BrandNewField: { nested: { deep: ['1', 'two', '{"three":3}'] }, flag: 'false' },
    });
    expect(row?.['Subrequests']).toEqual(['{"RayID":"cc","EdgeResponseStatus":200}']);
  });

  it('are understood when a type has changed, or the case of the names', async () => {
    const [row] = await stored({
      clientrequesthost: 'lower.example.com',
      clientrequestmethod: 'PUT',
      edgeresponsestatus: '404',
      edgestarttimestamp: '1506702504433000201',
      CLIENTASN: 'unknown',
    });
    expect(row).toMatchObject({
      dataset: 'http_requests',
      ClientRequestHost: 'lower.example.com',
      ClientRequestMethod: 'PUT',
      EdgeResponseStatus: '404',
      severity_text: 'WARN',
      nanos: '1506702504433000201',
      ClientASN: null,
      attributes: { CLIENTASN: 'unknown' },
    });
  });
});

describe('datasets', () => {
  it('are told apart in one batch by their fields, or named by the sender', async () => {
    const [a, b, c, d] = [rayId(), rayId(), rayId(), rayId()];
    const answer = await service.push([
      { ...http, EdgeStartTimestamp: 1, RayID: a },
      { Action: 'block', Datetime: 1, Kind: 'firewall', RuleID: 'r', Source: 'waf', RayID: b },
      { ...http, EdgeStartTimestamp: 1, RayID: c },
      { shoe: 'size', hat: 3, RayID: d },
    ]);
    expect(answer.body).toEqual({ accepted: 4, rejected: 0 });
    const datasets = await Promise.all([a, b, c, d].map(async (ray) => (await rowsOf(ray))[0]?.['dataset']));
    expect(datasets).toEqual(['http_requests', 'firewall_events', 'http_requests', 'unknown']);
    for (const query of ['?dataset=brand_new_set', '?tags=host:x,dataset:brand_new_set']) {
      expect((await stored({ shoe: 'size', n: 1 }, query))[0]).toMatchObject({
        dataset: 'brand_new_set',
        attributes: { shoe: 'size', n: '1' },
      });
    }
  });

  it('that are unknown have their words in the body and their usual time', async () => {
    const [row] = await stored({ Timestamp: '2026-01-02T03:04:05Z', note: 'the quick fox' });
    expect(row).toMatchObject({ body: expect.stringContaining('the quick fox'), nanos: '1767323045000000000' });
  });

  it('of DNS queries have their columns', async () => {
    const name = `q${rayId()}.example.com`;
    await service.push([
      {
        ColoCode: 'FRA',
        QueryName: name,
        QueryType: 1,
        ResponseCached: true,
        ResponseCode: 3,
        SourceIP: '192.0.2.1',
        Timestamp: 1506702504433000201n.toString(),
      },
    ]);
    const [row] = await service.rows<Row>(`SELECT * FROM obsiac.logs WHERE QueryName = '${name}'`);
    expect(row).toMatchObject({
      dataset: 'dns_logs',
      QueryType: '1',
      ResponseCode: '3',
      body: `${name} 1 3 192.0.2.1 FRA`,
    });
  });
});

describe('a run of a worker', () => {
  const run = {
    Event: {
      RayID: 'RAY',
      Request: { URL: 'https://api.example.com/pay?x=1', Method: 'POST', Headers: { 'cf-ray': 'x' } },
      Response: { Status: 500 },
    },
    EventTimestampMs: 1_763_715_161_000,
    EventType: 'fetch',
    Exceptions: [
      { Name: 'TypeError', Message: 'x is not a function', TimestampMs: 1_763_715_161_020, Stack: 'at pay.js:1' },
    ],
    Logs: [
      { Level: 'log', Message: ['order', { id: 7 }, 12], TimestampMs: 1_763_715_161_005 },
      { level: 'warn', message: 'slow upstream', timestampms: 1_763_715_161_006 },
    ],
    Outcome: 'exception',
    ScriptName: 'checkout',
    ScriptTags: ['prod'],
    CPUTimeMs: 3,
    WallTimeMs: 40,
  };

  it('is found as itself, and by each console line and exception', async () => {
    const rows = await stored(JSON.stringify(run));
    expect(rows.map((row) => [row['part'], row['severity_text'], row['nanos']])).toEqual([
      [0, 'ERROR', '1763715161000000000'],
      [1, 'INFO', '1763715161005000000'],
      [2, 'WARN', '1763715161006000000'],
      [3, 'ERROR', '1763715161020000000'],
    ]);
    expect(rows.map((row) => row['dataset'])).toEqual(Array(4).fill('workers_trace_events'));
    expect(rows.map((row) => row['service'])).toEqual(Array(4).fill('checkout'));
    const bodies = rows.map((row) => row['body']);
    expect(bodies.slice(1)).toEqual(['order {"id":7} 12', 'slow upstream', 'TypeError: x is not a function']);
    expect(bodies[0]).toMatch(/^fetch POST https:\/\/api\.example\.com\/pay\?x=1 500 exception checkout b+\w+$/);
    expect(rows[0]).toMatchObject({
      EdgeResponseStatus: '500',
      ClientRequestMethod: 'POST',
      ClientRequestPath: '/pay',
      CPUTimeMs: '3',
    });
    expect(rows[3]?.['attributes']).toMatchObject({
      exception: { type: 'TypeError', message: 'x is not a function', stacktrace: 'at pay.js:1' },
    });
    expect(new Set(rows.map((row) => row['id'])).size).toBe(4);
  });

  it.each([
    ['scheduled', { EventType: 'scheduled', Event: { RayID: 'RAY', Cron: '*/5 * * * *', ScheduledTimeMs: 1 } }, '*/5'],
    ['queue', { EventType: 'queue', Event: { RayID: 'RAY', Queue: 'jobs', BatchSize: 3 } }, 'jobs'],
    ['rpc', { EventType: 'worker_rpc', Event: { RayID: 'RAY', rpcMethod: 'pay' } }, 'worker_rpc'],
    [
      'nothing',
      { EventType: 'fetch', Event: { RayID: 'RAY', Request: null }, Logs: null, Exceptions: 'none' },
      'fetch',
    ],
  ])('of kind %s needs no request', async (_name, change, word) => {
    const rows = await stored(JSON.stringify({ ...run, Logs: [], Exceptions: [], Outcome: 'ok', ...change }));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ severity_text: 'INFO', body: expect.stringContaining(word) });
  });
});

describe('lines', () => {
  it('are kept byte for byte, of whichever way they take', async () => {
    const lines = [
      '{"RayID":"RAY","ClientRequestHost":"x","EdgeResponseStatus":200,"EdgeStartTimestamp":1506702504433000201}',
      '{ "RayID" : "RAY",  "ClientRequestHost":"\\u0078", "EdgeResponseStatus":2e2 }',
      '{"RayID":"RAY","ClientRequestUserAgent":"zürich \\ud83d\\ude00 😀 \\/ \\t","n":1.50,"big":12345678901234567890.10}',
      '{"Event":{"RayID":"RAY"},"ScriptName":"s","Logs":[{"Level":"log","Message":["a"],"TimestampMs":1}],"EventType":"fetch","Outcome":"ok"}',
    ];
    for (const line of lines) {
      const rows = await stored(line);
      expect(rows[0]?.['raw']).toBe(line.replace('RAY', rowsRay(rows)));
    }
    expect(ndjson(['a', { b: 1 }])).toBe('a\n{"b":1}\n');
  });

  function rowsRay(rows: Row[]): string {
    return String(rows[0]?.['RayID']);
  }
});
