/** Leaves out samples whose time is not one that is kept. */
import type { IncomingMetrics, IncomingSeries, Refused } from '../incoming.ts';
import { oldestKept } from '../retention.ts';
import { RefusedCounts } from '../wire/refused-counts.ts';

/** Milliseconds that a sender's clock may be ahead. */
const AHEAD_MS = 3_600_000;

export interface Timely {
  readonly series: readonly IncomingSeries[];
  /** How many samples the series have together. */
  readonly samples: number;
  readonly refused: readonly Refused[];
}

/** @param now milliseconds since 1970 */
export function keepTimely(metrics: IncomingMetrics, now: number, retentionDays: number): Timely {
  const oldest = oldestKept(now, retentionDays);
  const newest = now + AHEAD_MS;
  const refused = new RefusedCounts();
  for (const { samples, reason } of metrics.refused) refused.add(samples, reason);
  const series: IncomingSeries[] = [];
  let samples = 0;
  for (const each of metrics.series) {
    const kept = each.times.every((time) => time >= oldest && time <= newest)
      ? each
      : without(each, oldest, newest, refused);
    if (kept.times.length > 0) series.push(kept);
    samples += kept.times.length;
  }
  return { series, samples, refused: refused.list() };
}

function without(series: IncomingSeries, oldest: number, newest: number, refused: RefusedCounts): IncomingSeries {
  const { labels, times, values, stale } = series;
  const places: number[] = [];
  for (const [place, time] of times.entries()) {
    if (time < oldest) refused.add(1, 'older than samples are kept (setting metric_retention)');
    else if (time <= newest) places.push(place);
    else refused.add(1, 'more than an hour ahead of this clock');
  }
  return {
    labels,
    times: places.map((place) => times[place]!),
    values: places.map((place) => values[place]!),
    stale: stale && places.map((place) => stale[place]!),
  };
}
