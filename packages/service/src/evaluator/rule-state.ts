/** What the evaluator remembers of a rule between two minutes. All of it can be made again from the store and the data source. */
import type { Episode, SeriesStatus } from '@obsiac/model';
import { EvaluationLog } from './evaluation-log.ts';

export interface RuleState {
  /** The last minute that was evaluated. */
  cursor: number;
  /** Open episodes, and those that ended not long ago: see `keepReachable`. */
  episodes: readonly Episode[];
  /** Every series of the last evaluation. */
  series: readonly SeriesStatus[];
  /** Since which minute it could not be evaluated, and why. */
  failing: { readonly since: number; readonly error: string } | undefined;
  /** Since which minute its query has had no series. */
  emptySince: number | undefined;
  /** The store says that it fails. */
  hasStoredError: boolean;
  /** Messages of an ended episode are held back by a mute. */
  hasUntoldEnds: boolean;
  /** An evaluation of it is under way. */
  isBusy: boolean;
  readonly log: EvaluationLog;
}

export function newRuleState(cursor: number, episodes: readonly Episode[]): RuleState {
  return {
    cursor,
    episodes,
    series: [],
    failing: undefined,
    emptySince: undefined,
    hasStoredError: false,
    hasUntoldEnds: false,
    isBusy: false,
    log: new EvaluationLog(),
  };
}

/** Minutes that are evaluated late after a gap at most; what is older is skipped and counted. */
export const CATCH_UP = 60;

/** The first minute to evaluate now. */
export function firstMinuteOf(state: RuleState, minute: number): number {
  return Math.max(state.cursor + 1, minute - CATCH_UP + 1);
}

/** Minutes back that ended episodes matter: the widest window there is, and recovery. A rule may be given a wider window at any time. */
export const LONGEST_REACH = 1600;

/** What is open, and of each series the last that ended, unless no window reaches it any more. */
export function keepReachable(episodes: readonly Episode[], minute: number): Episode[] {
  const open: Episode[] = [];
  const ended = new Map<string, Episode>();
  for (const episode of episodes) {
    const { resolvedMinute, seriesKey } = episode;
    if (resolvedMinute === undefined) open.push(episode);
    else if (
      resolvedMinute >= minute - LONGEST_REACH &&
      resolvedMinute >= (ended.get(seriesKey)?.resolvedMinute ?? 0)
    ) {
      ended.set(seriesKey, episode);
    }
  }
  return [...open, ...ended.values()];
}
