/**
 * `npm run bench -- logs-intake [RECORDS]`: records a second and CPU a million records of the log intake, http_requests in gzip
 * batches of 5 MB and of 50 MB, beside gunzip and the engine's own bulk load of the same files in the same run.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATASETS } from '@obsiac/model';
import { createEngineClient } from '../packages/service/src/engine/index.ts';
import { printTable } from './process.ts';

const root = path.dirname(import.meta.dirname);
const records = Number(process.argv[2] ?? 300_000);
const IN_FLIGHT = 4;
const CLOCK_TICKS = 100;

const COLUMN_TYPES: Readonly<Record<string, string>> = {
  int: 'Int64',
  float: 'Float64',
  bool: 'Bool',
  string: 'String',
  'int or string': 'Int64',
  'array[string]': 'Array(String)',
  'array[int]': 'Array(Int64)',
};

interface Cost {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** In active parts, right after the load. */
  readonly bytes: number;
  /** After all parts of each partition were merged into one. */
  readonly mergedBytes: number;
}

interface IntakeCost extends Cost {
  /** Seconds until every batch was acknowledged. */
  readonly acknowledged: number;
  /** Milliseconds from the start of the process until it answered, and until logs could be searched. */
  readonly answered: number;
  readonly searchable: number;
}

function simulate(folder: string, batchBytes: string): void {
  const rate = records / 3600;
  const args = [
    'logpush',
    'simulate',
    '--out',
    folder,
    '--rate',
    String(rate),
    '--duration',
    '1h',
    '--batch-bytes',
    batchBytes,
  ];
  const result = spawnSync(
    process.execPath,
    [path.join(root, 'packages/cli/bin/obsiac.js'), ...args, '--batch-records', '1000000'],
    {
      encoding: 'utf8',
    },
  );
  if (result.status !== 0) throw new Error(result.stderr);
}

/** CPU seconds that a process and its children have used so far (Linux, /proc). */
function cpuOf(pid: number): number {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== undefined && (stat.pid === pid || stat.parent === pid));
  return children.reduce((sum, stat) => sum + (stat?.ticks ?? 0), 0) / CLOCK_TICKS;
}

function statOf(pid: number): { pid: number; parent: number; ticks: number } | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { pid, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}

async function status(origin: string): Promise<{ state: string; loaded: number; waiting: number }> {
  const answer = await fetch(`${origin}/readyz`)
    .then((response) => response.json())
    .catch(() => undefined);
  const logs = (answer as { logs?: { state: string; spool: { records: number }; loader: { loaded_records: number } } })
    ?.logs;
  return { state: logs?.state ?? '', loaded: logs?.loader?.loaded_records ?? 0, waiting: logs?.spool?.records ?? 0 };
}

async function measureIntake(batches: string): Promise<IntakeCost> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-'));
  const serve = ['serve', '--data-dir', dataDir, '--port', '0'];
  const spawned = performance.now();
  const service = spawn(process.execPath, [path.join(root, 'packages/service/bin/obsiac-service.js'), ...serve], {
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => service.on('exit', resolve));
  try {
    let intake = readIntake(dataDir);
    for (; intake === undefined || (await status(intake.endpoint)).state === ''; intake = readIntake(dataDir))
      await sleep(10);
    const answered = performance.now() - spawned;
    while ((await status(intake.endpoint)).state !== 'ready') await sleep(10);
    const searchable = performance.now() - spawned;
    const cpuBefore = cpuOf(service.pid as number);
    const started = performance.now();
    const accepted = await deliver(batches, intake);
    const acknowledged = (performance.now() - started) / 1000;
    for (
      let state = await status(intake.endpoint);
      state.loaded < accepted || state.waiting > 0;
      state = await status(intake.endpoint)
    )
      await sleep(100);
    const seconds = (performance.now() - started) / 1000;
    const cpuSeconds = cpuOf(service.pid as number) - cpuBefore;
    return { seconds, acknowledged, answered, searchable, cpuSeconds, ...(await sizesOf(dataDir)) };
  } finally {
    service.kill('SIGTERM');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Bytes of the log table, as it is and merged. */
async function sizesOf(dataDir: string): Promise<{ bytes: number; mergedBytes: number }> {
  const client = createEngineClient(
    { socketPath: path.join(dataDir, 'logs', 'engine', 'engine.sock') },
    { requestTimeout: 600_000, maxConnections: 1 },
  );
  const size = async () => {
    const query =
      "SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 'obsiac' AND table = 'logs'";
    return Number((await (await client.query({ query, format: 'JSONEachRow' })).json<{ bytes: string }>())[0]?.bytes);
  };
  const bytes = await size();
  await client.command({ query: 'OPTIMIZE TABLE obsiac.logs FINAL' });
  const mergedBytes = await size();
  await client.close();
  return { bytes, mergedBytes };
}

function readIntake(dataDir: string): { endpoint: string; authorization: string } | undefined {
  try {
    return JSON.parse(readFileSync(path.join(dataDir, 'intake.json'), 'utf8')) as {
      endpoint: string;
      authorization: string;
    };
  } catch {
    return undefined;
  }
}

async function deliver(batches: string, intake: { endpoint: string; authorization: string }): Promise<number> {
  const files = readdirSync(batches).sort();
  let accepted = 0;
  const sender = async () => {
    for (let file = files.shift(); file !== undefined; file = files.shift()) {
      const body = readFileSync(path.join(batches, file));
      const headers = { authorization: intake.authorization, 'content-encoding': 'gzip' };
      const response = await fetch(`${intake.endpoint}/cloudflare`, { method: 'POST', body, headers });
      if (response.status === 503) {
        await response.arrayBuffer();
        await sleep(1000 * Number(response.headers.get('retry-after') ?? 1));
        files.unshift(file);
      } else {
        accepted += ((await response.json()) as { accepted: number }).accepted;
      }
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  return accepted;
}

function measureLimit(batches: string): Cost & { readonly rows: number } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-'));
  const fields = Object.entries(DATASETS['http_requests']?.fields ?? {}).filter(
    ([, field]) => field.type in COLUMN_TYPES,
  );
  const columns = Object.fromEntries(fields.map(([name, field]) => [name, COLUMN_TYPES[field.type] as string]));
  const result = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, 'engine-load.mjs'), batches, folder, JSON.stringify(columns)],
    {
      encoding: 'utf8',
    },
  );
  rmSync(folder, { recursive: true, force: true });
  if (result.status !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout.trim().split('\n').at(-1) as string);
}

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);

const rows: (string | number)[][] = [];
const starts: string[] = [];
for (const batchBytes of ['5MB', '50MB']) {
  const batches = path.join(mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-')), 'batches');
  mkdirSync(batches);
  simulate(batches, batchBytes);
  const limit = measureLimit(batches);
  const intake = await measureIntake(batches);
  const million = limit.rows / 1e6;
  const row = (name: string, seconds: number, cost?: Cost) => [
    `${name}, ${batchBytes}`,
    limit.rows,
    limit.rows / seconds,
    ...(cost
      ? [cost.cpuSeconds / million, cost.bytes / limit.rows, cost.mergedBytes / limit.rows, limit.seconds / seconds]
      : ['', '', '', limit.seconds / seconds]),
    cost ? cost.cpuSeconds / limit.cpuSeconds : '',
  ];
  rows.push(row('gunzip + bulk load', limit.seconds, limit));
  rows.push(row('intake until searchable', intake.seconds, intake));
  rows.push(row('intake until acknowledged', intake.acknowledged));
  rows.push([
    `the batches themselves (gzip), ${batchBytes}`,
    limit.rows,
    '',
    '',
    sizeOf(batches) / limit.rows,
    '',
    '',
    '',
  ]);
  starts.push(
    `${Math.round(intake.answered)} ms until it answers, ${Math.round(intake.searchable)} ms until logs can be searched`,
  );
  rmSync(path.dirname(batches), { recursive: true });
}
const header = ['', 'records', 'records/s', 'CPU s a million', 'bytes a record', 'merged', 'speed ratio', 'CPU ratio'];
printTable(header, rows);
for (const start of starts) console.log(`start of the service: ${start}`);
