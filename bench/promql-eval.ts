/**
 * `npm run bench -- promql-eval`: range queries in our engine beside a real Prometheus in the same run.
 * Both hold the same samples; ours in memory, Prometheus in its own database. Prometheus' figure is the evaluation
 * time it reports itself (`stats`), without HTTP and JSON; it refuses more than 11,000 steps, so that a long range is
 * asked in parts and the parts are added up. Rounds take turns; the fastest round of each counts, since the machine
 * does other things too. The first and last points of both answers are compared.
 */
import os from 'node:os';
import {
  labelsOf,
  labelsRecord,
  MemoryStorage,
  type Points,
  parse,
  queryRange,
  type SeriesData,
} from '../packages/promql/src/index.ts';
import { type Prometheus, prometheusBinary, startPrometheus } from '../tasks/prometheus.ts';
import { printTable } from './process.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const INTERVAL = 15_000;
const END = 1_700_000_000_000 - (1_700_000_000_000 % MINUTE);
const START = END - 30 * DAY;
const PART = 10_080;

/** Repeats exactly (a linear congruential generator). */
let state = 42;
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 4_294_967_296;
}

function series(labels: Record<string, string>, from: number, next: (before: number) => number): SeriesData {
  const count = Math.floor((END - from) / INTERVAL) + 1;
  const times = new Float64Array(count);
  const values = new Float64Array(count);
  let value = 0;
  for (let i = 0; i < count; i++) {
    value = next(value);
    times[i] = from + i * INTERVAL;
    values[i] = value;
  }
  return { labels: labelsOf(labels), times, values, stale: undefined };
}

const counter = (speed: number) => (before: number) => (random() < 0.0001 ? 0 : before + random() * speed);
const gauge = (before: number) => before + random() - 0.5;

function dataset(): SeriesData[] {
  const out: SeriesData[] = [];
  for (let i = 0; i < 5; i++) {
    out.push(series({ __name__: 'requests_total', instance: `i${i}` }, START - 3_600_000, counter(100)));
    out.push(series({ __name__: 'errors_total', instance: `i${i}` }, START - 3_600_000, counter(3)));
    out.push(series({ __name__: 'temperature', instance: `i${i}` }, START - 3_600_000, gauge));
  }
  for (let i = 0; i < 100; i++) {
    for (const [b, le] of ['0.01', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '+Inf'].entries()) {
      out.push(series({ __name__: 'latency_bucket', instance: `i${i}`, le }, END - 7 * 3_600_000, counter(1 + b)));
    }
  }
  return out;
}

interface Case {
  readonly name: string;
  readonly query: string;
  readonly start: number;
}

const CASES: readonly Case[] = [
  {
    name: 'error ratio, 10 counters',
    query: 'sum(rate(errors_total[5m])) / sum(rate(requests_total[5m]))',
    start: START,
  },
  { name: 'rate, 5 counters', query: 'rate(requests_total[5m])', start: START },
  { name: 'max_over_time[1h], 5 series', query: 'max_over_time(temperature[1h])', start: START },
  { name: 'avg_over_time[1h], 5 series', query: 'avg_over_time(temperature[1h])', start: START },
  { name: 'quantile_over_time[10m], 5 series', query: 'quantile_over_time(0.95, temperature[10m])', start: START },
  {
    name: 'quantile_over_time[6h], 5 series',
    query: 'quantile_over_time(0.95, temperature[6h])',
    start: END - 7 * DAY,
  },
  { name: 'subquery, 5 counters', query: 'max_over_time(rate(requests_total[5m])[30m:1m])', start: START },
  { name: 'subquery over a sum', query: 'avg_over_time(sum(rate(requests_total[5m]))[1h:1m])', start: START },
  { name: 'selector and comparison, 5 series', query: 'temperature > -1e9', start: START },
  {
    name: 'histogram_quantile, 1,000 buckets, 6 h',
    query: 'histogram_quantile(0.99, rate(latency_bucket[5m]))',
    start: END - 6 * 3_600_000,
  },
  {
    name: 'histogram_quantile of a sum, 6 h',
    query: 'histogram_quantile(0.99, sum by (le) (rate(latency_bucket[5m])))',
    start: END - 6 * 3_600_000,
  },
];

interface Measured {
  readonly milliseconds: number;
  /** First and last value of every series, as a check. */
  readonly check: readonly number[];
}

async function ours({ query, start }: Case, storage: MemoryStorage): Promise<Measured> {
  const began = performance.now();
  const parsed = parse(query);
  if (!parsed.ok) throw new Error(parsed.problems[0]!.message);
  const { series } = await queryRange(parsed.expr, { storage, start, end: END, step: MINUTE });
  const milliseconds = performance.now() - began;
  return { milliseconds, check: series.flatMap(({ values }: Points) => [values[0]!, values.at(-1)!]) };
}

interface StatsAnswer {
  readonly result: readonly { readonly values: readonly (readonly [number, string])[] }[];
  readonly stats: { readonly timings: { readonly evalTotalTime: number } };
}

async function theirs({ query, start }: Case, server: Prometheus): Promise<Measured> {
  let seconds = 0;
  const first: number[] = [];
  let last: number[] = [];
  for (let from = start; from <= END; from += (PART + 1) * MINUTE) {
    const to = Math.min(END, from + PART * MINUTE);
    const form = { query, start: String(from / 1000), end: String(to / 1000), step: '60', stats: 'all' };
    const { body } = await server.ask('/api/v1/query_range', form);
    if (body.status !== 'success') throw new Error(body.error);
    const { result, stats } = body.data as StatsAnswer;
    seconds += stats.timings.evalTotalTime;
    if (first.length === 0) first.push(...result.map(({ values }) => Number(values[0]![1])));
    last = result.map(({ values }) => Number(values.at(-1)![1]));
  }
  return { milliseconds: seconds * 1000, check: first.flatMap((value, i) => [value, last[i]!]) };
}

function agree(a: readonly number[], b: readonly number[]): boolean {
  const near = (x: number, y = Number.NaN) =>
    Object.is(x, y) || Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
  return a.length === b.length && a.every((value, i) => near(value, b[i]));
}

const { binary, reason } = await prometheusBinary();
if (!binary) throw new Error(reason);
console.log(
  `node ${process.version}, Prometheus ${binary.version}, ${os.cpus()[0]?.model ?? 'unknown processor'}, ${os.cpus().length} cores`,
);
// One block longer than the data: Prometheus keeps all of it in its head and has no compaction to do meanwhile.
const flags = ['--storage.tsdb.min-block-duration=60d', '--storage.tsdb.max-block-duration=60d'];
const server = await startPrometheus({ binary: binary.path, flags });
try {
  const data = dataset();
  await server.write(
    data.map((each) => ({ labels: labelsRecord(each.labels), times: each.times, values: each.values })),
  );
  const storage = new MemoryStorage().add(data);
  console.log(
    `${data.length} series, ${data.reduce((sum, { times }) => sum + times.length, 0).toLocaleString('en')} samples`,
  );
  const rows: (readonly string[])[] = [];
  for (const each of CASES) {
    const best = { ours: Number.POSITIVE_INFINITY, theirs: Number.POSITIVE_INFINITY };
    for (let round = 0; round < ROUNDS; round++) {
      const [a, b] = [await ours(each, storage), await theirs(each, server)];
      if (!agree(a.check, b.check)) throw new Error(`${each.name}: the answers differ`);
      best.ours = Math.min(best.ours, a.milliseconds);
      best.theirs = Math.min(best.theirs, b.milliseconds);
    }
    const steps = (END - each.start) / MINUTE + 1;
    const ratio = `${(best.ours / best.theirs).toFixed(2)}×`;
    rows.push([each.name, steps.toLocaleString('en'), best.ours.toFixed(0), best.theirs.toFixed(0), ratio]);
  }
  printTable(['query', 'steps', 'ours ms', 'Prometheus ms', 'ours / Prometheus'], rows);
} finally {
  await server.stop();
}
