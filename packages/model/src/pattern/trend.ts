/**
 * Trends: the rise over two hours, by the medians of its first and last third, when it is a slope and not a step.
 * The line through medians of thirds is Tukey's resistant line (1977).
 */
import type { PatternHistory } from './history.ts';
import { type HeldBack, INSUFFICIENT, type Judgement, judge, NO_DATA } from './judgement.ts';
import { beyondUsual, isUsual, seasonAt } from './season.ts';
import { LEAST_SEASON_DAYS, SHAPES } from './shape.ts';
import { isSample, median, SortedWindow, sortedSamples } from './sorted-window.ts';
import { largestWidth, resolution, robustDeviation, scoreOf, wholeNumbers } from './width.ts';

const WINDOW = SHAPES.trend.window;
const THIRD = WINDOW / 3;
const LEAST_THIRD = 20;
/** From the distance of two thirds' medians, 80 minutes apart, to the whole window of 120. */
const WHOLE = 1.5;
const LEVEL_FLOOR = 0.01;
const LEAST_SHARE = 0.2;
const BIN = 5;
const LEAST_BINS = 14;

/** `values[at]` is the sample of `minute`. */
export function judgeTrend(
  values: Float64Array,
  at: number,
  history: PatternHistory,
  minute: number,
  limit: number,
): Judgement {
  if (!isSample(values[at])) return NO_DATA;
  const start = at - WINDOW + 1;
  const thirds = [0, 1, 2].map((i) => sortedSamples(values, start + i * THIRD, start + (i + 1) * THIRD));
  if (thirds.some((third) => third.length < LEAST_THIRD)) return INSUFFICIENT;
  const [first = 0, middle = 0, last = 0] = thirds.map(median);
  const deviation = WHOLE * (last - first);
  const window = sortedSamples(values, start, at + 1);
  const noise = robustDeviation(noiseAround(values, start, at));
  const integers = history.integers && wholeNumbers(window);
  const floor = Math.max(LEVEL_FLOOR * Math.abs(middle), resolution(window, integers) / 4);
  const season = seasonAt(history, 'trend', minute);
  const day = season.days < LEAST_SEASON_DAYS ? Math.max(history.tailWidth, history.driftWidth) : history.tailWidth;
  const { width, source } = largestWidth(WHOLE * 1.2533 * Math.sqrt(2 / THIRD) * noise, '2h', day, floor);
  const counted = beyondUsual(deviation, season);
  const finding = {
    value: first + (last - first) * 1.25,
    baseline: first - (last - first) * 0.25,
    deviation,
    counted,
    width,
    widthSource: source,
    score: scoreOf(counted, width),
    season,
  };
  return judge(finding, limit, (): HeldBack | undefined => {
    if (isUsual(deviation, season)) return 'usual';
    const share = (middle - first) / (last - first);
    if (!(share >= LEAST_SHARE && 1 - share >= LEAST_SHARE)) return 'uneven';
    const end = sortedSamples(values, at - 9, at + 1);
    if (median(end) - first < (last - first) / 2) return 'turned_back';
    return isSlope(values, start, last - first) ? undefined : 'step';
  });
}

const AROUND = 15;
const LEAST_AROUND = 8;

/** Distances of the window's samples from the median of the 31 minutes around each, in order. */
function noiseAround(values: Float64Array, start: number, at: number): Float64Array {
  const around = new SortedWindow(2 * AROUND + 1);
  const out = new Float64Array(WINDOW).fill(Number.NaN);
  for (let i = start - AROUND; i <= at; i++) {
    const entering = i + AROUND <= at ? values[i + AROUND] : undefined;
    const leaving = i - AROUND - 1 >= start ? values[i - AROUND - 1] : undefined;
    around.replace(leaving ?? Number.NaN, entering ?? Number.NaN);
    if (i >= start && around.count >= LEAST_AROUND) out[i - start] = (values[i] ?? Number.NaN) - around.quantile(0.5);
  }
  return sortedSamples(out, 0, WINDOW);
}

/**
 * Whether a straight line leaves no larger squares than the best single step, on medians of five minutes, which are
 * taken as multiples of `unit` so that squares stay in range.
 */
function isSlope(values: Float64Array, start: number, unit: number): boolean {
  const bins: number[] = [];
  const places: number[] = [];
  const origin = median(sortedSamples(values, start, start + THIRD));
  for (let i = 0; i < WINDOW / BIN; i++) {
    const bin = sortedSamples(values, start + i * BIN, start + (i + 1) * BIN);
    if (bin.length === 0) continue;
    bins.push((median(bin) - origin) / unit);
    places.push(i);
  }
  return bins.length >= LEAST_BINS && squaresOfLine(places, bins) <= squaresOfStep(bins);
}

function squaresOfLine(x: readonly number[], y: readonly number[]): number {
  const n = x.length;
  const meanX = sum(x) / n;
  const meanY = sum(y) / n;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let i = 0; i < n; i++) {
    const dx = x[i]! - meanX;
    const dy = y[i]! - meanY;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
  }
  return yy - (xy * xy) / xx;
}

/** Each side of the step has at least two bins. */
function squaresOfStep(y: readonly number[]): number {
  const n = y.length;
  const total = sum(y);
  const squares = y.reduce((all, value) => all + value * value, 0);
  let best = Number.POSITIVE_INFINITY;
  let left = y[0]!;
  for (let split = 2; split <= n - 2; split++) {
    left += y[split - 1]!;
    const right = total - left;
    best = Math.min(best, squares - (left * left) / split - (right * right) / (n - split));
  }
  return best;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
