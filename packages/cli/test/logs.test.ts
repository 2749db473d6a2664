/** The commands on logs against a stand-in of the API. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isoTime, nanosecondsOf } from '../src/logs/search-options.ts';
import { type Reply, type SeenRequest, type StubServer, startStub } from './cloudflare-api.ts';
import { runCli } from './run-cli.ts';

let directory: string;
let api: StubServer | undefined;
beforeEach(() => {
  directory = mkdtempSync('/tmp/obsiac-logs-');
});
afterEach(async () => {
  await api?.close();
  api = undefined;
  rmSync(directory, { recursive: true });
});

const RANGE = { from: '1795240800000000000', to: '1795244400000000000' };
const record = (id: string, more: object = {}) => ({
  id,
  timestamp: '1795244399123456789',
  observed_timestamp: '1795244400000000000',
  dataset: 'http_requests',
  severity_number: 17,
  severity_text: 'ERROR',
  service: '',
  trace_id: '',
  span_id: '',
  body: 'GET a.example/\nx 503',
  attributes: {
    EdgeResponseStatus: 503,
    ClientIP: '192.0.2.1',
    Event: { Request: { Method: 'GET' } },
    tags: ['a', 'b'],
  },
  raw: '{"EdgeResponseStatus":503}',
  ...more,
});

/** Runs `obsiac logs …`; `reply` answers everything but the exchange of tokens. */
async function run(argv: readonly string[], reply: (request: SeenRequest) => Reply | null, more = {}) {
  api = await startStub((request) => {
    if (!request.url.endsWith('/oauth/access_token')) return reply(request);
    const now = Math.floor(Date.now() / 1000);
    return { body: JSON.stringify({ access_token: 'an-access-token', issued_at: now, expires_at: now + 3600 }) };
  });
  const credential = { refresh_token: 'a-refresh-token', api_base_url: `${api.origin}/api/v4`, org: 'default' };
  const config = {
    api_config: { read: credential, write: credential, delete: credential },
    state_lock_file_path: 'elsewhere/state.json',
  };
  writeFileSync(path.join(directory, 'config.json'), JSON.stringify(config));
  const result = await runCli(['-c', 'config.json', 'logs', ...argv], { cwd: directory, ...more });
  const asked = api.seen
    .filter(({ url }) => url.includes('/logs/'))
    .map(({ url, body }) => ({
      path: url.replace(/^.*\/organizations\//, ''),
      body: JSON.parse(body.toString()) as object,
    }));
  return { ...result, asked };
}

const events = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('query', () => {
  const answer = (): Reply => ({
    body: JSON.stringify({
      ...RANGE,
      kind: 'records',
      records: [record('1'), record('2', { severity_number: 9, severity_text: 'INFO' })],
    }),
  });

  test('a table of records', async () => {
    const { code, stdout, asked } = await run(
      ['query', 'GET', '--from', '2026-11-21T06:00:00Z', '--to', '1795244400', '--limit', '50'],
      answer,
    );
    expect(code).toBe(0);
    expect(asked).toEqual([{ path: 'default/logs/query', body: { query: 'GET', ...RANGE, limit: 50, order: 'desc' } }]);
    expect(stdout).toBe(
      [
        'TIME                            SEVERITY  DATASET        BODY',
        '2026-11-21T06:59:59.123456789Z  ERROR     http_requests  GET a.example/ ⏎ x 503',
        '2026-11-21T06:59:59.123456789Z  INFO      http_requests  GET a.example/ ⏎ x 503',
        '',
      ].join('\n'),
    );
  });

  test('columns, also of nested values', async () => {
    const { stdout } = await run(
      ['query', '--columns', 'EdgeResponseStatus,Event.Request.Method', '--columns', 'tags,none'],
      answer,
    );
    expect(stdout.split('\n')[1]).toBe('503                 GET                   ["a","b"]  -');
  });

  test('colours by severity', async () => {
    const { stdout } = await run(['query', 'x', '--columns', 'id'], answer, { columns: 80, env: { TERM: 'xterm' } });
    expect(stdout).toContain('\u001b[31m1\u001b[39m');
    expect(stdout).toContain('\n2\n');
  });

  test('events', async () => {
    const { stdout } = await run(['query', '--json'], answer);
    const records = events(stdout).filter(({ type }) => type === 'log_record');
    expect(records.map(({ record: each }) => each)).toEqual([
      record('1'),
      record('2', { severity_number: 9, severity_text: 'INFO' }),
    ]);
  });

  test('rows', async () => {
    const rows = () => ({
      body: JSON.stringify({
        ...RANGE,
        kind: 'rows',
        columns: ['host', 'n'],
        rows: [
          ['a', 3],
          [null, 12],
        ],
      }),
    });
    const table = await run(['query', '* | stats count() as n by (host)', '--limit', '2'], rows);
    expect(table.stdout).toBe('host  n\na     3\n-     12\n');
    expect(table.stderr).toContain('2 rows, the limit');
    await api?.close();
    const { stdout } = await run(['query', '* | stats count() as n by (host)', '--json'], rows);
    expect(
      events(stdout)
        .filter(({ type }) => type === 'log_row')
        .map(({ row }) => row),
    ).toEqual([
      { host: 'a', n: 3 },
      { host: null, n: 12 },
    ]);
  });

  test('a query that only the service refuses is shown with its place', async () => {
    const { code, stderr } = await run(['query', 'a b'], () => ({
      status: 400,
      body: JSON.stringify({
        error: 'no',
        code: 'bad_query',
        details: [{ path: 'query', message: 'Not here.', from: 2, to: 3 }],
      }),
    }));
    expect(code).toBe(3);
    expect(stderr).toContain('1 | a b\n  |   ^\n  = Not here.');
  });

  test('nothing found', async () => {
    const { code, stdout, stderr } = await run(['query', 'x'], () => ({
      body: JSON.stringify({ ...RANGE, kind: 'records', records: [] }),
    }));
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: 'Nothing matches in this time range.\n' });
  });
});

test('hits', async () => {
  const series = (value: string | null, counts: number[]) => ({
    value,
    counts,
    total: counts.reduce((sum, count) => sum + count, 0),
  });
  const answer = (...list: ReturnType<typeof series>[]) => ({
    body: JSON.stringify({
      ...RANGE,
      step: 1800,
      timestamps: [RANGE.from, '1795242600000000000'],
      series: list,
      total: 6,
    }),
  });
  const plain = await run(['hits', 'x', '--step', '30m'], () => answer(series(null, [2, 4])));
  expect(plain.asked[0]?.body).toMatchObject({ query: 'x', step: 1800 });
  expect(plain.stdout).toBe(
    `TIME                  RECORDS\n2026-11-21T06:00:00Z  2        ${'█'.repeat(20)}\n2026-11-21T06:30:00Z  4        ${'█'.repeat(40)}\n6 records in buckets of 1800 s\n`,
  );
  await api?.close();
  const { stdout } = await run(['hits', '--by', 'status'], () => answer(series('200', [1, 3]), series(null, [1, 1])));
  expect(stdout).toContain('TIME                  200  (others)\n2026-11-21T06:00:00Z  1    1\n');
});

test('facets', async () => {
  const { asked, stdout } = await run(['facets', '--fields', 'host,status', '--limit', '2'], () => ({
    body: JSON.stringify({
      ...RANGE,
      total: 10,
      facets: [
        {
          field: 'host',
          values: [
            { value: 'a', count: 8 },
            { value: '', count: 2 },
          ],
        },
      ],
    }),
  }));
  expect(asked[0]?.body).toMatchObject({ fields: ['host', 'status'], limit: 2 });
  expect(stdout).toContain('   8  80.0% ████████████████████ a\n');
  expect(stdout).toContain('   2  20.0% █████                (empty)\n');
});

describe('export', () => {
  const bytes = '{"a":1506702504433000201}\n{"b":"ü"}\n';

  test('byte for byte', async () => {
    const { code, stdout, asked } = await run(['export', 'x', '--limit', '5'], () => ({ body: bytes }));
    expect({ code, stdout }).toEqual({ code: 0, stdout: bytes });
    expect(asked[0]).toMatchObject({ path: 'default/logs/export', body: { query: 'x', format: 'raw', limit: 5 } });
  });

  test('into a file', async () => {
    const { code, stdout } = await run(['export', '-o', 'out.csv', '--format', 'csv', '--fields', 'a,b'], () => ({
      body: bytes,
    }));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Wrote 37 bytes into out.csv.\n' });
    expect(readFileSync(path.join(directory, 'out.csv'), 'utf8')).toBe(bytes);
  });

  test('a file is left only when it is whole', async () => {
    const { code } = await run(['export', '-o', 'out.ndjson'], () => ({
      headers: { 'content-length': '1000' },
      body: bytes,
    }));
    expect(code).toBe(1);
    expect(readdirSync(directory)).toEqual(['config.json']);
  });
});

test('tail shows records and ends with an interrupt', async () => {
  const controller = new AbortController();
  const stream = ['x', 'y'].map((id) => `event: record\ndata: ${JSON.stringify(record(id))}\n\n`).join('');
  const { code, stdout, stderr, asked } = await run(
    ['tail', 'GET', '--columns', 'id,severity_text'],
    ({ url }) => {
      setTimeout(() => controller.abort(), 300);
      return url.endsWith('/tail')
        ? { headers: { 'content-type': 'text/event-stream' }, body: `${stream}event: dropped\ndata: {"count":2}\n\n` }
        : null;
    },
    { cancelled: controller.signal },
  );
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'x  ERROR\ny  ERROR\n' });
  expect(stderr).toContain('2 records came too fast and are left out.');
  expect(asked[0]?.body).toMatchObject({ query: 'GET' });
});

describe('times', () => {
  const now = 1_795_244_400_000;
  test.each([
    ['now', '1795244400000000000'],
    ['now-90m', '1795239000000000000'],
    ['90m', '1795239000000000000'],
    ['7d', '1794639600000000000'],
    ['now-2w', '1794034800000000000'],
    ['1795244400', '1795244400000000000'],
    ['1795244400123456789', '1795244400123456789'],
    ['2026-11-21T07:00:00Z', '1795244400000000000'],
    ['2026-11-21T08:00:00.5+01:00', '1795244400500000000'],
    ['2026-11-21T07:00:00.123456789Z', '1795244400123456789'],
    ['2026-11-21T07:00:00.0000001Z', '1795244400000000100'],
    ['2026-11-21', '1795219200000000000'],
  ])('%s', (text, expected) => {
    expect(nanosecondsOf(text, 'from', now).toString()).toBe(expected);
  });

  test.each(['', 'yesterday', 'now-', '2026-13-40', '-5m'])('refuses %j', (text) => {
    expect(() => nanosecondsOf(text, 'from', now)).toThrow(/does not read as a time/);
  });

  test('are shown to the nanosecond', () => {
    expect(isoTime(1795244400123456789n)).toBe('2026-11-21T07:00:00.123456789Z');
    expect(isoTime('1795244400000000000')).toBe('2026-11-21T07:00:00.000Z');
    expect(isoTime(-1n)).toBe('1969-12-31T23:59:59.999999999Z');
  });
});
