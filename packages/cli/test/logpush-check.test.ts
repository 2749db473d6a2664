/** `logpush check` and `logpush simulate` against a stand-in of the service: the intake and the search in one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { basicAuthorization } from '../src/logpush/destination.ts';
import { type Reply, type StubServer, startStub, succeeded } from './cloudflare-api.ts';
import { runCli } from './run-cli.ts';

const authorization = basicAuthorization({ username: 'edge', password: 'p+a/s=s' });

let directory: string;
let service: StubServer;
/** What the service does otherwise than a good one. */
let faults: { probe?: Reply; stranger?: Reply; record?: Reply; lost?: boolean; slow?: number };
let lines: string[];
let searches: number;

beforeEach(async () => {
  directory = mkdtempSync('/tmp/obsiac-check-');
  [faults, lines, searches] = [{}, [], 0];
  service = await startStub(({ url, headers, body }) => {
    if (url.endsWith('/oauth/access_token')) {
      const now = Math.floor(Date.now() / 1000);
      return { body: JSON.stringify({ access_token: 'an-access-token', issued_at: now, expires_at: now + 3600 }) };
    }
    if (url.includes('/logpush/jobs/'))
      return succeeded({ id: 7, dataset: 'http_requests', destination_conf: destination() });
    if (url.endsWith('/logs/query')) return search(JSON.parse(body.toString()) as { query: string });
    if (headers.authorization !== authorization) return faults.stranger ?? { status: 401, body: '{"error":"wrong"}' };
    const text = gunzipSync(body).toString();
    if (text === '{"content":"tests"}\n') return faults.probe ?? { body: '{"accepted":0,"rejected":0}' };
    lines.push(...text.trimEnd().split('\n'));
    return faults.record ?? { body: JSON.stringify({ accepted: text.trimEnd().split('\n').length, rejected: 0 }) };
  });
  const credential = { refresh_token: 'a-refresh-token', api_base_url: `${service.origin}/api/v4`, org: 'default' };
  const config = {
    api_config: { read: credential, write: credential, delete: credential },
    state_lock_file_path: 'state.json',
  };
  writeFileSync(path.join(directory, 'config.json'), JSON.stringify(config));
  writeFileSync(path.join(directory, 'intake.json'), JSON.stringify({ endpoint: service.origin, authorization }));
});
afterEach(async () => {
  await service.close();
  rmSync(directory, { recursive: true });
});

const destination = () => `${service.origin}/cloudflare?header_Authorization=${encodeURIComponent(authorization)}`;

function search({ query }: { query: string }): Reply {
  searches += 1;
  const found =
    !faults.lost &&
    searches > (faults.slow ?? 0) &&
    lines.some((line) => query.includes((JSON.parse(line) as { RayID: string }).RayID));
  const record = {
    id: '1',
    timestamp: '1',
    observed_timestamp: '1',
    dataset: 'http_requests',
    severity_number: 9,
    severity_text: 'INFO',
    service: '',
    trace_id: '',
    span_id: '',
    body: '',
    attributes: {},
    raw: '',
  };
  return { body: JSON.stringify({ kind: 'records', from: '0', to: '1', records: found ? [record] : [] }) };
}

async function obsiac(...argv: string[]) {
  const result = await runCli(argv, { cwd: directory, env: { CLOUDFLARE_API_TOKEN: 'the-token' } });
  expect(`${result.stdout}${result.stderr}`).not.toContain(authorization.slice(6));
  return { ...result, stderr: result.stderr.replace(/\s+/g, ' ') };
}

const OK = [
  'ok  The test file that Cloudflare uploads first is accepted.',
  'ok  Wrong credentials are refused.',
  'ok  A record is accepted, and stored for good.',
];

test('a good destination, found on the third look', async () => {
  faults.slow = 2;
  const { code, stdout } = await obsiac('-c', 'config.json', 'logpush', 'check');
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(0, 3)).toEqual(OK);
  expect(stdout).toMatch(/\nok {2}A query finds the record after [\d.]+ s\.\n$/);
  expect(searches).toBe(3);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ ClientRequestHost: 'obsiac-check.invalid' });
});

test('the destination of a job', async () => {
  const { code, stdout } = await obsiac(
    '-c',
    'config.json',
    'logpush',
    'check',
    '--job',
    '7',
    '--zone',
    'z',
    '--api-url',
    service.origin,
  );
  expect(code).toBe(0);
  expect(stdout).toContain(OK[2]);
});

test.each([
  [
    'the test file is refused',
    { probe: { status: 415, body: '{"error":"not this type"}' } },
    1,
    0,
    /refused the upload It answered 415\. It said: not this type\./,
  ],
  ['the test file is half accepted', { probe: { status: 207, body: '{}' } }, 1, 0, /answered the test file with 207/],
  ['credentials are wrong', { probe: { status: 401, body: '{}' } }, 4, 0, /refused the credentials/],
  ['everybody may write', { stranger: { body: '{}' } }, 1, 1, /takes wrong credentials/],
  ['another product answers', { record: { body: 'thanks' } }, 1, 2, /not an intake of Obsiac/],
  ['the record is rejected', { record: { body: '{"accepted":0,"rejected":1}' } }, 1, 2, /accepted 0 records of 1/],
  ['the record is lost', { lost: true }, 1, 3, /accepted, but no query finds it/],
])('%s', async (_, given, exit, steps, sentence) => {
  faults = given;
  const { code, stdout, stderr } = await obsiac('-c', 'config.json', 'logpush', 'check', '--timeout', '300ms');
  expect(stderr).toMatch(sentence);
  expect({ code, steps: stdout.split('\n').slice(0, -1) }).toEqual({ code: exit, steps: OK.slice(0, steps) });
});

test('simulate delivers each record once, whatever the intake asks to wait', async () => {
  let busy = 0;
  const { origin, close, seen } = await startStub(() =>
    busy++ % 3 === 1
      ? { status: 503, headers: { 'retry-after': '0.02' }, body: '{}' }
      : { body: '{"accepted":50,"rejected":2}' },
  );
  const span = [
    '--rate',
    '5',
    '--from',
    '2026-11-21T07:00:00Z',
    '--duration',
    '2m',
    '--incident',
    '1m,2m',
    '--batch-records',
    '50',
  ];
  const { code, stdout, stderr } = await obsiac(
    'logpush',
    'simulate',
    '--intake',
    'intake.json',
    '--endpoint',
    origin,
    ...span,
  );
  await close();
  const delivered = new Set(seen.map(({ body }) => body.toString('base64')));
  const records = [...delivered].flatMap((body) =>
    gunzipSync(Buffer.from(body, 'base64')).toString().trimEnd().split('\n'),
  );
  expect(code).toBe(0);
  expect(stdout).toContain(`Delivered ${records.length} records of http_requests in ${delivered.size} batches`);
  expect(new Set(records).size).toBe(records.length);
  expect(seen.length).toBeGreaterThan(delivered.size);
  expect(stderr).toContain(`did not take ${delivered.size * 2} records`);
});

test('simulate tells what was delivered before a failure', async () => {
  const { origin, close } = await startStub((_, index) =>
    index < 2 ? { body: '{"accepted":50,"rejected":0}' } : { status: 413, body: '{}' },
  );
  const { code, stdout, stderr } = await obsiac(
    'logpush',
    'simulate',
    '--intake',
    'intake.json',
    '--endpoint',
    origin,
    '--rate',
    '5',
    '--duration',
    '2m',
    '--batch-records',
    '50',
    '--concurrency',
    '1',
  );
  await close();
  expect(code).toBe(1);
  expect(stdout).toContain('Delivered 100 records of http_requests in 2 batches');
  expect(stderr).toContain('too large for the intake');
});
