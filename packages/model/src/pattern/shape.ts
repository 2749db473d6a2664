/** What the six macros have in common and where they differ: direction, statistic and how far each looks. */
import type { Macro } from '../model.ts';

export type PatternKind = 'spike' | 'changepoint' | 'trend';

/** A falling pattern is the rising one of the series with the opposite sign. */
interface Direction {
  readonly kind: PatternKind;
  readonly sign: 1 | -1;
}

const DIRECTIONS: Readonly<Record<Macro, Direction>> = {
  high_spike: { kind: 'spike', sign: 1 },
  low_spike: { kind: 'spike', sign: -1 },
  increasing_changepoint: { kind: 'changepoint', sign: 1 },
  decreasing_changepoint: { kind: 'changepoint', sign: -1 },
  increasing_trend: { kind: 'trend', sign: 1 },
  decreasing_trend: { kind: 'trend', sign: -1 },
};

export const directionOf = (macro: Macro): Direction => DIRECTIONS[macro];

export const DAY_MINUTES = 1440;

/** A history serves this many minutes, counted from the one it was built at. */
export const TAIL_REFRESH_MINUTES = 10;

/** Previous days that are looked at. */
export const SEASON_DAYS = 7;

/** With fewer previous days than this nothing is known of the season. */
export const LEAST_SEASON_DAYS = 3;

/** All lengths are minutes. */
export interface KindShape {
  /** The statistic of a minute needs this many minutes, the minute itself included. */
  readonly window: number;
  /** The last centred residual of a history lies this many minutes before its end. */
  readonly lag: number;
  /** Samples that a history needs, its last minute included. */
  readonly history: number;
  /** A deviation this much earlier or later on previous days is still at the same time of day. */
  readonly guard: number;
}

export const SHAPES: Readonly<Record<PatternKind, KindShape>> = {
  spike: { window: 61, lag: 30, history: 1500, guard: 10 },
  changepoint: { window: 90, lag: 30, history: 1530, guard: 15 },
  trend: { window: 120, lag: 60, history: 1560, guard: 20 },
};

/** What a caller has to fetch for a macro. All lengths are minutes. */
export interface PatternReach {
  /** `recent` of `evaluatePattern` begins at `minute - recentMinutes + 1`. */
  readonly recentMinutes: number;
  /** `history` of `buildPatternHistory` begins at `builtAt - historyMinutes + 1` and ends at `builtAt`. */
  readonly historyMinutes: number;
  /** How many slices of previous days. */
  readonly previousDays: number;
  /** The slice of k days ago begins at `builtAt - 1440 k - sliceBefore` … */
  readonly sliceBefore: number;
  /** … and ends at `builtAt - 1440 k + sliceAfter`, */
  readonly sliceAfter: number;
  /** so that it has this many samples. A longer one does no harm. */
  readonly sliceMinutes: number;
}

export function patternReach(macro: Macro): PatternReach {
  const { window, history, guard } = SHAPES[directionOf(macro).kind];
  const sliceBefore = guard + window - 1;
  const sliceAfter = guard + TAIL_REFRESH_MINUTES - 1;
  return {
    recentMinutes: window,
    historyMinutes: history,
    previousDays: SEASON_DAYS,
    sliceBefore,
    sliceAfter,
    sliceMinutes: sliceBefore + sliceAfter + 1,
  };
}

/**
 * The `builtAt` of the history that serves a minute. Who takes it from here gets the same answers after a restart,
 * in another process, and from `evaluatePatternWindow`. `phase` (0 to 9) spreads many series over the ten minutes.
 */
export function patternHistoryMinute(minute: number, phase = 0): number {
  const past = (minute - phase) % TAIL_REFRESH_MINUTES;
  return minute - (past < 0 ? past + TAIL_REFRESH_MINUTES : past);
}

/** Noise widths that a deviation must reach. */
export function patternLimit(tolerance: number): number {
  if (!(tolerance >= 0 && tolerance <= 10)) throw new RangeError(`The tolerance ${tolerance} is not in [0, 10]`);
  return 3 + 0.4 * tolerance;
}
