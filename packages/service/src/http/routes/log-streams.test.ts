/** Exports and their readers over real HTTP: those that pause, those that leave, and an engine that dies under them. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LineGenerator } from '../../../test/log-lines.ts';
import { gzipHeaders, type LogService, startLogService } from '../../../test/logs.ts';

const START = 1_750_000_000_000_000_000n;
const BATCHES = 8;
const BATCH = 5_000;
/** Long enough that an export is many times what sockets hold. */
const FILLING = Array.from({ length: 20 }, (_, index) => createHash('sha256').update(String(index)).digest('hex'));
/** Three of them share each nanosecond, and every hundredth comes twice. */
const LINES = Array.from({ length: BATCHES * BATCH }, (_, index) => {
  const number = index % 100 === 99 ? index - 1 : index;
  return `{"EdgeStartTimestamp":${START + BigInt(Math.floor(number / 3))},"ClientRequestMethod":"GET","RayID":"${number.toString(16)}","ClientRequestUserAgent":"${FILLING.join(String(number))}"}`;
});
const RANGE = { from: '2025-06-15T00:00:00Z', to: '2025-06-16T00:00:00Z' };

interface Reading {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
}

/** Begins an export and reads nothing of it yet. */
function begin(service: LogService, endpoint: string, body: object): Promise<Reading> {
  const { hostname, port } = new URL(service.origin);
  const headers = { 'content-type': 'application/json', 'x-last9-api-token': `Bearer ${service.tokens.read}` };
  const where = `/api/v4/organizations/default/logs/${endpoint}`;
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: where, method: 'POST', headers }, (response) => {
      resolve({ request, response });
    });
    request.on('error', reject);
    request.end(JSON.stringify({ ...RANGE, ...body }));
  });
}

async function whole(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

async function load(service: LogService): Promise<void> {
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const lines = LINES.slice(batch * BATCH, (batch + 1) * BATCH);
    expect((await service.push(lines)).body).toEqual({ accepted: BATCH, rejected: 0 });
  }
  await service.rows('SELECT 1');
}

/** Statements of searches that the engine runs now. */
async function running(service: LogService): Promise<string[]> {
  const rows = await service.rows<{ query: string }>(
    "SELECT query FROM system.processes WHERE query LIKE '%FROM %logs%WHERE org%' AND query NOT LIKE '%system.processes%'",
  );
  return rows.map(({ query }) => query);
}

/** The engine's process, by the lock of its data directory. */
function enginePid({ dataDir }: LogService): number {
  const status = readFileSync(path.join(dataDir, 'logs', 'engine', 'status'), 'utf8');
  return Number(/PID: (\d+)/.exec(status)?.[1]);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(50);
}

describe('an export', () => {
  let service: LogService;
  let drawn = 0;
  beforeAll(async () => {
    service = await startLogService({ settings: { query_timeout: 1 } });
    await load(service);
    const { search } = service.app.logs!.store;
    const original = search.export;
    search.export = async function* (request) {
      for await (const chunk of original(request)) {
        drawn += chunk.length;
        yield chunk;
      }
    };
  });
  afterAll(() => service.stop());

  it('waits for a reader that pauses for longer than a query may take, and holds little meanwhile', async () => {
    const { response } = await begin(service, 'export', { query: 'RayID:*', format: 'raw' });
    expect(response.statusCode).toBe(200);
    await pause(3_000);
    const total = LINES.reduce((sum, line) => sum + line.length + 1, 0);
    expect(drawn).toBeLessThan(total / 2);
    expect(await running(service)).toEqual([]);
    const text = await whole(response);
    expect(response.complete).toBe(true);
    const lines = text.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines.length).toBe(LINES.length);
    expect([...lines].sort()).toEqual([...LINES].sort());
  });

  it.each([
    ['ndjson', 'RayID:*'],
    ['ndjson', 'RayID:* | fields RayID, timestamp'],
    ['csv', 'RayID:*'],
    ['ndjson', 'RayID:* | sort RayID | fields RayID, timestamp'],
  ])('as %s of %s has every record once, in order', async (format, query) => {
    const { response } = await begin(service, 'export', { query, format, fields: ['RayID', 'timestamp'] });
    const lines = (await whole(response)).trimEnd().split(/\r?\n/);
    const found = lines.slice(format === 'csv' ? 1 : 0).map((line) => {
      if (format === 'csv') return line.split(',') as [string, string];
      const item = JSON.parse(line) as { RayID?: string; timestamp: string; attributes?: { RayID: string } };
      return [item.RayID ?? item.attributes?.RayID, String(item.timestamp)] as const;
    });
    const rays = LINES.map((line) => (JSON.parse(line) as { RayID: string }).RayID);
    expect(found.map(([ray]) => ray).sort()).toEqual([...rays].sort());
    if (query.includes('sort')) return;
    const times = found.map(([, time]) => time as string);
    expect(times).toEqual([...times].sort());
  });

  it('ends after as many records as are asked for, and begins where it is told', async () => {
    const from = new Date(Number(START / 1_000_000n)).toISOString();
    for (const [query, limit] of [
      ['*', 1_234],
      ['* | limit 1234', undefined],
      ['* | limit 1234', 5_000],
    ] as const) {
      const { response } = await begin(service, 'export', { from, query, format: 'raw', limit });
      const lines = (await whole(response)).trimEnd().split('\n');
      expect(lines.length).toBe(1_234);
      // The last of them shares its nanosecond with two that are not there.
      const sorted = [...lines].sort();
      for (const line of LINES.slice(0, 1_230)) expect(sorted).toContain(line);
    }
  });

  it('breaks off, and does not end, when the engine dies in the middle', async () => {
    const { response } = await begin(service, 'export', { query: 'RayID:*', format: 'raw' });
    const pid = enginePid(service);
    process.kill(pid, 'SIGSTOP');
    const reading = whole(response).then(
      () => 'ended',
      () => 'broke off',
    );
    await pause(500);
    process.kill(pid, 'SIGKILL');
    expect(await reading).toBe('broke off');
    expect(response.complete).toBe(false);
    // And the store comes back.
    await until(() =>
      service.rows('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
    const again = await begin(service, 'export', { query: 'RayID:*', format: 'raw', limit: 10 });
    expect((await whole(again.response)).split('\n')).toHaveLength(11);
  });
});

describe('a client that leaves', () => {
  let service: LogService;
  beforeAll(async () => {
    service = await startLogService({ settings: { query_timeout: 3_600 } });
    await load(service);
  });
  afterAll(() => service.stop());

  // Takes much longer than it takes to leave.
  const slow = Array.from({ length: 400 }, (_, index) => `raw:~"(x|y)[a-f]{${(index % 40) + 2}}[0-9]+q${index}z"`).join(
    ' OR ',
  );

  it.each([
    ['query', { query: slow }],
    ['hits', { query: slow }],
    ['query', { query: `${slow} | stats count() by (RayID)` }],
    ['export', { query: slow, format: 'raw' }],
    ['export', { query: `${slow} | sort RayID`, format: 'ndjson' }],
  ])('ends the %s in the engine', async (endpoint, body) => {
    const { hostname, port } = new URL(service.origin);
    const headers = { 'content-type': 'application/json', 'x-last9-api-token': `Bearer ${service.tokens.read}` };
    const where = `/api/v4/organizations/default/logs/${endpoint}`;
    const request = httpRequest({ hostname, port, path: where, method: 'POST', headers });
    let answered = false;
    request
      .on('error', () => undefined)
      .on('response', () => {
        answered = true;
      });
    request.end(JSON.stringify({ ...RANGE, ...body }));
    await until(async () => (await running(service)).length > 0);
    request.destroy();
    await until(async () => (await running(service)).length === 0);
    expect(answered).toBe(false);
  });
});

describe('what was delivered', () => {
  let service: LogService;
  const delivered: Buffer[] = [];
  beforeAll(async () => {
    service = await startLogService();
    for (const lines of [ODD_LINES.map((line) => Buffer.from(line)), BAD_UTF8, generated(1), generated(2)]) {
      const ends = lines.map((_, index) => (index % 7 === 3 ? '\r\n' : '\n'));
      const body = Buffer.concat(lines.flatMap((line, index) => [line, Buffer.from(ends[index]!)]));
      const answer = await service.deliver('/cloudflare', gzipSync(body), gzipHeaders(service.access));
      expect(answer.body).toEqual({ accepted: lines.length, rejected: 0 });
      delivered.push(...lines.map((line, index) => Buffer.concat([line, Buffer.from(ends[index]!.slice(0, -1))])));
    }
    await service.rows('SELECT 1');
  });
  afterAll(() => service.stop());

  it('is exported byte for byte', async () => {
    const { response } = await begin(service, 'export', { from: '0', to: '2100-01-01T00:00:00Z', format: 'raw' });
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    // Each byte as one character: some of them are no UTF-8.
    const found = Buffer.concat(chunks).toString('latin1').split('\n');
    expect(found.pop()).toBe('');
    expect(found.sort()).toEqual(delivered.map((line) => line.toString('latin1')).sort());
  });
});

/** Lines that reading and writing again would change. */
const ODD_LINES = [
  '{"EdgeStartTimestamp":1750000000000000001,"RayID":"a","ClientRequestMethod":"GET"}',
  '  { "EdgeStartTimestamp" : 1750000000000000001 ,\t"RayID":"b" , "ClientRequestMethod":"GET" }  ',
  '{"RayID":"c","ClientRequestMethod":"GET","EdgeStartTimestamp":"2025-06-15T15:06:40.000000001Z"}',
  '{"EdgeStartTimestamp":1750000000000000001,"RayID":"d","RayID":"e","ClientRequestMethod":"GET"}',
  '{"EdgeStartTimestamp":1750000000000000001,"EdgeResponseCompressionRatio":1.0,"RayID":"f","ClientRequestMethod":"GET"}',
  '{"EdgeStartTimestamp":1750000000000000001,"EdgeResponseCompressionRatio":1.10e+0,"RayID":"g","ClientRequestMethod":"GET"}',
  '{"EdgeStartTimestamp":1750000000000000001,"ClientRequestPath":"\\u002f\\u00FC\\/\\ud83d\\ude00\\ud83d","RayID":"h","ClientRequestMethod":"GET"}',
  '{"EdgeStartTimestamp":1750000000000000001,"ClientRequestPath":"\\u0000","RayID":"i","ClientRequestMethod":"GET"}',
  '{"timestamp":1750000000,"big":123456789012345678901234567890,"float":0.1000000000000000055511151231257827,"e":1E400}',
  '{"timestamp":1750000000,"text":"tab\\t zürich \\\\N \\b\\f"}',
  '{"timestamp":1750000000,"":"","__proto__":{"a":1},"constructor":null,"a":{"":[[],[{}]]}}',
  '{"timestamp":1750000000,"only":"😀 漢字 \u2028 \ufeff \u00a0"}',
  `{"timestamp":1750000000,"long":"${'x'.repeat(300_000)}"}`,
  '{"timestamp":"soon"}',
  '{}',
  '{"EventTimestampMs":1750000000000,"ScriptName":"s","EventType":"fetch","Outcome":"ok","Logs":[{"Level":"log","Message":["a\\nb",1.0],"TimestampMs":1750000000000},{"Level":"log","Message":[],"TimestampMs":1750000000000}],"Exceptions":[]}',
];

const BAD_UTF8 = [
  Buffer.concat([
    Buffer.from('{"timestamp":1750000000,"bytes":"'),
    Buffer.from([0xff, 0xc0, 0xed, 0xa0, 0x80]),
    Buffer.from('"}'),
  ]),
  Buffer.concat([
    Buffer.from('{"EdgeStartTimestamp":1750000000000000001,"RayID":"z","ClientRequestMethod":"'),
    Buffer.from([0xe2, 0x28, 0xa1]),
    Buffer.from('"}'),
  ]),
];

function generated(seed: number): Buffer[] {
  const generator = new LineGenerator(seed);
  const deliveries = Array.from({ length: 30 }, () => generator.delivery(40));
  return deliveries.flatMap((delivery) =>
    delivery.kind === 'lines' ? delivery.lines.map((line) => Buffer.from(line)) : [],
  );
}

describe('records that share a nanosecond', () => {
  let service: LogService;
  const ALIKE = 3_000;
  beforeAll(async () => {
    service = await startLogService();
    for (let batch = 0; batch < 6; batch += 1) {
      const lines = Array.from(
        { length: ALIKE / 6 },
        (_, index) => `{"EdgeStartTimestamp":${START},"RayID":"${batch}-${index % 400}","ClientRequestMethod":"GET"}`,
      );
      expect((await service.push(lines)).status).toBe(200);
    }
    await service.rows('SELECT 1');
  });
  afterAll(() => service.stop());

  const asked = async (parameters: object): Promise<string[]> => {
    const answer = await service.call('read', 'POST', '/logs/query', { ...RANGE, query: '*', ...parameters });
    expect(answer.status).toBe(200);
    return answer.body.records.map(({ id }: { id: string }) => id);
  };

  it('have one order in queries, pages and exports, and the other way round it is turned round', async () => {
    const down = await asked({ limit: 10_000 });
    expect(down).toHaveLength(ALIKE);
    expect(down).toEqual([...down].sort().reverse());
    expect(await asked({ limit: 10_000, order: 'asc' })).toEqual([...down].reverse());
    expect(await asked({ limit: 777 })).toEqual(down.slice(0, 777));
    const pages: string[] = [];
    for (let offset = 0; offset < ALIKE; offset += 700) pages.push(...(await asked({ limit: 700, offset })));
    expect(pages).toEqual(down);
    const { response } = await begin(service, 'export', { format: 'ndjson' });
    const exported = (await whole(response)).trimEnd().split('\n');
    expect(exported.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual([...down].reverse());
  });
});
