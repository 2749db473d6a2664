/**
 * Detectors in common use, as scores: the higher, the more upward the deviation at a minute. Downward ones are those of
 * the series with the opposite sign. NaN: not enough samples.
 */

type Scorer = (values: Float64Array) => Float64Array;

interface Baseline {
  readonly name: string;
  readonly score: Scorer;
}

export const BASELINES: Readonly<Record<'spike' | 'changepoint' | 'trend', readonly Baseline[]>> = {
  spike: [
    { name: 'z-score, 1 h', score: zScore },
    { name: 'EWMA chart, 1 h', score: ewmaChart },
    { name: 'Tukey fences, 1 h', score: tukeyFences },
    { name: 'Hampel, 1 h', score: hampel },
    { name: '1 h mean, deviation smoothed over 26 h', score: smoothedBand },
  ],
  changepoint: [
    { name: 'E-divisive and t, 90 min', score: eDivisive },
    { name: 'Welch t, 15/60 min', score: welch },
    { name: 'Mann-Whitney, 15/60 min', score: mannWhitney },
    { name: 'CUSUM', score: cusum },
  ],
  trend: [
    { name: 'Mann-Kendall, 2 h', score: mannKendall },
    { name: 'OLS t, 2 h', score: olsT },
  ],
};

/** Samples of `from` to `to - 1` that are there. */
function finite(values: Float64Array, from: number, to: number): Float64Array {
  return values.subarray(Math.max(from, 0), Math.max(to, 0)).filter(Number.isFinite);
}

function scoreEach(values: Float64Array, score: (i: number, x: number) => number): Float64Array {
  return Float64Array.from(values, (x, i) => (Number.isFinite(x) ? score(i, x) : Number.NaN));
}

function moments(sample: Float64Array): { n: number; mean: number; variance: number } {
  const n = sample.length;
  let sum = 0;
  for (const x of sample) sum += x;
  const mean = sum / n;
  let squares = 0;
  for (const x of sample) squares += (x - mean) ** 2;
  return { n, mean, variance: squares / (n - 1) };
}

/** Linear interpolation between order statistics. */
function quantile(sorted: Float64Array, p: number): number {
  const at = p * (sorted.length - 1);
  const low = sorted[Math.floor(at)]!;
  return low + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - low);
}

const ratio = (a: number, b: number) => (a === 0 ? 0 : Math.max(-1e6, Math.min(a / b, 1e6)));

function zScore(values: Float64Array): Float64Array {
  return scoreEach(values, (i, x) => {
    const { n, mean, variance } = moments(finite(values, i - 60, i));
    return n < 30 ? Number.NaN : ratio(x - mean, Math.sqrt(variance));
  });
}

function ewmaChart(values: Float64Array): Float64Array {
  const weight = 0.2;
  let smooth = Number.NaN;
  return scoreEach(values, (i, x) => {
    smooth = Number.isNaN(smooth) ? x : weight * x + (1 - weight) * smooth;
    const { n, mean, variance } = moments(finite(values, i - 60, i));
    return n < 30 ? Number.NaN : ratio(smooth - mean, Math.sqrt((variance * weight) / (2 - weight)));
  });
}

function tukeyFences(values: Float64Array): Float64Array {
  return scoreEach(values, (i, x) => {
    const sorted = finite(values, i - 60, i).sort();
    if (sorted.length < 30) return Number.NaN;
    const upper = quantile(sorted, 0.75);
    return ratio(x - upper, upper - quantile(sorted, 0.25));
  });
}

function hampel(values: Float64Array): Float64Array {
  return scoreEach(values, (i, x) => {
    const sorted = finite(values, i - 60, i).sort();
    if (sorted.length < 30) return Number.NaN;
    const middle = quantile(sorted, 0.5);
    const distances = sorted.map((value) => Math.abs(value - middle)).sort();
    return ratio(x - middle, 1.4826 * quantile(distances, 0.5));
  });
}

function smoothedBand(values: Float64Array): Float64Array {
  const window = 26 * 60;
  const deviations = Float64Array.from(values, (_, i) => {
    const { n, variance } = moments(finite(values, i - 60, i));
    return n < 30 ? Number.NaN : Math.sqrt(variance);
  });
  let sum = 0;
  let count = 0;
  const smoothed = deviations.map((deviation, i) => {
    if (!Number.isNaN(deviation)) {
      sum += deviation;
      count++;
    }
    const old = deviations[i - window] ?? Number.NaN;
    if (!Number.isNaN(old)) {
      sum -= old;
      count--;
    }
    return count === 0 ? Number.NaN : sum / count;
  });
  return scoreEach(values, (i, x) => ratio(x - moments(finite(values, i - 60, i)).mean, smoothed[i]!));
}

function welchT(after: Float64Array, before: Float64Array): number {
  const a = moments(after);
  const b = moments(before);
  return ratio(a.mean - b.mean, Math.sqrt(a.variance / a.n + b.variance / b.n));
}

function welch(values: Float64Array): Float64Array {
  return scoreEach(values, (i) => {
    const after = finite(values, i - 14, i + 1);
    const before = finite(values, i - 74, i - 14);
    return after.length < 8 || before.length < 30 ? Number.NaN : welchT(after, before);
  });
}

function mannWhitney(values: Float64Array): Float64Array {
  return scoreEach(values, (i) => {
    const after = finite(values, i - 14, i + 1);
    const before = finite(values, i - 74, i - 14);
    const [m, n] = [after.length, before.length];
    if (m < 8 || n < 30) return Number.NaN;
    let wins = 0;
    for (const a of after) for (const b of before) wins += a > b ? 1 : a === b ? 0.5 : 0;
    return (wins - (m * n) / 2) / Math.sqrt((m * n * (m + n + 1)) / 12);
  });
}

/** Standardised by the two hours that ended a quarter of an hour ago; allowance of half a standard deviation. */
function cusum(values: Float64Array): Float64Array {
  let sum = 0;
  return scoreEach(values, (i, x) => {
    const { n, mean, variance } = moments(finite(values, i - 135, i - 15));
    if (n < 30) return Number.NaN;
    sum = Math.max(0, sum + ratio(x - mean, Math.sqrt(variance)) - 0.5);
    return sum;
  });
}

/** The split of 90 minutes with the largest energy distance (Matteson and James 2014), every five minutes; its t is the score. */
function eDivisive(values: Float64Array): Float64Array {
  return scoreEach(values, (i) => {
    if (i % 5 !== 0) return Number.NaN;
    const window = finite(values, i - 89, i + 1);
    if (window.length < 45) return Number.NaN;
    const split = energySplit(window);
    return welchT(window.subarray(split), window.subarray(0, split));
  });
}

function energySplit(x: Float64Array): number {
  const n = x.length;
  let within = 0;
  let between = 0;
  let rest = 0;
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) rest += Math.abs(x[i]! - x[j]!);
  let best = Number.NEGATIVE_INFINITY;
  let at = 5;
  for (let split = 1; split <= n - 5; split++) {
    const moved = x[split - 1]!;
    let toLeft = 0;
    let toRight = 0;
    for (let i = 0; i < split - 1; i++) toLeft += Math.abs(moved - x[i]!);
    for (let i = split; i < n; i++) toRight += Math.abs(moved - x[i]!);
    within += toLeft;
    between += toRight - toLeft;
    rest -= toRight;
    if (split < 5) continue;
    const right = n - split;
    const energy =
      (2 * between) / (split * right) - (2 * within) / (split * (split - 1)) - (2 * rest) / (right * (right - 1));
    const scaled = (energy * split * right) / n;
    if (scaled > best) {
      best = scaled;
      at = split;
    }
  }
  return at;
}

/** Kendall's S over two hours, kept up as the window moves, over its standard deviation without trend. */
function mannKendall(values: Float64Array): Float64Array {
  const window = 120;
  const sign = (a: number, b: number) => (a > b ? 1 : a < b ? -1 : 0);
  let s = 0;
  let n = 0;
  return Float64Array.from(values, (x, i) => {
    const old = values[i - window] ?? Number.NaN;
    for (let j = Math.max(i - window + 1, 0); j < i; j++) {
      if (Number.isFinite(old)) s -= sign(values[j]!, old);
      if (Number.isFinite(x)) s += sign(x, values[j]!);
    }
    if (Number.isFinite(old)) n--;
    if (Number.isFinite(x)) n++;
    if (n < 60 || !Number.isFinite(x)) return Number.NaN;
    return s / Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  });
}

function olsT(values: Float64Array): Float64Array {
  return scoreEach(values, (i) => {
    let n = 0;
    let [x, y, xx, xy, yy] = [0, 0, 0, 0, 0];
    const origin = values[i]!;
    for (let j = 0; j < 120; j++) {
      const value = values[i - j]! - origin;
      if (!Number.isFinite(value)) continue;
      n++;
      x -= j;
      y += value;
      xx += j * j;
      xy -= j * value;
      yy += value * value;
    }
    if (n < 60) return Number.NaN;
    const sxx = xx - (x * x) / n;
    const sxy = xy - (x * y) / n;
    const residual = Math.max(yy - (y * y) / n - (sxy * sxy) / sxx, 0) / (n - 2);
    return ratio(sxy / sxx, Math.sqrt(residual / sxx));
  });
}
