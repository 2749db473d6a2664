import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_LABELS } from '../series/labels.ts';
import { DATE_FUNCTIONS } from './dates.ts';
import { add, kahan, total } from './kahan.ts';
import * as over from './over-time.ts';
import { quantileOf } from './sliding.ts';
import { type RangeFunction, type Samples, Sweep } from './windows.ts';

const value = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -100, max: 100, noNaN: true }) },
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0) },
);
const series = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), value), { maxLength: 200 }).map((steps) => {
  let time = 0;
  const times = steps.map(([gap]) => (time += gap));
  return { labels: NO_LABELS, times: Float64Array.from(times), values: Float64Array.from(steps, ([, each]) => each) };
});
const vector = fc.record({
  range: fc.integer({ min: 1, max: 2_000 }),
  end: fc.integer({ min: -50, max: 100 }),
  stride: fc.integer({ min: 0, max: 500 }),
});

/** Each window read anew, by the definition. */
function naive(
  f: (window: number[]) => number,
  { times, values }: { times: Float64Array; values: Float64Array },
  at: { range: number; end: number; stride: number },
  steps: number,
) {
  return Array.from({ length: steps }, (_, step) => {
    const end = at.end + step * at.stride;
    const window = [...values].filter((_each, i) => times[i]! > end - at.range && times[i]! <= end);
    return window.length === 0 ? undefined : f(window);
  });
}

function swept(f: RangeFunction, data: Samples, at: { range: number; end: number; stride: number }, steps: number) {
  const out = { values: new Float64Array(steps), present: new Uint8Array(steps) };
  const sweep = new Sweep(data, { ...at, series: [data] }, false, f, out);
  // In slices, so that going on is tested too.
  while (!sweep.advance(7));
  return [...out.values].map((each, i) => (out.present[i] === 1 ? each : undefined));
}

function extreme(sign: number) {
  return (window: number[]) => {
    const numbers = window.filter((each) => !Number.isNaN(each));
    return numbers.length === 0
      ? Number.NaN
      : numbers.reduce((best, each) => (each * sign > best * sign ? each : best));
  };
}

function quantile(q: number) {
  return (window: number[]) => {
    const sorted = [...window].sort((a, b) => (Number.isNaN(a) ? -1 : Number.isNaN(b) ? 1 : a - b));
    const rank = q * (sorted.length - 1);
    const low = Math.floor(rank);
    const high = Math.min(low + 1, sorted.length - 1);
    return sorted[low]! * (1 - (rank - low)) + sorted[high]! * (rank - low);
  };
}

describe('windows that are updated equal windows read anew', () => {
  const pairs = (window: number[], test: (a: number, b: number) => boolean) =>
    window.filter((each, i) => i > 0 && test(window[i - 1]!, each)).length;
  const cases: [string, RangeFunction, (window: number[]) => number][] = [
    ['max_over_time', over.maximum, extreme(1)],
    ['min_over_time', over.minimum, extreme(-1)],
    ['quantile_over_time', over.quantileOver(new Float64Array(30).fill(0.37)), quantile(0.37)],
    ['count_over_time', over.count, (window) => window.length],
    ['last_over_time', over.last, (window) => window.at(-1)!],
    ['resets', over.resets, (window) => pairs(window, (a, b) => b < a)],
    ['changes', over.changes, (window) => pairs(window, (a, b) => a !== b && !(Number.isNaN(a) && Number.isNaN(b)))],
  ];
  test.each(cases)('%s', (_name, f, definition) => {
    fc.assert(
      fc.property(series, vector, (data, at) => {
        const zero = (each: number | undefined) => (each === 0 ? 0 : each);
        expect(swept(f, data, at, 30).map(zero)).toEqual(naive(definition, data, at, 30).map(zero));
      }),
      { numRuns: 300 },
    );
  });
});

describe('sums', () => {
  test('keep what a plain sum loses', () => {
    const k = kahan();
    for (const each of [1, 1e100, 1, -1e100]) add(k, each);
    expect(total(k)).toBe(2);
  });

  test('the mean of numbers whose sum overflows', () => {
    const data = {
      labels: NO_LABELS,
      times: Float64Array.of(1, 2, 3),
      values: Float64Array.of(1.5e308, 1.5e308, 0.9e308),
    };
    const [mean] = swept(over.average, data, { range: 10, end: 3, stride: 1 }, 1);
    expect(mean! / 1.3e308).toBeCloseTo(1, 12);
  });

  test('quantiles outside 0 to 1', () => {
    const values = Float64Array.of(3, 1, 2);
    expect([-1, 0, 0.5, 1, 2, Number.NaN].map((q) => quantileOf(q, values))).toEqual([
      Number.NEGATIVE_INFINITY,
      1,
      2,
      3,
      Number.POSITIVE_INFINITY,
      Number.NaN,
    ]);
    expect(quantileOf(0.5, new Float64Array(0))).toBeNaN();
  });
});

test('parts of dates agree with Date', () => {
  const part = (name: string, seconds: number) => DATE_FUNCTIONS.get(name)!(seconds);
  fc.assert(
    fc.property(fc.integer({ min: -8.6e12, max: 8.6e12 }), (seconds) => {
      const date = new Date(seconds * 1000);
      expect(part('year', seconds)).toBe(date.getUTCFullYear());
      expect(part('month', seconds)).toBe(date.getUTCMonth() + 1);
      expect(part('day_of_month', seconds)).toBe(date.getUTCDate());
      expect(part('day_of_week', seconds)).toBe(date.getUTCDay());
      expect(part('hour', seconds)).toBe(date.getUTCHours());
      expect(part('minute', seconds)).toBe(date.getUTCMinutes());
      const year = date.getUTCFullYear();
      const newYear = new Date(0).setUTCFullYear(year, 0, 1);
      expect(part('day_of_year', seconds)).toBe(Math.floor((date.getTime() - newYear) / 86_400_000) + 1);
      const monthEnd = new Date(new Date(0).setUTCFullYear(year, date.getUTCMonth() + 1, 0));
      expect(part('days_in_month', seconds)).toBe(monthEnd.getUTCDate());
    }),
    { numRuns: 2_000 },
  );
  expect(part('minute', 59.99)).toBe(0);
});
