/** Alerting: when a rule fires and resolves. */
export {
  type AlertEvent,
  type AlertingRule,
  BAD,
  type EndReason,
  type Episode,
  GOOD,
  MISSING,
  MISSING_POLICIES,
  type MissingPolicy,
  reachOf,
  type SeriesMinutes,
  type SeriesStatus,
  seriesKey,
} from './episode.ts';
export { isBad, judge, worstOf } from './threshold.ts';
export { endEpisodes, type TransitionInput, type TransitionResult, transition } from './transition.ts';
