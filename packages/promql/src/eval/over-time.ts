/** The functions that aggregate a window of one series: avg_over_time and its family, changes, resets, deriv. */
import { add, type Kahan, kahan } from './kahan.ts';
import { SlidingMaximum, SortedWindow } from './sliding.ts';
import type { RangeFunction, Samples } from './windows.ts';

export const count: RangeFunction = { minSamples: 1, over: () => (from, to) => to - from };

export const present: RangeFunction = { minSamples: 1, over: () => () => 1 };

export const last: RangeFunction = {
  minSamples: 1,
  over:
    ({ values }) =>
    (_from, to) =>
      values[to - 1]!,
};

/**
 * Sums `values[from]` to `values[to - 1]` into `k`, as `add` does term by term, but in local variables: this loop is
 * where most of the time of sums and means goes. Returns the index of the first term that makes the sum infinite,
 * with `k` as it was before it, or `to`.
 */
function sumFinite(values: Float64Array, from: number, to: number, k: Kahan): number {
  let { sum, c } = k;
  let i = from;
  for (; i < to; i++) {
    const term = values[i]!;
    const t = sum + term;
    if (t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY) break;
    c += Math.abs(sum) >= Math.abs(term) ? sum - t + term : term - t + sum;
    sum = t;
  }
  k.sum = sum;
  k.c = c;
  return i;
}

export const sum: RangeFunction = {
  minSamples: 1,
  over: ({ values }) => {
    const k = kahan();
    return (from, to) => {
      k.sum = 0;
      k.c = 0;
      for (let i = sumFinite(values, from, to, k); i < to; i++) add(k, values[i]!);
      return k.sum + k.c;
    };
  },
};

/** The mean: sum by count, or a running mean from the sample on at which the sum would overflow. */
export const average: RangeFunction = {
  minSamples: 1,
  over: ({ values }) => {
    const k = kahan();
    return (from, to) => {
      k.sum = values[from]!;
      k.c = 0;
      const at = sumFinite(values, from + 1, to, k);
      if (at < to) return runningMean(values, from, at, to, k.sum, k.c);
      const size = to - from;
      return k.sum / size + k.c / size;
    };
  },
};

function runningMean(values: Float64Array, from: number, at: number, to: number, sumSoFar: number, c: number): number {
  const k = { sum: sumSoFar / (at - from), c: c / (at - from) };
  for (let i = at; i < to; i++) {
    const size = i - from + 1;
    const share = (size - 1) / size;
    k.sum *= share;
    k.c *= share;
    add(k, values[i]! / size);
  }
  return k.sum + k.c;
}

/** Population variance by Welford's method, both running values compensated. */
function variance(values: Float64Array, from: number, to: number): number {
  const mean = kahan();
  const aux = kahan();
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    const delta = value - (mean.sum + mean.c);
    add(mean, delta / (i - from + 1));
    add(aux, delta * (value - (mean.sum + mean.c)));
  }
  return (aux.sum + aux.c) / (to - from);
}

export const stdvar: RangeFunction = {
  minSamples: 1,
  over:
    ({ values }) =>
    (from, to) =>
      variance(values, from, to),
};

export const stddev: RangeFunction = {
  minSamples: 1,
  over:
    ({ values }) =>
    (from, to) =>
      Math.sqrt(variance(values, from, to)),
};

export const maximum: RangeFunction = {
  minSamples: 1,
  over: ({ values }) => {
    const window = new SlidingMaximum(values, 1);
    return (from, to) => window.at(from, to);
  },
};

export const minimum: RangeFunction = {
  minSamples: 1,
  over: ({ values }) => {
    const window = new SlidingMaximum(values, -1);
    return (from, to) => window.at(from, to);
  },
};

/** quantile_over_time; `q` has one value per step. */
export function quantileOver(q: Float64Array): RangeFunction {
  return {
    minSamples: 1,
    over: ({ values }) => {
      const window = new SortedWindow(values);
      return (from, to, _end, step) => {
        window.move(from, to);
        return window.quantile(q[step]!);
      };
    },
  };
}

/** Counts pairs of neighbours inside the window. The counts up to each sample make it one subtraction. */
function countPairs(isOne: (before: number, value: number) => boolean): RangeFunction {
  return {
    minSamples: 1,
    over: ({ values }) => {
      const upTo = new Uint32Array(values.length);
      for (let i = 1; i < values.length; i++) {
        upTo[i] = upTo[i - 1]! + (isOne(values[i - 1]!, values[i]!) ? 1 : 0);
      }
      return (from, to) => upTo[to - 1]! - upTo[from]!;
    },
  };
}

export const changes = countPairs(
  (before, value) => value !== before && !(Number.isNaN(value) && Number.isNaN(before)),
);

export const resets = countPairs((before, value) => value < before);

interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/** Least-squares line through a window; x is seconds since `origin` (milliseconds). */
function regression({ times, values }: Samples, from: number, to: number, origin: number): Line {
  const x = kahan();
  const y = kahan();
  const xy = kahan();
  const xx = kahan();
  const first = values[from]!;
  let flat = true;
  for (let i = from; i < to; i++) {
    const value = values[i]!;
    if (i > from && value !== first) flat = false;
    const seconds = (times[i]! - origin) / 1000;
    add(x, seconds);
    add(y, value);
    add(xy, seconds * value);
    add(xx, seconds * seconds);
  }
  if (flat) {
    const infinite = first === Number.POSITIVE_INFINITY || first === Number.NEGATIVE_INFINITY;
    return infinite ? { slope: Number.NaN, intercept: Number.NaN } : { slope: 0, intercept: first };
  }
  const size = to - from;
  const sumX = x.sum + x.c;
  const sumY = y.sum + y.c;
  const covariance = xy.sum + xy.c - (sumX * sumY) / size;
  const spread = xx.sum + xx.c - (sumX * sumX) / size;
  const slope = covariance / spread;
  return { slope, intercept: sumY / size - (slope * sumX) / size };
}

export const deriv: RangeFunction = {
  minSamples: 2,
  over: (series) => (from, to) => regression(series, from, to, series.times[from]!).slope,
};

/** predict_linear: the line at `ahead` seconds after the evaluation time; `time` gives that time for each step. */
export function predictLinear(ahead: Float64Array, time: (step: number) => number): RangeFunction {
  return {
    minSamples: 2,
    over: (series) => (from, to, _end, step) => {
      const { slope, intercept } = regression(series, from, to, time(step));
      return slope * ahead[step]! + intercept;
    },
  };
}
