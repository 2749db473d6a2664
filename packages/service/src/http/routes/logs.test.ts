/** Log search over real HTTP: each endpoint by GET and POST, its refusals, its streams; and byte-for-byte export. */
import { type Client, createClient, type Fetch, type LogTailEvent } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LogService, startLogService } from '../../../test/logs.ts';
import { startService } from '../../../test/service.ts';

let service: LogService;
let client: Client;
const START = Date.now() - 600_000;
const RECORDS = 200;
const nanos = (index: number) => BigInt(START) * 1_000_000n + BigInt(index) * 1_000_000_000n + 7n;
const line = (index: number) =>
  `{"ClientIP":"203.0.113.${index % 7}","ClientRequestHost":"shop.example.com","ClientRequestMethod":"${index % 4 === 0 ? 'POST' : 'GET'}",` +
  `"ClientRequestURI":"/item/${index}?q=a,\\"b\\"","EdgeResponseStatus":${index % 10 === 0 ? 503 : 200},` +
  `"EdgeStartTimestamp":${nanos(index)},"RayID":"${index.toString(16).padStart(16, '0')}"}`;
const lines = Array.from({ length: RECORDS }, (_, index) => line(index));
const range = { from: new Date(START).toISOString(), to: 'now' };

beforeAll(async () => {
  service = await startLogService();
  expect((await service.push(lines)).body).toEqual({ accepted: RECORDS, rejected: 0 });
  await service.rows('SELECT 1');
  client = clientOf(service);
});
afterAll(() => service.stop());

function clientOf({ refreshTokens, app }: LogService): Client {
  const api_base_url = app.address!.apiBaseUrl;
  return createClient({
    fetch: fetch as unknown as Fetch,
    credential: (scope) => ({ refresh_token: refreshTokens[scope], api_base_url, org: 'default' }),
    maxAttempts: 1,
  });
}
const get = (name: string, parameters: Record<string, string>, scope: 'read' | 'write' | 'delete' = 'read') =>
  service.call(scope, 'GET', `/logs/${name}?${new URLSearchParams(parameters)}`);
const post = (name: string, body: unknown) => service.call('read', 'POST', `/logs/${name}`, body);

describe('query', () => {
  it('gives the newest records first, whole and exact', async () => {
    const answer = await client.logs.query({ ...range, query: '', limit: 3 });
    expect(answer).toMatchObject({ kind: 'records', from: String(BigInt(START) * 1_000_000n) });
    if (answer.kind !== 'records') throw new Error('no records');
    expect(answer.records.map(({ timestamp }) => timestamp)).toEqual(
      [199, 198, 197].map((index) => String(nanos(index))),
    );
    expect(answer.records[0]).toMatchObject({
      dataset: 'http_requests',
      raw: lines[199],
      body: expect.stringContaining('/item/199'),
      attributes: { ClientRequestMethod: 'GET', EdgeResponseStatus: 200, 'http.request.method': 'GET' },
    });
  });

  it('is the same by GET and by POST, oldest first when asked', async () => {
    const query = 'EdgeResponseStatus:>=500 ClientRequestMethod:POST';
    const byGet = await get('query', { ...range, query, limit: '4', order: 'asc' });
    const byPost = await post('query', { ...range, to: byGet.body.to, query, limit: 4, order: 'asc' });
    expect(byGet.status).toBe(200);
    expect(byPost.body).toEqual(byGet.body);
    expect(byGet.body.records.map(({ raw }: { raw: string }) => raw)).toEqual(
      [0, 20, 40, 60].map((index) => lines[index]),
    );
  });

  it('gives rows for a query that makes them', async () => {
    const query = '* | stats count() as n by (EdgeResponseStatus) | sort n desc';
    const answer = await client.logs.query({ ...range, query });
    expect(answer).toMatchObject({ kind: 'rows', columns: ['EdgeResponseStatus', 'n'] });
    expect(answer).toMatchObject({
      rows: [
        ['200', 180],
        ['503', 20],
      ],
    });
  });

  it('finds by words, by OpenTelemetry names and by id', async () => {
    for (const query of [
      '"/item/17"',
      'http.response.status_code:503 RayID:0000000000000032',
      'RayID:00000000000000c7',
    ]) {
      const answer = await client.logs.query({ ...range, query });
      expect([query, answer.kind === 'records' && answer.records.length]).toEqual([query, 1]);
    }
  });
});

describe('nanoseconds', () => {
  const host = 'nanoseconds.example.com';
  const first = nanos(1000) / 1_000_000n;
  const times = [1n, 2n, 3n].map((last) => first * 1_000_000n + last);
  // The same numbers in a column of their own, and as the text of a field that nobody knows.
  const record = (time: bigint) =>
    `{"ClientRequestHost":"${host}","ClientRequestMethod":"GET","EdgeResponseStatus":200,"EdgeStartTimestamp":${time},"EdgeEndTimestamp":${time},"TheirClock":${time}}`;
  const rows = async (query: string) => {
    const to = new Date(START + 3_600_000).toISOString();
    const answer = await client.logs.query({ ...range, to, order: 'asc', query: `ClientRequestHost:${host} ${query}` });
    if (answer.kind !== 'rows') throw new Error('no rows');
    return answer.rows.flat();
  };
  beforeAll(async () => {
    expect((await service.push(times.map(record))).body).toEqual({ accepted: 3, rejected: 0 });
    await service.rows('SELECT 1');
  });

  it.each(['timestamp', 'EdgeStartTimestamp', 'EdgeEndTimestamp', 'TheirClock'])(
    'are told apart to the last digit by %s',
    async (field) => {
      const [one, two, three] = times.map(String);
      expect(await rows(`${field}:${two} | fields ${field}`)).toEqual([two]);
      expect(await rows(`${field}:>${one} | fields ${field}`)).toEqual([two, three]);
      expect(await rows(`${field}:<${two} | fields ${field}`)).toEqual([one]);
      expect(await rows(`${field}:[${two} TO ${two}] | fields ${field}`)).toEqual([two]);
      expect(await rows(`-${field}:${two} | fields ${field}`)).toEqual([one, three]);
      expect(await rows(`| stats min(${field}) as first, max(${field}) as last`)).toEqual([one, three]);
      expect(await rows(`| sort ${field} desc | fields ${field}`)).toEqual([three, two, one]);
    },
  );
});

describe('the other searches', () => {
  it('hits counts over time, in all and by a field', async () => {
    const hits = await client.logs.hits({ ...range, query: 'EdgeResponseStatus:503', step: 60 });
    expect(hits.total).toBe(20);
    expect(hits.step).toBe(60);
    expect(hits.series).toHaveLength(1);
    expect(hits.series[0]!.counts).toHaveLength(hits.timestamps.length);
    expect(hits.series[0]!.counts.reduce((sum, count) => sum + count, 0)).toBe(20);
    const by = await client.logs.hits({ ...range, by: 'EdgeResponseStatus', buckets: 10 });
    expect(by.series.map(({ value, total }) => [value, total])).toEqual([
      ['200', 180],
      ['503', 20],
    ]);
    expect(by.timestamps.length).toBeLessThanOrEqual(12);
  });

  it('facets, field names and field values say what is there', async () => {
    const facets = await client.logs.facets({
      ...range,
      fields: ['ClientRequestMethod', 'EdgeResponseStatus'],
      limit: 5,
    });
    expect(facets).toMatchObject({
      total: RECORDS,
      facets: [
        {
          field: 'ClientRequestMethod',
          values: [
            { value: 'GET', count: 150 },
            { value: 'POST', count: 50 },
          ],
        },
        {
          field: 'EdgeResponseStatus',
          values: [
            { value: '200', count: 180 },
            { value: '503', count: 20 },
          ],
        },
      ],
    });
    const byGet = await get('facets', { ...range, fields: 'ClientRequestMethod,EdgeResponseStatus', limit: '5' });
    expect(byGet.body.facets).toEqual(facets.facets);
    const names = await client.logs.fieldNames(range);
    expect(names.fields).toContainEqual({ name: 'RayID', count: RECORDS });
    const values = await client.logs.fieldValues({ ...range, field: 'ClientIP', prefix: '203.0.113.', limit: 3 });
    expect(values.values).toHaveLength(3);
    expect(values.values[0]!.count).toBeGreaterThanOrEqual(28);
  });

  it('context shows the neighbours of a record', async () => {
    const found = await client.logs.query({ ...range, query: 'RayID:0000000000000064' });
    if (found.kind !== 'records') throw new Error('no records');
    const { id, timestamp } = found.records[0]!;
    const context = await client.logs.context({ id, timestamp, before: 2, after: 3 });
    const numbers = [...context.before, context.record, ...context.after].map(({ raw }) => lines.indexOf(raw));
    expect(numbers).toEqual([98, 99, 100, 101, 102, 103]);
    const same = await client.logs.context({ id, timestamp, same: ['ClientIP'], before: 1, after: 1 });
    expect([...same.before, ...same.after].map(({ raw }) => lines.indexOf(raw))).toEqual([93, 107]);
    await expect(client.logs.context({ id: 'ffffffffffffffff', timestamp })).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('export', () => {
  const collect = async (request: Parameters<Client['logs']['export']>[0]) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.logs.export(request)) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  };

  it('gives every line as it was delivered, byte for byte', async () => {
    const odd = Array.from({ length: 40 }, (_, index) => [
      `{ "RayID":"odd${index}" ,"n": 1.${index}0,"EdgeStartTimestamp":${nanos(index)} , "text":"tab\\t zürich \\u00fc \\ud83d\\ude00 😀 \\\\N" }`,
      `{"Event":{"RayID":"run${index}"},"EventTimestampMs":${START + index},"ScriptName":"s","EventType":"fetch","Outcome":"ok","Logs":[{"Level":"log","Message":["a\\nb"],"TimestampMs":${START}}]}`,
      `{"shoe":${index},"timestamp":"${new Date(START).toISOString()}","big":12345678901234567890${index}}`,
    ]).flat();
    expect((await service.push([...odd, '{"bad'])).body).toEqual({ accepted: odd.length, rejected: 1 });
    await service.rows('SELECT 1');
    const text = await collect({ ...range, format: 'raw' });
    expect(text.endsWith('\n')).toBe(true);
    expect(text.trimEnd().split('\n').sort()).toEqual([...lines, ...odd].sort());
  });

  it('gives records as JSON and as CSV, as many as asked for', async () => {
    const query = 'dataset:http_requests EdgeResponseStatus:503';
    const ndjson = (await collect({ ...range, query, format: 'ndjson', limit: 3 })).trimEnd().split('\n');
    expect(ndjson.map((text) => JSON.parse(text).raw)).toEqual([0, 10, 20].map((index) => lines[index]));
    const csv = await collect({ ...range, query, format: 'csv', fields: ['RayID', 'ClientRequestURI'], limit: 2 });
    expect(csv).toBe(
      'RayID,ClientRequestURI\r\n0000000000000000,"/item/0?q=a,""b"""\r\n000000000000000a,"/item/10?q=a,""b"""\r\n',
    );
    const rows = await collect({ ...range, query: '* | stats count() as n', format: 'ndjson' });
    expect(JSON.parse(rows)).toEqual({ n: expect.any(Number) });
  });

  it('says what it is', async () => {
    const csv = await get('export', { ...range, format: 'csv', limit: '1' });
    expect([csv.headers.get('content-type'), csv.headers.get('content-disposition')]).toEqual([
      'text/csv; charset=utf-8',
      'attachment; filename="logs.csv"',
    ]);
    const raw = await get('export', { ...range, query: 'RayID:0000000000000000', limit: '1' });
    expect(raw.status).toBe(200);
    expect(lines.map((each) => `${each}\n`)).toContain(raw.text);
    const empty = await get('export', { ...range, query: 'RayID:nothing-is-called-so' });
    expect([empty.status, empty.text]).toEqual([200, '']);
  });
});

describe('tail', () => {
  it('sends what comes in, and nothing else', { timeout: 60_000 }, async () => {
    const stop = new AbortController();
    const seen: LogTailEvent[] = [];
    const tail = (async () => {
      for await (const event of client.logs.tail(
        { query: 'ClientRequestHost:tail.example.com' },
        { signal: stop.signal },
      )) {
        seen.push(event);
        if (seen.length === 2) break;
      }
    })();
    const record = (host: string, ray: string) => ({
      ClientRequestHost: host,
      EdgeResponseStatus: 200,
      EdgeStartTimestamp: Date.now(),
      RayID: ray,
    });
    for (let round = 0; seen.length < 2 && round < 100; round += 1) {
      await service.push([record('tail.example.com', `t${round}`), record('other.example.com', `o${round}`)]);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await tail;
    const hosts = seen.map((event) => event.kind === 'record' && event.record.attributes['ClientRequestHost']);
    expect(hosts).toEqual(['tail.example.com', 'tail.example.com']);
    stop.abort();
  });

  it('begins at once, and ends when the service stops', async () => {
    const other = await startLogService();
    await other.rows('SELECT 1');
    const url = `${other.app.address!.apiBaseUrl}/organizations/default/logs/tail`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${other.tokens.read}` } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = answer.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(': following\n\n');
    const stopped = other.stop();
    await reader.read().catch(() => undefined);
    await stopped;
  });
});

describe('a search is refused', () => {
  it('that is no query, with the place', async () => {
    const query = 'status:>=500 AND (host:x';
    for (const name of ['query', 'hits', 'facets', 'field_names', 'export', 'tail']) {
      const answer = await post(name, { ...range, query });
      expect([name, answer.status, answer.body.code]).toEqual([name, 400, 'query_invalid']);
      expect(answer.body.details[0]).toMatchObject({
        path: 'body.query',
        from: expect.any(Number),
        to: expect.any(Number),
      });
      expect(answer.body.details[0].to).toBeLessThanOrEqual(query.length);
    }
    await expect(client.logs.query({ ...range, query })).rejects.toMatchObject({
      code: 'bad_request',
      details: [{ path: 'body.query', from: expect.any(Number) }],
    });
  });

  it.each([
    [{ from: 'yesterday' }, 'from'],
    [{ from: 'now', to: 'now-1h' }, 'from'],
    [{ to: '2026-13-41' }, 'to'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '10001' }, 'limit'],
    [{ order: 'up' }, 'order'],
  ])('with %j', async (change, field) => {
    const answer = await get('query', { ...range, ...change } as Record<string, string>);
    expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([
      400,
      'bad_request',
      `query.${field}`,
    ]);
  });

  it('with a token that may not read, and reads with a read token by POST', async () => {
    expect((await get('query', range, 'delete')).status).toBe(403);
    expect((await get('query', range, 'write')).status).toBe(200);
    expect((await post('query', range)).status).toBe(200);
  });

  it('of another organisation: it has its own records', async () => {
    const { read } = await service.addOrganization('other');
    const url = '/api/v4/organizations/other/logs/query';
    const answer = await service.fetch('POST', url, { token: read, body: { ...range, query: '' } });
    expect(answer.body).toMatchObject({ kind: 'records', records: [] });
  });

  it('in a histogram of too many buckets', async () => {
    const answer = await post('hits', { ...range, step: 0.01 });
    expect([answer.status, answer.body.code]).toEqual([400, 'query_invalid']);
  });

  it('of a service without logs', async () => {
    const other = await startService();
    const answer = await other.call('read', 'POST', '/logs/query', range);
    expect([answer.status, answer.body.code]).toEqual([501, 'not_implemented']);
    await other.stop();
  });
});
