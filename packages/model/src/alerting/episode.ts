/** What alerting speaks of: the rule as it is evaluated, the minutes of a series, and episodes. */

/** A minute of a series: good, bad, or without a sample. */
export const GOOD = 0;
export const BAD = 1;
export const MISSING = 2;

/** What a minute without a sample counts as while the series fires: nothing, or a good minute. It is never a bad one: `absent()` asks for that. */
export const MISSING_POLICIES = ['ignore', 'good'] as const;
export type MissingPolicy = (typeof MISSING_POLICIES)[number];

/** The part of an alert rule that decides when it fires. */
export interface AlertingRule {
  readonly id: string;
  /** Equal for two versions of a rule that evaluate alike: its expanded query, data source, macro and threshold. */
  readonly definition: string;
  /** Fires when at least this many of the last `totalMinutes` are bad. */
  readonly badMinutes: number;
  readonly totalMinutes: number;
  /** Resolves when the rule has not been met for this many minutes in a row; at least 1. */
  readonly recoverMinutes: number;
  readonly missing: MissingPolicy;
  /** Which of the bad values is the worst: the greatest for `>`, the least for `<`, the last for `==` and `!=`. */
  readonly worst: 'greatest' | 'least' | 'last';
}

/**
 * One series of a rule on the grid of minutes: element i of the columns is the minute `first + i`, in minutes since 1970.
 * What lies outside of the columns is missing.
 */
export interface SeriesMinutes {
  /** Identity: labels without the metric name, in one spelling (`seriesKey`). */
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly first: number;
  /** `GOOD`, `BAD` or `MISSING`. */
  readonly quality: Uint8Array;
  /** The indicator's values; NaN where missing. */
  readonly values: Float64Array;
}

/** Why an episode ended. */
export type EndReason = 'recovered' | 'no_data' | 'rule_changed' | 'rule_disabled' | 'rule_deleted';

/** One continuous firing of one series of one rule. Minutes count from 1970. */
export interface Episode {
  /** Hash of rule, series and first bad minute: the same in every process and after every restart. */
  readonly id: string;
  /** The id of the first episode of those that fire together: one notification tells of all of them when the rule groups. */
  readonly groupId: string;
  readonly ruleId: string;
  readonly seriesKey: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The rule's `definition` when it fired. */
  readonly definition: string;
  readonly firstBadMinute: number;
  readonly firedMinute: number;
  /** The worst value of the bad minutes when it fired. */
  readonly value: number;
  /** Undefined while it fires. */
  readonly resolvedMinute?: number | undefined;
  readonly reason?: EndReason | undefined;
}

export interface AlertEvent {
  readonly kind: 'fired' | 'resolved';
  readonly minute: number;
  /** The episode as it is after the event. */
  readonly episode: Episode;
  /** The series' newest value at that minute; NaN when it has none in the window. */
  readonly value: number;
  /** The minute was evaluated after a later one had come. */
  readonly late: boolean;
}

/** Where one series stands at the last minute that was evaluated. */
export interface SeriesStatus {
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly state: 'normal' | 'pending' | 'firing';
  readonly badMinutes: number;
  /** The minute itself. */
  readonly quality: typeof GOOD | typeof BAD | typeof MISSING;
  /** The newest value in the window; NaN when there is none. */
  readonly value: number;
  /** Pending: the first bad minute of the window. Firing: when it fired. Normal: undefined. */
  readonly since: number | undefined;
  /** The episode while firing. */
  readonly episode: Episode | undefined;
}

/** One spelling for the identity of a series: sorted labels without the metric name, as JSON. */
export function seriesKey(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).filter(([name, value]) => name !== '__name__' && value !== '');
  return JSON.stringify(pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/**
 * Minutes of samples that a rule needs up to and including the minute that is evaluated. Recovery is asked only of what fires, and what
 * fires at that minute or later is not asked about earlier ones.
 */
export function reachOf(
  { totalMinutes, recoverMinutes }: Pick<AlertingRule, 'totalMinutes' | 'recoverMinutes'>,
  isFiring: boolean,
): number {
  return isFiring ? totalMinutes + recoverMinutes - 1 : totalMinutes;
}
