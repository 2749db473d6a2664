/** The log-push commands against a stand-in of Cloudflare's API. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { failed, type Reply, type SeenRequest, type StubServer, startStub, succeeded } from './cloudflare-api.ts';
import { runCli } from './run-cli.ts';

const ZONE = '023e105f4ecef8ad9ca31a8372d0c353';
const SECRETS = ['p+a/s=s', 'ZWRnZTpwK2Evcz1z', 'the-token', 'the-global-key'];
const DESTINATION = 'https://logs.example.com/cloudflare?header_Authorization=Basic%20ZWRnZTpwK2Evcz1z';
const JOB = {
  id: 146,
  name: 'shop',
  dataset: 'http_requests',
  enabled: true,
  destination_conf: DESTINATION,
  output_options: {
    field_names: ['RayID', 'ClientIP'],
    timestamp_format: 'unixnano',
    sample_rate: 0.5,
    'CVE-2021-44228': true,
  },
  last_complete: '2026-11-21T07:00:00Z',
  last_error: null,
  error_message: null,
};

let directory: string;
let api: StubServer | undefined;
beforeEach(() => {
  directory = mkdtempSync('/tmp/obsiac-logpush-');
  writeFileSync(
    path.join(directory, 'intake.json'),
    JSON.stringify({ endpoint: 'logs.example.com', username: 'edge', password: 'p+a/s=s' }),
  );
});
afterEach(async () => {
  await api?.close();
  api = undefined;
  rmSync(directory, { recursive: true });
});

const TOKEN = { CLOUDFLARE_API_TOKEN: 'the-token' };

/** Runs a command against `reply`; no output may ever hold a secret. */
async function run(
  argv: readonly string[],
  reply: (request: SeenRequest, index: number) => Reply | null,
  env: Record<string, string> = TOKEN,
  more = {},
) {
  api = await startStub(reply);
  const result = await runCli(['logpush', ...argv, '--zone', ZONE, '--api-url', `${api.origin}/client/v4`], {
    cwd: directory,
    env,
    ...more,
  });
  for (const secret of SECRETS) {
    expect(result.stdout).not.toContain(secret);
    expect(result.stderr).not.toContain(secret);
  }
  const bodies = api.seen.map(({ body }) => body.toString());
  return { ...result, seen: api.seen, bodies };
}

describe('create', () => {
  test('sends the documented job object, byte for byte', async () => {
    const { code, seen, bodies, stdout } = await run(
      [
        'create',
        '--intake',
        'intake.json',
        '--name',
        'shop',
        '--fields',
        'ClientIP,EdgeStartTimestamp',
        '--fields',
        'RayID',
      ],
      () => succeeded(JOB),
      { CLOUDFLARE_EMAIL: 'ops@example.com', CLOUDFLARE_API_KEY: 'the-global-key' },
    );
    expect(code).toBe(0);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([`POST /client/v4/zones/${ZONE}/logpush/jobs`]);
    expect(seen[0]?.headers).toMatchObject({ 'x-auth-email': 'ops@example.com', 'x-auth-key': 'the-global-key' });
    expect(bodies[0]).toBe(
      `{"name":"shop","output_options":{"field_names":["ClientIP","EdgeStartTimestamp","RayID"],"timestamp_format":"unixnano"},"destination_conf":"${DESTINATION}","dataset":"http_requests","enabled":true}`,
    );
    expect(stdout).toContain('Created job 146.');
    expect(stdout).toContain('header_Authorization=***');
  });

  test('takes the token of a file, and limits of 0', async () => {
    writeFileSync(path.join(directory, 'token'), 'the-token\n');
    const { code, seen, bodies } = await run(
      [
        'create',
        '--intake',
        'intake.json',
        '--token-file',
        'token',
        '--max-bytes',
        '1GB',
        '--max-records',
        '0',
        '--max-interval',
        '5m',
      ],
      () => succeeded(JOB),
      {},
    );
    expect(code).toBe(0);
    expect(seen[0]?.headers.authorization).toBe('Bearer the-token');
    const body = JSON.parse(bodies[0] as string) as Record<string, unknown> & {
      output_options: { field_names: string[] };
    };
    expect(body).toMatchObject({ max_upload_bytes: 1e9, max_upload_records: 0, max_upload_interval_seconds: 300 });
    expect(body.output_options.field_names).toContain('EdgeStartTimestamp');
    expect(body.output_options.field_names).not.toContain('WAFAction');
  });

  test.each([
    [
      409,
      1009,
      'creating a new job is not allowed: exceeded max jobs allowed',
      1,
      /as many log-push jobs as its plan allows/,
    ],
    [403, 1004, "reading job for product 'http_requests' is not allowed (1004)", 4, /"Logs: Write"/],
    [
      400,
      1002,
      `error validating destination: error writing object: error uploading to ${DESTINATION}: 401`,
      1,
      /logpush check/,
    ],
  ])('%i %i is told in a sentence', async (status, apiCode, message, exit, sentence) => {
    const { code, stderr } = await run(['create', '--intake', 'intake.json'], () => failed(status, apiCode, message));
    expect(code).toBe(exit);
    expect(stderr.replace(/\s+/g, ' ')).toMatch(sentence);
  });

  test('--dry-run sends nothing and needs no credentials', async () => {
    const { code, seen, stdout } = await run(
      ['create', '--intake', 'intake.json', '--dry-run'],
      () => succeeded(JOB),
      {},
    );
    expect({ code, requests: seen.length }).toEqual({ code: 0, requests: 0 });
    expect(stdout).toContain(`/client/v4/zones/${ZONE}/logpush/jobs`);
  });

  test('an interrupt ends a request that is not answered', async () => {
    const controller = new AbortController();
    const { code } = await run(
      ['create', '--intake', 'intake.json'],
      () => {
        controller.abort();
        return null;
      },
      TOKEN,
      { cancelled: controller.signal },
    );
    expect(code).toBe(9);
  });
});

describe('list and get', () => {
  const failing = {
    ...JOB,
    id: 147,
    name: null,
    enabled: false,
    error_message: `error 415: error pushing to ${DESTINATION}`,
  };

  test('a table', async () => {
    const { code, stdout } = await run(['list'], () => succeeded([JOB, failing]));
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        'ID   DATASET        NAME  STATE    LAST DELIVERY         DESTINATION',
        '146  http_requests  shop  ok       2026-11-21T07:00:00Z  https://logs.example.com/cloudflare',
        '147  http_requests  -     failing  2026-11-21T07:00:00Z  https://logs.example.com/cloudflare',
        '',
      ].join('\n'),
    );
  });

  test('events', async () => {
    const { stdout } = await run(['list', '--json', '--dataset', 'http_requests'], () =>
      succeeded([JOB, { ...JOB, dataset: 'dns_logs' }]),
    );
    const jobs = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; job?: { id: number } });
    expect(jobs.filter(({ type }) => type === 'logpush_job').map(({ job }) => job?.id)).toEqual([146]);
  });

  test('one in full, with what failed', async () => {
    const { code, stdout } = await run(['get', '147'], () => succeeded(failing));
    expect(code).toBe(0);
    expect(stdout).toContain('fields         RayID, ClientIP');
    expect(stdout).toContain('error 415');
  });

  test('one that is not there', async () => {
    const { code, stderr } = await run(['get', '9'], () => failed(404, 1003, 'job not found'));
    expect(code).toBe(1);
    expect(stderr).toContain('no such job, zone or account');
  });
});

describe('update', () => {
  test('sends what is named, and output_options whole', async () => {
    const { code, seen, bodies } = await run(
      ['update', '146', '--fields', 'RayID,EdgeStartTimestamp', '--enable'],
      () => succeeded(JOB),
    );
    expect(code).toBe(0);
    expect(seen.map(({ method }) => method)).toEqual(['GET', 'PUT']);
    expect(JSON.parse(bodies[1] as string)).toEqual({
      output_options: { ...JOB.output_options, field_names: ['RayID', 'EdgeStartTimestamp'] },
      enabled: true,
    });
  });

  test('new credentials, no filter', async () => {
    const { bodies } = await run(['update', '146', '--new-destination', '--intake', 'intake.json', '--no-filter'], () =>
      succeeded(JOB),
    );
    expect(JSON.parse(bodies[1] as string)).toEqual({ destination_conf: DESTINATION, filter: '' });
  });

  test('nothing to change', async () => {
    const { code, seen } = await run(['update', '146'], () => succeeded(JOB));
    expect({ code, methods: seen.map(({ method }) => method) }).toEqual({ code: 3, methods: ['GET'] });
  });

  test('an intake without --new-destination', async () => {
    const { code, seen } = await run(['update', '146', '--intake', 'intake.json'], () => succeeded(JOB));
    expect({ code, requests: seen.length }).toEqual({ code: 3, requests: 0 });
  });
});

describe('delete', () => {
  test('asks nobody without a terminal, and then deletes nothing', async () => {
    const { code, seen, stderr } = await run(['delete', '146'], () => succeeded(JOB));
    expect({ code, methods: seen.map(({ method }) => method) }).toEqual({ code: 10, methods: ['GET'] });
    expect(stderr).toContain('--yes');
  });

  test.each([
    ['yes\n', 0, ['GET', 'DELETE']],
    ['no\n', 9, ['GET']],
  ])('answered with %j', async (stdin, exit, methods) => {
    const { code, seen } = await run(['delete', '146'], () => succeeded(JOB), TOKEN, { columns: 100, stdin });
    expect({ code, methods: seen.map(({ method }) => method) }).toEqual({ code: exit, methods });
  });

  test('--yes', async () => {
    const { code, seen } = await run(['delete', '146', '-y'], () => succeeded({ id: 146 }));
    expect({ code, methods: seen.map(({ method }) => method) }).toEqual({ code: 0, methods: ['DELETE'] });
  });
});

describe('live catalogue', () => {
  test('fields', async () => {
    const { code, stdout } = await run(['fields', 'dns_logs', '--live'], () =>
      succeeded({
        ColoCode: 'string; IATA airport code',
        QueryType: 'int; integer value of query type',
        Odd: 'something else',
      }),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/ColoCode +string +IATA airport code\n/);
    expect(stdout).toMatch(/Odd +something +something else\n/);
  });

  test('datasets', async () => {
    const { code, stdout } = await run(['datasets', '--live'], ({ url }) =>
      url.includes('/spectrum_events/') ? failed(403, 1004, 'not allowed (1004)') : succeeded({ Timestamp: 'int' }),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/http_requests .* yes\n/);
    expect(stdout).toMatch(/spectrum_events .* no: /);
  });
});

test('files of simulated batches are the same for the same seed', async () => {
  const simulate = (out: string, seed: string) =>
    runCli(
      [
        'logpush',
        'simulate',
        '--out',
        out,
        '--dataset',
        'dns_logs',
        '--rate',
        '2',
        '--from',
        '2026-11-21T07:00:00Z',
        '--duration',
        '2m',
        '--batch-records',
        '100',
        '--seed',
        seed,
      ],
      { cwd: directory },
    );
  const first = await simulate('one', '7');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toMatch(/^Delivered 120 records of dns_logs in 2 batches into one: /);
  await simulate('two', '7');
  await simulate('three', '8');
  const file = (folder: string) => readFileSync(path.join(directory, folder, 'dns_logs-00002.log.gz'));
  expect(file('one').equals(file('two'))).toBe(true);
  expect(file('one').equals(file('three'))).toBe(false);
});
