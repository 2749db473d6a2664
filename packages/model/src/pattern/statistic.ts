/** The statistic of each macro along a series, and its centred form, of which the history's noise width is made. */
import type { PatternKind } from './shape.ts';
import { trailingMedians } from './sorted-window.ts';

/** `out[i] = a[i - aBack] - b[i - bBack]`, times `factor`; NaN where one of them is missing or outside. */
function difference(a: Float64Array, aBack: number, b: Float64Array, bBack: number, factor = 1): Float64Array {
  const out = new Float64Array(a.length).fill(Number.NaN);
  const from = Math.max(aBack, bBack, 0);
  const to = a.length + Math.min(aBack, bBack, 0);
  for (let i = from; i < to; i++) out[i] = factor * (a[i - aBack]! - b[i - bBack]!);
  return out;
}

export interface Statistics {
  /**
   * Upward deviation of every minute from what was before it.
   * spike: the sample against the median of the 60 minutes before. changepoint: the median of 10 minutes against that of
   * the hour that ended 30 minutes ago. trend: the rise over two hours, by the medians of its first and last 40 minutes.
   */
  readonly deviations: Float64Array;
  /**
   * The same statistic, but centred: how far a minute, its 10 or its 40 minutes lie from the median around them.
   * A level that changed in the past leaves no trace in it, so that it tells of noise alone. Without sign for a trend.
   */
  readonly residuals: Float64Array;
  /** trend: median of the 40 minutes that end at each. */
  readonly thirds?: Float64Array;
}

export function statistics(kind: PatternKind, values: Float64Array): Statistics {
  if (kind === 'spike') {
    const hour = trailingMedians(values, 60, 30);
    return { deviations: difference(values, 0, hour, 1), residuals: difference(values, 0, hour, -29) };
  }
  if (kind === 'changepoint') {
    const [short, hour] = [trailingMedians(values, 10, 6), trailingMedians(values, 60, 30)];
    return { deviations: difference(short, 0, hour, 30), residuals: difference(short, -4, hour, -29) };
  }
  const [third, whole] = [trailingMedians(values, 40, 20), trailingMedians(values, 120, 60)];
  const residuals = difference(third, -19, whole, -59).map(Math.abs);
  return { deviations: difference(third, 0, third, 80, 1.5), residuals, thirds: third };
}

/** Only the deviations. */
export function deviations(kind: PatternKind, values: Float64Array): Float64Array {
  if (kind === 'spike') return difference(values, 0, trailingMedians(values, 60, 30), 1);
  if (kind === 'changepoint') {
    return difference(trailingMedians(values, 10, 6), 0, trailingMedians(values, 60, 30), 30);
  }
  const third = trailingMedians(values, 40, 20);
  return difference(third, 0, third, 80, 1.5);
}
