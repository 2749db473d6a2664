/** Puts the store's episodes and the live series of a rule together into its alerts. */
import type { AlertState, RuleHealth } from '@obsiac/api';
import type { LiveRule, LiveSeries } from './live.ts';
import type { StoredEpisode, StoredRule } from './store-reads.ts';

/** A series of a rule that is pending, firing or has just ended. Minutes count from 1970. */
export interface RuleAlert {
  readonly state: Exclude<AlertState, 'normal'>;
  readonly seriesKey: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Since when it is in its state. */
  readonly since: number;
  readonly firstBad: number;
  readonly firedMinute: number | undefined;
  /** The newest value; null when it is not known. */
  readonly value: number | null;
  /** The worst bad value when it fired. */
  readonly worst: number | null;
  readonly badMinutes: number | null;
  readonly episodeId: string;
  readonly reason: string;
}

const ORDER: Readonly<Record<AlertState, number>> = { firing: 0, pending: 1, resolved: 2, normal: 3 };

/** The worst state of a rule's alerts. */
export function worstState(alerts: readonly Pick<RuleAlert, 'state'>[]): AlertState {
  return alerts.reduce<AlertState>((worst, { state }) => (ORDER[state] < ORDER[worst] ? state : worst), 'normal');
}

/**
 * One alert for each series: what fires before what is pending before what has ended; the longest first.
 * The store decides what fires: its episodes are what channels hear of. Live series add values and what is pending.
 * @param atMinute undefined: now; else episodes are looked at as they stood after that minute
 */
export function alertsOf(
  episodes: readonly StoredEpisode[],
  live: LiveRule | undefined,
  atMinute: number | undefined,
): RuleAlert[] {
  const series = new Map((live?.series ?? []).map((each) => [each.key, each]));
  const alerts = new Map<string, RuleAlert>();
  const ended = new Set<string>();
  for (const episode of episodes) {
    const { row } = episode;
    const isOpen = row.resolved_minute === null || (atMinute !== undefined && row.resolved_minute > atMinute);
    if (!isOpen) ended.add(row.id);
    const alert = isOpen ? firing(episode, series.get(row.series_key)) : resolved(episode);
    const other = alerts.get(row.series_key);
    // Episodes come in the order in which they fired, so a later one tells where the series stands.
    if (other?.state !== 'firing') alerts.set(row.series_key, alert);
  }
  for (const each of series.values()) {
    if (each.state === 'normal' || alerts.get(each.key)?.state === 'firing') continue;
    // The store was asked a moment before or after: an episode that it has seen end does not fire.
    if (each.episode_id !== null && ended.has(each.episode_id)) continue;
    alerts.set(each.key, fromLive(each));
  }
  return [...alerts.values()].sort((a, b) => ORDER[a.state] - ORDER[b.state] || a.since - b.since);
}

function firing({ row, facts }: StoredEpisode, live: LiveSeries | undefined): RuleAlert {
  return {
    state: 'firing',
    seriesKey: row.series_key,
    labels: facts.labels,
    since: row.fired_minute,
    firstBad: row.first_bad_minute,
    firedMinute: row.fired_minute,
    value: live?.value ?? null,
    worst: row.value,
    badMinutes: live?.bad_minutes ?? null,
    episodeId: row.id,
    reason: '',
  };
}

function resolved({ row, facts }: StoredEpisode): RuleAlert {
  return {
    state: 'resolved',
    seriesKey: row.series_key,
    labels: facts.labels,
    since: row.resolved_minute!,
    firstBad: row.first_bad_minute,
    firedMinute: row.fired_minute,
    value: null,
    worst: row.value,
    badMinutes: null,
    episodeId: row.id,
    reason: row.reason,
  };
}

function fromLive(series: LiveSeries): RuleAlert {
  const since = series.since ?? 0;
  const isFiring = series.state === 'firing';
  return {
    state: isFiring ? 'firing' : 'pending',
    seriesKey: series.key,
    labels: series.labels,
    since,
    firstBad: series.first_bad_minute ?? since,
    firedMinute: isFiring ? since : undefined,
    value: series.value,
    worst: series.worst,
    badMinutes: series.bad_minutes,
    episodeId: series.episode_id ?? '',
    reason: '',
  };
}

export interface HealthReport {
  readonly health: RuleHealth;
  /** Empty unless it is `err`. */
  readonly error: string;
  /** Unix seconds since when; null when it is well, or when that is not known. */
  readonly since: number | null;
}

/** Whether a rule can be evaluated. */
export function healthOf(
  row: Pick<StoredRule['row'], 'error_since' | 'is_disabled'>,
  live: LiveRule | undefined,
): HealthReport {
  if (row.is_disabled === 1) return { health: 'unknown', error: '', since: null };
  if (live?.problem != null) return { health: 'err', error: live.problem, since: row.error_since };
  if (live?.failing)
    return { health: 'err', error: live.failing.error, since: row.error_since ?? live.failing.since * 60 };
  if (live) return { health: live.minute === null ? 'unknown' : 'ok', error: '', since: null };
  if (row.error_since === null) return { health: 'unknown', error: '', since: null };
  const since = new Date(row.error_since * 1000).toISOString();
  return { health: 'err', error: `It cannot be evaluated since ${since}.`, since: row.error_since };
}
