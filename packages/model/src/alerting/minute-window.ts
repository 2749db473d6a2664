/** Counts over the last minutes of one series. */
import { type AlertingRule, BAD, MISSING, type SeriesMinutes } from './episode.ts';

export class MinuteWindow {
  readonly series: SeriesMinutes;
  readonly #rule: AlertingRule;
  /** Element i: bad minutes, and minutes with a sample, before column i. Short-lived: plain arrays cost the garbage collector less than typed ones. */
  readonly #bad: number[];
  readonly #present: number[];

  constructor(series: SeriesMinutes, rule: AlertingRule) {
    this.series = series;
    this.#rule = rule;
    const { quality } = series;
    this.#bad = new Array<number>(quality.length + 1).fill(0);
    this.#present = new Array<number>(quality.length + 1).fill(0);
    for (let index = 0; index < quality.length; index++) {
      this.#bad[index + 1] = this.#bad[index]! + (quality[index] === BAD ? 1 : 0);
      this.#present[index + 1] = this.#present[index]! + (quality[index] === MISSING ? 0 : 1);
    }
  }

  /** The column after the minute, within the columns. */
  #after(minute: number): number {
    return Math.min(Math.max(minute - this.series.first + 1, 0), this.series.quality.length);
  }

  qualityAt(minute: number): number {
    return this.series.quality[minute - this.series.first] ?? MISSING;
  }

  /** Bad minutes among the last `totalMinutes` up to and including the minute. */
  badCount(minute: number): number {
    return this.#bad[this.#after(minute)]! - this.#bad[this.#after(minute - this.#rule.totalMinutes)]!;
  }

  isMet(minute: number): boolean {
    return this.badCount(minute) >= this.#rule.badMinutes;
  }

  /** No sample in the last `minutes` up to and including the minute. */
  isEmpty(minute: number, minutes: number): boolean {
    return this.presentCount(minute, minutes) === 0;
  }

  /** Minutes with a sample among the last `minutes` up to and including the minute. */
  presentCount(minute: number, minutes: number): number {
    return this.#present[this.#after(minute)]! - this.#present[this.#after(minute - minutes)]!;
  }

  /** The first bad minute of the window after `after`; undefined when there is none. */
  firstBad(minute: number, after: number): number | undefined {
    const { first, quality } = this.series;
    const from = Math.max(minute - this.#rule.totalMinutes + 1, first, after + 1);
    const until = first + this.#after(minute);
    for (let each = from; each < until; each++) if (quality[each - first] === BAD) return each;
    return undefined;
  }

  /** The newest value of the window; NaN when there is none. */
  latestValue(minute: number): number {
    const { first, values } = this.series;
    const from = Math.max(minute - this.#rule.totalMinutes + 1, first);
    for (let each = first + this.#after(minute) - 1; each >= from; each--) {
      const value = values[each - first]!;
      if (!Number.isNaN(value)) return value;
    }
    return Number.NaN;
  }

  /** The worst value of the bad minutes of the window; NaN when they have none. */
  worstValue(minute: number): number {
    const { first, values, quality } = this.series;
    let worst = Number.NaN;
    for (let each = Math.max(minute - this.#rule.totalMinutes + 1, first); each < first + this.#after(minute); each++) {
      if (quality[each - first] === BAD) worst = worse(this.#rule.worst, worst, values[each - first]!);
    }
    return worst;
  }
}

function worse(which: AlertingRule['worst'], worst: number, value: number): number {
  if (which === 'last' || Number.isNaN(worst)) return value;
  return which === 'greatest' ? Math.max(worst, value) : Math.min(worst, value);
}
