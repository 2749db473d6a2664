/** What a macro knows of a series from the last 24 hours and the previous days, kept for ten minutes at a time. */
import type { Macro } from '../model.ts';
import { type MinuteSeries, signedCopy } from './minute-series.ts';
import {
  DAY_MINUTES,
  directionOf,
  LEAST_SEASON_DAYS,
  type PatternKind,
  patternReach,
  SHAPES,
  TAIL_REFRESH_MINUTES,
} from './shape.ts';
import { isSample, quantile, sortedSamples } from './sorted-window.ts';
import { deviations, statistics } from './statistic.ts';

/** With fewer minutes of residuals than this the last hours say nothing of the noise. */
const LEAST_RESIDUALS = 360;

/** One hour of deviations tells of a daily shape already. */
const LEAST_DEVIATIONS = 60;

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
  /** Noise width by the deviations of 24 hours, for series whose season is not yet known; 0 when it is, and for spikes. */
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
  const known = statistics(kind, values);
  const end = values.length - shape.lag;
  const residuals = sortedSamples(known.residuals, end - DAY_MINUTES, end);
  const days = previousDays.slice(0, reach.previousDays).map((slice, index) => {
    if (!slice) return new Float64Array(0);
    const sameTime = builtAt - (index + 1) * DAY_MINUTES;
    const part = signedCopy(slice, sameTime - reach.sliceBefore, sameTime + reach.sliceAfter, sign);
    return deviations(kind, part).slice(shape.window - 1);
  });
  return {
    macro,
    builtAt,
    residualMinutes: residuals.length,
    tailWidth: tailWidth(kind, residuals),
    driftWidth: driftWidth(kind, known.deviations, values.length - 1, days),
    integers: values.every((value) => !isSample(value) || Number.isInteger(value)),
    days,
  };
}

/** Width (b): quantile of the ascending residuals over the same quantile of the standard normal distribution. */
export function tailWidth(kind: PatternKind, residuals: Float64Array): number {
  if (residuals.length < LEAST_RESIDUALS) return 0;
  if (kind === 'spike') return Math.max(quantile(residuals, 0.995, withoutGlitches(residuals)) / 2.576, 0);
  if (kind === 'changepoint') return Math.max(quantile(residuals, 0.99) / 2.326, 0);
  return (2.12 * quantile(residuals, 0.95)) / 1.96;
}

/** At most this many of a day's residuals are left out, */
const MOST_GLITCHES = 4;
/** and only those that are this many noise widths off, so that noise with heavy tails is all kept. */
const GLITCH_WIDTHS = 12;

/** How many of the ascending residuals are left when the few largest are too far off to be noise: those are glitches. */
function withoutGlitches(residuals: Float64Array): number {
  const limit = (GLITCH_WIDTHS * quantile(residuals, 0.99)) / 2.326;
  if (!(limit > 0)) return residuals.length;
  let count = residuals.length;
  while (count > residuals.length - MOST_GLITCHES && residuals[count - 1]! > limit) count--;
  return count;
}

/**
 * Width (c): what usually happens within a day, up to the lag before `at`, so that a change does not hide itself.
 * It makes a macro dull on a series with a strong daily shape.
 */
export function driftWidth(
  kind: PatternKind,
  deviated: Float64Array,
  at: number,
  days: readonly Float64Array[],
): number {
  if (kind === 'spike' || isSeasonKnown(kind, days)) return 0;
  const sorted = sortedSamples(deviated, at + 1 - DAY_MINUTES, at + 1 - SHAPES[kind].lag);
  if (sorted.length < LEAST_DEVIATIONS) return 0;
  if (kind === 'changepoint') return Math.max(quantile(sorted, 0.95) / 1.645, 0);
  return Math.max(quantile(sorted, 0.9), -quantile(sorted, 0.1), 0) / 1.2816;
}

/** Whether three days are known around each of the minutes that the history serves, so that the width is not asked for. */
function isSeasonKnown(kind: PatternKind, days: readonly Float64Array[]): boolean {
  const { guard } = SHAPES[kind];
  const whole = days.filter((day) => {
    const missing = day.reduce((count, deviation) => (isSample(deviation) ? count : count + 1), 0);
    return day.length >= 2 * guard + TAIL_REFRESH_MINUTES && missing <= guard;
  });
  return whole.length >= LEAST_SEASON_DAYS;
}
