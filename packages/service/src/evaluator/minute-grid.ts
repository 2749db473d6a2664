/** Puts the answer of a data source on the grid of minutes. */
import { type SeriesMinutes, seriesKey } from '@obsiac/model';
import type { RangeSeries } from '../data-source/source.ts';

/** A series before it is judged. */
export type MinuteValues = Omit<SeriesMinutes, 'quality'>;

/**
 * @param first first minute of the grid
 * @param last last minute
 * @returns series in the order of their keys. Two that differ in the metric name alone are one: a minute takes the first value.
 */
export function toMinutes(series: readonly RangeSeries[], first: number, last: number): MinuteValues[] {
  const byKey = new Map<string, MinuteValues>();
  const columns = last - first + 1;
  // One buffer for all: thousands of small ones a minute keep the garbage collector busy.
  const grid = new Float64Array(series.length * columns).fill(Number.NaN);
  for (const each of series) {
    const key = seriesKey(each.labels);
    const values = byKey.get(key)?.values ?? grid.subarray(byKey.size * columns, (byKey.size + 1) * columns);
    for (let index = 0; index < each.times.length; index++) {
      const column = Math.round(each.times[index]! / 60) - first;
      if (column < 0 || column >= values.length) continue;
      if (Number.isNaN(values[column]!)) values[column] = each.values[index]!;
    }
    if (!byKey.has(key)) byKey.set(key, { key, labels: withoutName(each.labels), first, values });
  }
  return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function withoutName(labels: Readonly<Record<string, string>>): Record<string, string> {
  const { __name__: _, ...rest } = labels;
  return rest;
}

/** Labels of the series that stands for "this rule has more series than the limit". */
export const OVER_LIMIT_LABELS = { obsiac_limit: 'series' } as const;

export interface LimitedSeries {
  readonly kept: readonly MinuteValues[];
  /** Series with a sample, by minute, when there are more than the limit. */
  readonly counts: Float64Array | undefined;
}

/**
 * Keeps what fires already and fills up to the limit in the order of keys: a rule that suddenly has thirty thousand series still
 * tells of the old ones, and says that it leaves out the others.
 */
export function limitSeries(series: readonly MinuteValues[], open: ReadonlySet<string>, limit: number): LimitedSeries {
  if (series.length <= limit) return { kept: series, counts: undefined };
  const known = series.filter(({ key }) => open.has(key));
  const room = Math.max(limit - known.length, 0);
  const others = series.filter(({ key }) => !open.has(key)).slice(0, room);
  const counts = new Float64Array(series[0]!.values.length);
  for (const { values } of series) {
    for (let minute = 0; minute < values.length; minute++) if (!Number.isNaN(values[minute]!)) counts[minute]! += 1;
  }
  return { kept: [...known, ...others], counts };
}
