/** What a statistic found at one minute, in the upward direction. */
import type { Season } from './season.ts';
import type { WidthSource } from './width.ts';

/** `no_data`: the minute itself is missing. `insufficient`: too few samples before it. Neither is ever bad. */
export type PatternState = 'bad' | 'calm' | 'no_data' | 'insufficient';

/**
 * Why a deviation beyond the limit is calm. `usual`: it comes at this time on most days. `passing`: too few of the last
 * ten minutes are beyond the middle. `uneven`: the rise is not spread over the two hours. `step`: one step explains it
 * better than a slope. `turned_back`: the last ten minutes have given back half of it.
 */
export type HeldBack = 'usual' | 'passing' | 'uneven' | 'step' | 'turned_back';

/** A minute with enough samples. Values are upward: the series' own times the sign of the macro. */
export interface Finding {
  readonly value: number;
  readonly baseline: number;
  readonly deviation: number;
  /** What of the deviation counts: without what is usual at this minute of the day. */
  readonly counted: number;
  readonly width: number;
  readonly widthSource: WidthSource;
  readonly score: number;
  readonly season: Season;
  readonly heldBack?: HeldBack;
  /** First minute of a change, as minutes before the judged one. */
  readonly changedBefore?: number;
}

export type Judgement =
  | { readonly state: 'no_data' | 'insufficient' }
  | { readonly state: 'bad' | 'calm'; readonly finding: Finding };

export const NO_DATA: Judgement = { state: 'no_data' };
export const INSUFFICIENT: Judgement = { state: 'insufficient' };

/** Bad when the score reaches the limit and nothing holds it back; `holdsBack` is asked only then. */
export function judge(
  finding: Finding,
  limit: number,
  holdsBack: () => HeldBack | undefined,
): { readonly state: 'bad' | 'calm'; readonly finding: Finding } {
  if (!(finding.score >= limit)) return { state: 'calm', finding };
  const heldBack = holdsBack();
  return heldBack ? { state: 'calm', finding: { ...finding, heldBack } } : { state: 'bad', finding };
}
