/**
 * `npm run bench -- rule-evaluation [RULES] [MINUTES]`: CPU, lag and memory of evaluating rules once a minute, beside vmalert on the
 * same VictoriaMetrics with the same rules in the same run. Half of the rules are a plain gauge of five series, half an error ratio
 * of two sums of rates. vmalert runs them twice: as its users write them (`expr > T` with `for: 5m`), and deciding what ours
 * decide (five bad minutes of the last ten, counted by the server). It writes no state back, which spares it work.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { debianBinaryOrReason } from '../tasks/debian.ts';
import { remoteWriteBodies, type WrittenSeries } from '../tasks/remote-write.ts';
import { startVictoriaMetrics, victoriaMetricsBinary } from '../tasks/victoria-metrics.ts';
import { printTable } from './process.ts';

const root = path.dirname(import.meta.dirname);
const RULES = Number(process.argv[2] ?? 2000);
const MINUTES = Number(process.argv[3] ?? 3);
const GROUP = 50;
const SCRAPE_MS = 15_000;
const BACK_MS = 20 * 60_000;
/** Minutes of each of the three measurements, with what they need to begin. */
const AHEAD_MS = (3 * (MINUTES + 2) + 5) * 60_000;
const CLOCK_TICKS = 100;
/** Services whose error ratio is bad: one of a hundred. */
const isBad = (service: number) => service % 100 === 7;

interface Process {
  readonly pid: number;
}

interface Measured {
  readonly name: string;
  readonly evaluator: number;
  readonly source: number;
  readonly rssMiB: number;
  readonly lag: string;
}

function cpuOf({ pid }: Process): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}

function rssOf({ pid }: Process): number {
  const kib = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}

/** The child of this process that runs a program. */
function childNamed(name: string): Process {
  for (const entry of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      const parent = Number(stat.replace(/^.*\) /s, '').split(' ')[1]);
      if (parent === process.pid && stat.includes(`(${name}`)) return { pid: Number(entry) };
    } catch {
      // It has ended in between.
    }
  }
  throw new Error(`no process ${name}`);
}

const gaugeQuery = (service: number) => `cpu_usage{service="s${service}"}`;
const ratioQuery = (service: number) =>
  `sum(rate(errors_total{service="s${service}"}[5m])) / sum(rate(requests_total{service="s${service}"}[5m]))`;

interface Rule {
  readonly name: string;
  readonly query: string;
  readonly threshold: number;
}

const rules: Rule[] = Array.from({ length: RULES }, (_, index) => ({
  name: `Rule ${index}`,
  query: index % 2 === 0 ? gaugeQuery(index) : ratioQuery(index),
  threshold: index % 2 === 0 ? 95 : 0.05,
}));

/** Nine series of a service: five gauges and four counters, as of now and for the length of the run. */
function seriesOf(service: number, from: number, to: number): WrittenSeries[] {
  const times: number[] = [];
  for (let time = from; time < to; time += SCRAPE_MS) times.push(time);
  const make = (name: string, instance: number, value: (index: number) => number) => ({
    labels: { __name__: name, service: `s${service}`, instance: `i${instance}` },
    times,
    values: times.map((_, index) => value(index)),
  });
  const gauges = Array.from({ length: 5 }, (_, instance) =>
    make('cpu_usage', instance, (index) => 40 + 20 * Math.sin((index + instance * 7 + service) / 9)),
  );
  const errors = isBad(service) ? 2 : 0.1;
  const counters = [0, 1].flatMap((instance) => [
    make('requests_total', instance, (index) => index * 15 * 10),
    make('errors_total', instance, (index) => index * 15 * errors),
  ]);
  return [...gauges, ...counters];
}

async function load(url: string, from: number, to: number): Promise<number> {
  let samples = 0;
  const batch = 100;
  for (let first = 0; first < RULES; first += batch) {
    const count = Math.min(batch, RULES - first);
    const series = Array.from({ length: count }, (_, index) => seriesOf(first + index, from, to)).flat();
    for (const body of remoteWriteBodies(series)) {
      const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };
      const answer = await fetch(`${url}/api/v1/write`, { method: 'POST', body, headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`remote write: ${answer.status}`);
    }
    samples += series.reduce((sum, { values }) => sum + values.length, 0);
  }
  return samples;
}

type Form = 'for' | 'counted';

function vmalertRules(form: Form): string {
  const groups = Math.ceil(RULES / GROUP);
  const toRule = ({ name, query, threshold }: Rule) =>
    form === 'for'
      ? { alert: name, expr: `${query} > ${threshold}`, for: '5m', labels: { severity: 'breach' } }
      : {
          alert: name,
          expr: `sum_over_time((${query} > bool ${threshold})[10m:1m]) >= 5`,
          labels: { severity: 'breach' },
        };
  return stringify({
    groups: Array.from({ length: groups }, (_, group) => ({
      name: `group-${group}`,
      interval: '1m',
      rules: rules.slice(group * GROUP, (group + 1) * GROUP).map(toRule),
    })),
  });
}

function model(): string {
  const entities = Math.ceil(RULES / GROUP);
  return stringify({
    entities: Array.from({ length: entities }, (_, group) => {
      const mine = rules.slice(group * GROUP, (group + 1) * GROUP);
      return {
        name: `Services ${group}`,
        type: 'service',
        external_ref: `services-${group}`,
        entity_class: 'alert-manager',
        data_source: 'victoria',
        indicators: mine.map(({ name, query }) => ({ name, query })),
        alert_rules: mine.map(({ name, threshold }) => ({
          name,
          indicator: name,
          greater_than: threshold,
          bad_minutes: 5,
          total_minutes: 10,
          severity: 'breach',
        })),
      };
    }),
  });
}

/** Waits a minute for the first round, then counts whole minutes. */
async function measureMinutes(evaluator: Process, source: Process): Promise<{ evaluator: number; source: number }> {
  await sleep(75_000);
  const before = { evaluator: cpuOf(evaluator), source: cpuOf(source) };
  await sleep(MINUTES * 60_000);
  return {
    evaluator: (cpuOf(evaluator) - before.evaluator) / MINUTES,
    source: (cpuOf(source) - before.source) / MINUTES,
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

async function runVmalert(home: string, url: string, source: Process, form: Form): Promise<Measured> {
  const found = await debianBinaryOrReason({ package: 'victoria-metrics', suite: 'sid', binary: 'vmalert' });
  if (!found.binary) throw new Error(found.reason);
  const file = path.join(home, `${form}.yaml`);
  writeFileSync(file, vmalertRules(form));
  const port = 20_000 + (process.pid % 20_000);
  const flags = [`-rule=${file}`, `-datasource.url=${url}`, '-notifier.blackhole', `-httpListenAddr=127.0.0.1:${port}`];
  const child = spawn(found.binary.path, flags, { stdio: 'ignore' });
  try {
    const pid = { pid: child.pid! };
    const cpu = await measureMinutes(pid, source);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const slowest = [...metrics.matchAll(/^vmalert_iteration_duration_seconds\{[^}]*quantile="0\.99"[^}]*\} (\S+)/gm)];
    const missed = [...metrics.matchAll(/^vmalert_iteration_missed_total\S* (\d+)/gm)];
    const worst = Math.max(...slowest.map((match) => Number(match[1])));
    const lag = `group p99 ${worst.toFixed(2)} s, missed ${missed.reduce((sum, match) => sum + Number(match[1]), 0)}`;
    const name = form === 'for' ? 'vmalert, for: 5m' : 'vmalert, 5 of 10 minutes';
    return { name, ...cpu, rssMiB: rssOf(pid), lag };
  } finally {
    await end(child);
  }
}

const service = path.join(root, 'packages/service/bin/obsiac-service.js');
const cli = path.join(root, 'packages/cli/bin/obsiac.js');

async function runObsiac(home: string, url: string, source: Process): Promise<Measured> {
  const dataDir = path.join(home, 'data');
  const flags = ['serve', '--data-dir', dataDir, '--port', '0', '--no-logs'];
  const child = spawn(process.execPath, [service, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const origin = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text = (text + chunk.toString()).slice(-20_000);
        const found = /"origin":"([^"]+)"/.exec(text)?.[1];
        if (found) resolve(found);
      });
      child.once('exit', () => reject(new Error(text)));
    });
    await prepare(dataDir, url);
    const pid = { pid: child.pid! };
    const cpu = await measureMinutes(pid, source);
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    const minutes = (result: string) =>
      Number(new RegExp(`^obsiac_evaluator_minutes_total\\{result="${result}"\\} (\\d+)`, 'm').exec(metrics)?.[1] ?? 0);
    const firing = /^obsiac_evaluator_firing_series (\d+)/m.exec(metrics)?.[1];
    const lag = `p99 ${quantileOf(metrics, 0.99)}, late ${minutes('late')}, missed ${minutes('missed')}, ${firing} firing`;
    return { name: 'obsiac', ...cpu, rssMiB: rssOf(pid), lag };
  } finally {
    await end(child);
  }
}

/** The data source and the rules, by the tool as a user would. */
async function prepare(dataDir: string, url: string): Promise<void> {
  const config = path.join(dataDir, 'config.json');
  const { write } = (JSON.parse(readFileSync(config, 'utf8')) as { api_config: Record<string, Credential> }).api_config;
  const token = await post(`${write!.api_base_url}/oauth/access_token`, { refresh_token: write!.refresh_token });
  const source = { name: 'victoria', url, properties: { flavour: 'victoriametrics' } };
  const organization = `${write!.api_base_url}/organizations/${write!.org}`;
  await post(`${organization}/datasources`, source, String(token['access_token']));
  const file = path.join(dataDir, 'model.yaml');
  writeFileSync(file, model());
  const applied = spawnSync(process.execPath, [cli, '-mf', file, '-c', config, 'apply', '-y'], {
    encoding: 'utf8',
    maxBuffer: 256_000_000,
  });
  if (applied.status !== 0) throw new Error(applied.stderr.slice(-2000));
}

interface Credential {
  readonly refresh_token: string;
  readonly api_base_url: string;
  readonly org: string;
}

async function post(url: string, body: unknown, token?: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token && { 'x-last9-api-token': `Bearer ${token}` }) };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}

/** The upper end of the bucket that holds the quantile. */
function quantileOf(metrics: string, quantile: number): string {
  const buckets = [...metrics.matchAll(/^obsiac_evaluator_lag_seconds_bucket\{le="([^"]+)"\} (\d+)/gm)];
  const total = Number(buckets.at(-1)?.[2] ?? 0);
  const found = buckets.find((bucket) => Number(bucket[2]) >= total * quantile);
  return found ? `≤ ${found[1]} s` : 'unknown';
}

const home = mkdtempSync(path.join(os.tmpdir(), 'obsiac-rule-bench-'));
mkdirSync(path.join(home, 'data'), { mode: 0o700 });
const program = await victoriaMetricsBinary();
if (!program.binary) throw new Error(program.reason);
const server = await startVictoriaMetrics({ binary: program.binary.path });
try {
  const source = childNamed('victoria-metric');
  const now = Date.now();
  const samples = await load(server.url, now - BACK_MS, now + AHEAD_MS);
  await fetch(`${server.url}/internal/force_flush`);
  console.log(
    `${RULES} rules, ${RULES * 9} series, ${samples} samples in one VictoriaMetrics; ${MINUTES} minutes each`,
  );
  const measured = [
    await runVmalert(home, server.url, source, 'for'),
    await runVmalert(home, server.url, source, 'counted'),
    await runObsiac(home, server.url, source),
  ];
  const total = ({ evaluator, source: asked }: Measured) => evaluator + asked;
  const ours = measured.at(-1)!;
  printTable(
    ['CPU seconds a round', 'evaluator', 'data source', 'together', 'obsiac / it', 'peak MiB', 'lag'],
    measured.map((each) => [
      each.name,
      each.evaluator,
      each.source,
      total(each),
      total(ours) / total(each),
      each.rssMiB,
      each.lag,
    ]),
  );
  console.log('Targets: together no more than vmalert; p99 of the lag at most 5 s.');
} finally {
  await server.stop();
  rmSync(home, { recursive: true, force: true });
}
