/** What a macro knows of a series from the last 24 hours and the previous days, kept for ten minutes at a time. */
import type { Macro } from '../model.ts';
import { type MinuteSeries, signedCopy } from './minute-series.ts';
import { DAY_MINUTES, directionOf, type PatternKind, patternReach, SHAPES } from './shape.ts';
import { isSample, quantile, sortedSamples } from './sorted-window.ts';
import { centredResiduals, deviations } from './statistic.ts';

/** With fewer minutes of residuals than this the last hours say nothing of the noise. */
const LEAST_RESIDUALS = 360;

/**
 * Plain data of at most 3 kB. Deviations and widths are upward ones: for a falling pattern they are those of the
 * series with the opposite sign.
 */
export interface PatternHistory {
  readonly macro: Macro;
  /** Unix minute of the newest sample in it; it serves this minute and the nine after it. */
  readonly builtAt: number;
  /** Minutes of the last 24 hours whose noise is known. */
  readonly residualMinutes: number;
  /** Noise width by a tail quantile of the residuals of 24 hours; 0 when fewer than six hours are known. */
  readonly tailWidth: number;
  /** Noise width by the deviations of 24 hours, for series whose season is not yet known; 0 for spikes. */
  readonly driftWidth: number;
  /** Whether every sample of it is a whole number. */
  readonly integers: boolean;
  /** Deviation at minute `builtAt - guard + i` of each of the last seven days, yesterday first; NaN when unknown. */
  readonly days: readonly Float64Array[];
}

/**
 * Builds the history of one series for one macro. `history` and the slices hold at least the minutes that
 * `patternReach` names; what they do not hold counts as missing. `previousDays[k - 1]` is the slice of k days ago.
 */
export function buildPatternHistory(
  macro: Macro,
  history: MinuteSeries,
  previousDays: readonly (MinuteSeries | undefined)[],
  builtAt: number,
): PatternHistory {
  const { kind, sign } = directionOf(macro);
  const shape = SHAPES[kind];
  const reach = patternReach(macro);
  const values = signedCopy(history, builtAt - shape.history + 1, builtAt, sign);
  const end = values.length - shape.lag;
  const residuals = sortedSamples(centredResiduals(kind, values), end - DAY_MINUTES, end);
  const days = previousDays.slice(0, reach.previousDays).map((slice, index) => {
    if (!slice) return new Float64Array(0);
    const sameTime = builtAt - (index + 1) * DAY_MINUTES;
    const part = signedCopy(slice, sameTime - reach.sliceBefore, sameTime + reach.sliceAfter, sign);
    return deviations(kind, part).slice(shape.window - 1);
  });
  const drift = kind === 'spike' ? values : deviations(kind, values);
  return {
    macro,
    builtAt,
    residualMinutes: residuals.length,
    tailWidth: tailWidth(kind, residuals.length, (p) => quantile(residuals, p)),
    driftWidth: kind === 'spike' ? 0 : driftWidth(kind, sortedSamples(drift, drift.length - DAY_MINUTES, drift.length)),
    integers: values.every((value) => !isSample(value) || Number.isInteger(value)),
    days,
  };
}

/** Quantile of the residuals over the same quantile of the standard normal distribution. */
export function tailWidth(kind: PatternKind, count: number, quantileOf: (p: number) => number): number {
  if (count < LEAST_RESIDUALS) return 0;
  if (kind === 'spike') return Math.max(quantileOf(0.995) / 2.576, 0);
  if (kind === 'changepoint') return Math.max(quantileOf(0.99) / 2.326, 0);
  return (2.12 * quantileOf(0.95)) / 1.96;
}

/** Width (c): what usually happens within a day. It makes a macro dull on a series with a strong daily shape. */
export function driftWidth(kind: PatternKind, sorted: Float64Array): number {
  if (sorted.length < LEAST_RESIDUALS) return 0;
  if (kind === 'changepoint') return Math.max(quantile(sorted, 0.95) / 1.645, 0);
  return Math.max(quantile(sorted, 0.9), -quantile(sorted, 0.1), 0) / 1.2816;
}
