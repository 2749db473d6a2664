/** The noise width: how far a statistic moves when nothing happens. */
import { quantile } from './sorted-window.ts';

/** Where a width comes from: the minutes before (1 h, or 2 h for a trend), the last 24 hours, or the smallest that is allowed. */
export type WidthSource = '1h' | '2h' | '24h' | 'floor';

export interface Width {
  readonly width: number;
  readonly source: WidthSource;
}

/** A width below this share of the level is not believed. */
export const LEVEL_FLOOR = 0.005;

/** A score is at most this; so a series without any noise has no infinite one. */
const LARGEST_SCORE = 1e6;

/** The largest of the widths. */
export function largestWidth(recent: number, source: '1h' | '2h', day: number, floor: number): Width {
  if (recent >= day && recent >= floor) return { width: recent, source };
  return day >= floor ? { width: day, source: '24h' } : { width: floor, source: 'floor' };
}

/** Deviation over width. A width of 0 means that nothing ever moved; then any deviation has the largest score. */
export function scoreOf(deviation: number, width: number): number {
  if (deviation === 0) return 0;
  const score = deviation / width;
  return Math.max(-LARGEST_SCORE, Math.min(score, LARGEST_SCORE));
}

/** Standard deviation of the samples, hardly moved by outliers: from the quartiles and the deciles, whichever is larger. */
export function robustDeviation(sorted: Float64Array): number {
  const quartiles = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.349;
  const deciles = (quantile(sorted, 0.9) - quantile(sorted, 0.1)) / 2.563;
  return Math.max(quartiles, deciles);
}

/** Distinct values that differ by less than this share of the largest are the same number, written with rounding errors. */
const SAME_SHARE = 1e-9;

/**
 * The step in which a series moves: the smallest gap between distinct samples when there are at least three; else 1 for
 * whole numbers, and 0 when the samples say nothing.
 */
export function resolution(sorted: Float64Array, integers: boolean): number {
  const count = sorted.length;
  const same = count === 0 ? 0 : SAME_SHARE * Math.max(Math.abs(sorted[0]!), Math.abs(sorted[count - 1]!));
  let distinct = count === 0 ? 0 : 1;
  let smallest = Number.POSITIVE_INFINITY;
  for (let i = 1; i < count; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (gap <= same) continue;
    distinct++;
    if (gap < smallest) smallest = gap;
  }
  if (distinct >= 3) return smallest;
  return integers ? 1 : 0;
}

/** Whether all of these are whole numbers. */
export function wholeNumbers(sorted: Float64Array): boolean {
  return sorted.every((value) => Number.isInteger(value));
}
