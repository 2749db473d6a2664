/** What is usual at this time of day, by the deviations of the previous days. */
import type { PatternHistory } from './history.ts';
import { LEAST_SEASON_DAYS, type PatternKind, SHAPES } from './shape.ts';
import { isSample, median, sortedSamples } from './sorted-window.ts';

/** A deviation must pass this many times the usual largest one at this time of day. */
const GUARD_FACTOR = 1.3;

export interface Season {
  /** Previous days that are known around this time. */
  readonly days: number;
  /** The usual deviation of this very minute: the median of the days; NaN when fewer than three are known. */
  readonly expected: number;
  /** The usual largest deviation a few minutes around: the median of the days' largest; NaN likewise. */
  readonly largest: number;
}

export function seasonAt(history: PatternHistory, kind: PatternKind, minute: number): Season {
  const { guard } = SHAPES[kind];
  const at = minute - history.builtAt;
  const same = new Float64Array(history.days.length).fill(Number.NaN);
  const largest = new Float64Array(history.days.length).fill(Number.NaN);
  for (const [k, day] of history.days.entries()) {
    same[k] = day[at + guard] ?? Number.NaN;
    const around = sortedSamples(day, at, at + 2 * guard + 1);
    if (around.length > guard) largest[k] = around.at(-1)!;
  }
  const maxima = sortedSamples(largest, 0, largest.length);
  if (maxima.length < LEAST_SEASON_DAYS) return { days: maxima.length, expected: Number.NaN, largest: Number.NaN };
  const sames = sortedSamples(same, 0, same.length);
  const expected = sames.length < LEAST_SEASON_DAYS ? Number.NaN : median(sames);
  return { days: maxima.length, expected, largest: median(maxima) };
}

/** Whether an upward deviation is nothing new at this time of day. */
export const isUsual = (deviation: number, season: Season): boolean =>
  season.days >= LEAST_SEASON_DAYS && deviation <= GUARD_FACTOR * season.largest;

/** What is left of an upward deviation without the usual one; never more than the deviation itself. */
export const beyondUsual = (deviation: number, season: Season): number =>
  isSample(season.expected) ? Math.min(deviation, deviation - season.expected) : deviation;
