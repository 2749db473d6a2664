/**
 * The heart of alerting: from a rule, its episodes so far and the minutes of its series to episodes and events. It reads nothing else,
 * so that the service, a backtest and a preview give the same answer, and a restart forgets nothing: whether a minute fires or
 * resolves follows from the samples of the window alone, and from which episodes are open.
 */
import {
  type AlertEvent,
  type AlertingRule,
  BAD,
  type EndReason,
  type Episode,
  GOOD,
  type MISSING,
  reachOf,
  type SeriesMinutes,
  type SeriesStatus,
} from './episode.ts';
import { MinuteWindow } from './minute-window.ts';

export interface TransitionInput {
  readonly rule: AlertingRule;
  /** Open episodes of the rule, and those that ended within its reach before `from`. */
  readonly episodes: readonly Episode[];
  /** From `from - reachOf(rule, …) + 1` to `to`, where a rule with open episodes is firing; each key once. */
  readonly series: readonly SeriesMinutes[];
  /** First and last minute to evaluate, in order, both included. */
  readonly from: number;
  readonly to: number;
  /** A hash that is the same everywhere: ids of episodes are made with it. */
  readonly identify: (text: string) => string;
}

export interface TransitionResult {
  /** In order of time; within a minute those that fire come first, each in the order of their keys. */
  readonly events: readonly AlertEvent[];
  /** All that is open after `to`, and all that ended in this call. */
  readonly episodes: readonly Episode[];
  /** At `to`; series with samples in the window, and those that fire. */
  readonly series: readonly SeriesStatus[];
}

/** Evaluates the minutes from `from` to `to`. Pure. */
export function transition(input: TransitionInput): TransitionResult {
  const run = new Run(input);
  for (let minute = input.from; minute <= input.to; minute++) run.evaluate(minute);
  return { events: run.events, episodes: [...run.ended, ...run.open.values()], series: run.statuses() };
}

/** Ends open episodes that no sample ends: their rule was disabled or deleted. */
export function endEpisodes(episodes: readonly Episode[], minute: number, reason: EndReason): AlertEvent[] {
  return episodes
    .filter(({ resolvedMinute }) => resolvedMinute === undefined)
    .map((episode) => ({
      kind: 'resolved',
      minute,
      episode: { ...episode, resolvedMinute: Math.max(minute, episode.firedMinute), reason },
      value: Number.NaN,
      late: false,
    }));
}

class Run {
  readonly events: AlertEvent[] = [];
  readonly ended: Episode[] = [];
  /** Open episodes by series. */
  readonly open = new Map<string, Episode>();
  readonly #lastEnd = new Map<string, number>();
  readonly #windows: readonly MinuteWindow[];
  readonly #input: TransitionInput;

  constructor(input: TransitionInput) {
    this.#input = input;
    for (const episode of input.episodes) {
      if (episode.resolvedMinute === undefined) this.open.set(episode.seriesKey, episode);
      else {
        const end = Math.max(episode.resolvedMinute, this.#lastEnd.get(episode.seriesKey) ?? 0);
        this.#lastEnd.set(episode.seriesKey, end);
      }
    }
    const seen = new Set(input.series.map(({ key }) => key));
    const vanished = [...this.open.values()].filter(({ seriesKey }) => !seen.has(seriesKey)).map(withoutSamples);
    this.#windows = [...input.series, ...vanished]
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .map((series) => new MinuteWindow(series, input.rule));
  }

  evaluate(minute: number): void {
    // Those that fire come first: a group whose last series recovers while another fires goes on.
    for (const window of this.#windows) if (this.#fires(window, minute)) this.#fire(window, minute);
    for (const window of this.#windows) {
      const episode = this.open.get(window.series.key);
      const reason = episode && this.#endOf(window, episode, minute);
      if (reason) this.#resolve(window, episode, minute, reason);
    }
  }

  #fires(window: MinuteWindow, minute: number): boolean {
    if (this.open.has(window.series.key)) return false;
    const end = this.#lastEnd.get(window.series.key);
    return (end === undefined || minute > end) && window.isMet(minute);
  }

  #fire(window: MinuteWindow, minute: number): void {
    const { rule, identify, to } = this.#input;
    const { key, labels } = window.series;
    const end = this.#lastEnd.get(key) ?? Number.NEGATIVE_INFINITY;
    const firstBadMinute = window.firstBad(minute, end) ?? minute;
    const id = identify(JSON.stringify([rule.id, key, firstBadMinute]));
    const [companion] = this.open.values();
    const episode: Episode = {
      id,
      groupId: companion?.groupId ?? id,
      ruleId: rule.id,
      seriesKey: key,
      labels,
      definition: rule.definition,
      firstBadMinute,
      firedMinute: minute,
      value: window.worstValue(minute),
    };
    this.open.set(key, episode);
    this.events.push({ kind: 'fired', minute, episode, value: window.latestValue(minute), late: minute < to });
  }

  /** Why the episode ends at this minute; undefined when it does not. */
  #endOf(window: MinuteWindow, episode: Episode, minute: number): EndReason | undefined {
    const { rule } = this.#input;
    if (window.isEmpty(minute, reachOf(rule, true))) {
      return episode.definition === rule.definition ? 'no_data' : 'rule_changed';
    }
    if (minute - rule.recoverMinutes < episode.firedMinute) return undefined;
    if (rule.missing !== 'good' && !this.#speaksOfRecovery(window, minute)) return undefined;
    for (let back = 0; back < rule.recoverMinutes; back++) if (window.isMet(minute - back)) return undefined;
    return 'recovered';
  }

  /** A gap proves no recovery: it takes a good minute to end what nobody has seen going on. */
  #speaksOfRecovery(window: MinuteWindow, minute: number): boolean {
    const quality = window.qualityAt(minute);
    if (quality !== BAD) return quality === GOOD;
    const { recoverMinutes } = this.#input.rule;
    return window.presentCount(minute, recoverMinutes) === recoverMinutes;
  }

  #resolve(window: MinuteWindow, episode: Episode, minute: number, reason: EndReason): void {
    const ended: Episode = { ...episode, resolvedMinute: minute, reason };
    this.open.delete(episode.seriesKey);
    this.ended.push(ended);
    this.#lastEnd.set(episode.seriesKey, minute);
    const value = window.latestValue(minute);
    this.events.push({ kind: 'resolved', minute, episode: ended, value, late: minute < this.#input.to });
  }

  statuses(): SeriesStatus[] {
    const { to, rule } = this.#input;
    return this.#windows
      .filter((window) => this.open.has(window.series.key) || !window.isEmpty(to, rule.totalMinutes))
      .map((window) => this.#statusOf(window, to));
  }

  #statusOf(window: MinuteWindow, minute: number): SeriesStatus {
    const { key, labels } = window.series;
    const episode = this.open.get(key);
    const badMinutes = window.badCount(minute);
    const state = episode ? 'firing' : badMinutes > 0 ? 'pending' : 'normal';
    const firstBad = state === 'pending' ? window.firstBad(minute, Number.NEGATIVE_INFINITY) : undefined;
    return {
      key,
      labels,
      state,
      badMinutes,
      quality: window.qualityAt(minute) as typeof GOOD | typeof BAD | typeof MISSING,
      value: window.latestValue(minute),
      since: episode?.firedMinute ?? firstBad,
      episode,
    };
  }
}

function withoutSamples({ seriesKey, labels, firedMinute }: Episode): SeriesMinutes {
  return { key: seriesKey, labels, first: firedMinute, quality: new Uint8Array(0), values: new Float64Array(0) };
}
