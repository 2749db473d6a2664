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

/**
 * Upward deviation of every minute from what was before it.
 * spike: the sample against the median of the 60 minutes before. changepoint: the median of 10 minutes against that of
 * the hour that ended 30 minutes ago. trend: the rise over two hours, by the medians of its first and last 40 minutes.
 */
export function deviations(kind: PatternKind, values: Float64Array): Float64Array {
  if (kind === 'spike') return difference(values, 0, trailingMedians(values, 60, 30), 1);
  if (kind === 'changepoint') {
    return difference(trailingMedians(values, 10, 6), 0, trailingMedians(values, 60, 30), 30);
  }
  const thirds = trailingMedians(values, 40, 20);
  return difference(thirds, 0, thirds, 80, 1.5);
}

/**
 * The same statistic, but centred: how far a minute, its 10 or its 40 minutes lie from the median around them.
 * A level that changed in the past leaves no trace in it, so that it tells of noise alone.
 */
export function centredResiduals(kind: PatternKind, values: Float64Array): Float64Array {
  if (kind === 'spike') return difference(values, 0, trailingMedians(values, 60, 20), -29);
  if (kind === 'changepoint') {
    return difference(trailingMedians(values, 10, 5), -4, trailingMedians(values, 60, 30), -29);
  }
  const residuals = difference(trailingMedians(values, 40, 20), -19, trailingMedians(values, 120, 60), -59);
  for (let i = 0; i < residuals.length; i++) residuals[i] = Math.abs(residuals[i]!);
  return residuals;
}
