/** What the evaluator remembers of a rule between two minutes. All of it can be made again from the store and the data source. */
import type { Episode, SeriesStatus } from '@obsiac/model';
import type { EvaluatedRule } from './evaluated-rule.ts';
import { EvaluationLog } from './evaluation-log.ts';

export interface RuleState {
  /** The last minute that was evaluated. */
  cursor: number;
  /** Open episodes, and those that ended within the reach of the rule. */
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

/** Forgets ended episodes that no window reaches any more. */
export function keepReachable(episodes: readonly Episode[], rule: EvaluatedRule, minute: number): Episode[] {
  const oldest = minute - rule.alerting.totalMinutes - rule.alerting.recoverMinutes;
  return episodes.filter(({ resolvedMinute }) => resolvedMinute === undefined || resolvedMinute >= oldest);
}
