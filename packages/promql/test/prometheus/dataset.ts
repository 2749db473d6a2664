/** The series that both engines are asked about: counters, gauges, buckets, with every irregularity that data has. */
import { compareLabels, labelsOf } from '../../src/series/labels.ts';
import type { SeriesData } from '../../src/storage/storage.ts';
import { Random } from './random.ts';

/** First and last time of the data, milliseconds. Neither is a round minute. */
export const DATA_START = 1_700_000_007_123;
export const DATA_END = DATA_START + 3 * 3_600_000;

interface Shape {
  /** Milliseconds between samples. */
  readonly interval: number;
  /** Samples come up to so many milliseconds late. */
  readonly jitter: number;
  /** How likely a gap starts at a sample, and whether the series is marked stale then. */
  readonly gap: number;
  readonly marked: boolean;
}

const SHAPES: readonly Shape[] = [
  { interval: 15_000, jitter: 0, gap: 0, marked: false },
  { interval: 15_000, jitter: 0, gap: 0.01, marked: true },
  { interval: 15_000, jitter: 900, gap: 0.004, marked: true },
  { interval: 15_000, jitter: 0, gap: 0.01, marked: false },
  { interval: 60_000, jitter: 3_000, gap: 0.02, marked: false },
  { interval: 280_000, jitter: 40_000, gap: 0, marked: false },
];

/** Gives the value of a sample from the one before it. */
type Walk = (before: number, random: Random) => number;

const counter: Walk = (before, random) => {
  if (random.chance(0.006)) return random.chance(0.5) ? 0 : random.next() * 20;
  return random.chance(0.2) ? before : before + random.next() * 10 ** random.integer(0, 2);
};

const wholeCounter: Walk = (before, random) => (random.chance(0.004) ? 0 : before + random.integer(0, 3));

const gauge: Walk = (before, random) => (random.chance(0.1) ? before : before + (random.next() - 0.5) * 7);

const upDown: Walk = (before, random) => (random.chance(0.05) ? 1 - before : before);

const odd: Walk = (_before, random) =>
  random.weighted([
    [6, random.next() * 100 - 50],
    [2, Number.NaN],
    [1, Number.POSITIVE_INFINITY],
    [1, Number.NEGATIVE_INFINITY],
    [2, random.pick([0, -0, 1, -1, 0.5])],
    [1, random.pick([1e300, -1.5e308, 1.7e308, 3e-308, 2 ** 53, 1e21, 1e-7])],
    [1, random.integer(-3, 3)],
  ]);

function makeSeries(labels: Record<string, string>, walk: Walk, first: number, random: Random): SeriesData {
  const shape = random.pick(SHAPES);
  const times: number[] = [];
  const values: number[] = [];
  const stale: number[] = [];
  let value = first;
  let skipUntil = 0;
  const born = random.chance(0.2) ? DATA_START + random.integer(0, 3_600_000) : DATA_START + random.integer(0, 20_000);
  const dies = random.chance(0.2) ? DATA_END - random.integer(0, 3_600_000) : DATA_END;
  for (let base = born; base <= dies; base += shape.interval) {
    value = walk(value, random);
    const time = base + (shape.jitter > 0 ? random.integer(0, shape.jitter) : 0);
    if (time < skipUntil) continue;
    const gap = random.chance(shape.gap);
    times.push(time);
    values.push(value);
    stale.push(gap && shape.marked ? 1 : 0);
    if (gap) skipUntil = time + random.pick([40_000, 200_000, 290_000, 301_000, 700_000, 1_800_000]);
  }
  if (dies < DATA_END && random.chance(0.7) && times.length > 0) {
    times.push(times.at(-1)! + 15_000);
    values.push(0);
    stale.push(1);
  }
  return {
    labels: labelsOf(labels),
    times: Float64Array.from(times),
    values: Float64Array.from(values, (each, i) => (stale[i] === 1 ? Number.NaN : each)),
    stale: stale.includes(1) ? Uint8Array.from(stale) : undefined,
  };
}

const INSTANCES = ['a:1', 'b:2', 'c:3'] as const;
const JOBS = ['api', 'web'] as const;
const BOUNDS = ['0.1', '0.5', '1', '2.5', '1e1', '+Inf'] as const;

/** Bucket series of one histogram. They share their times; now and then a count goes wrong, as in real systems. */
function buckets(labels: Record<string, string>, bounds: readonly string[], random: Random): SeriesData[] {
  const shape = makeSeries(labels, (before) => before, 0, random);
  const counts = bounds.map(() => 0);
  const columns = bounds.map(() => new Float64Array(shape.times.length));
  shape.times.forEach((_, i) => {
    if (random.chance(0.003)) counts.fill(0);
    for (let n = random.integer(0, 6); n > 0; n--) {
      const reached = random.integer(0, bounds.length - 1);
      for (let b = reached; b < bounds.length; b++) counts[b]! += 1;
    }
    for (let b = 0; b < bounds.length; b++) {
      columns[b]![i] = Math.max(0, counts[b]! - (random.chance(0.004) ? random.integer(1, 5) : 0));
    }
  });
  return bounds.map((le, b) => ({
    labels: labelsOf({ ...labels, le }),
    times: shape.times,
    values: columns[b]!,
    stale: shape.stale,
  }));
}

/** All series of a seed, sorted by labels so that both engines meet them in the same order. */
export function makeDataset(seed: number): SeriesData[] {
  const random = new Random(seed);
  const out: SeriesData[] = [];
  const plain = (labels: Record<string, string>, walk: Walk, first: number) => {
    out.push(makeSeries(labels, walk, first, random));
  };
  for (const job of JOBS) {
    for (const instance of INSTANCES) {
      const where = { job, instance };
      for (const code of ['200', '404', '500']) {
        plain({ __name__: 'requests_total', ...where, code }, counter, random.next() * 1000);
      }
      plain({ __name__: 'errors_total', ...where }, wholeCounter, random.integer(0, 50));
      plain({ __name__: 'temperature', ...where, zone: random.pick(['x', 'y']) }, gauge, random.next() * 40 - 10);
      plain({ __name__: 'limit', ...where, zone: random.pick(['x', 'y']) }, gauge, 20);
      plain({ __name__: 'up', ...where }, upDown, 1);
      plain({ __name__: 'build_info', ...where, version: random.pick(['v1', 'v2']) }, () => 1, 1);
    }
    plain({ __name__: 'quota', job }, gauge, 100);
    plain({ __name__: 'odd', job, kind: 'random' }, odd, 0);
    plain({ __name__: 'odd', job, kind: 'nan' }, () => Number.NaN, 0);
    plain({ __name__: 'odd', job, kind: 'huge' }, (_, r) => (r.next() - 0.3) * 1.7e308, 0);
    out.push(...buckets({ __name__: 'latency_bucket', job, instance: 'a:1' }, BOUNDS, random));
  }
  out.push(...buckets({ __name__: 'latency_bucket', job: 'api', instance: 'b:2' }, BOUNDS, random));
  out.push(...buckets({ __name__: 'size_bucket', job: 'api' }, ['-5', '0', '5', 'Inf', 'wrong'], random));
  out.push(...buckets({ __name__: 'size_bucket', job: 'open' }, ['1', '2', '4'], random));
  plain({ __name__: 'metric.with dots', 'a label': 'é"\\' }, gauge, 3);
  plain({ __name__: 'lonely' }, gauge, 1);
  return out.filter(({ times }) => times.length > 0).sort((a, b) => compareLabels(a.labels, b.labels));
}
