/** Where samples come from: the interface the evaluator reads through, and the shape of what it reads. */
import type { Labels } from '../series/labels.ts';
import type { MatchOp } from '../syntax/ast.ts';

/** One series with its samples in columns. The columns have equal length; times rise strictly. */
export interface SeriesData {
  readonly labels: Labels;
  /** Milliseconds since 1970. */
  readonly times: Float64Array;
  readonly values: Float64Array;
  /**
   * 1 where the sample is a staleness marker ("the series ended here"); undefined when there is none. The marker
   * is a flag beside the values since JavaScript cannot tell its NaN from others.
   */
  readonly stale: Uint8Array | undefined;
}

/** A label matcher. The metric name is matched as the label `__name__`. A missing label counts as empty. */
export interface LabelMatcher {
  readonly label: string;
  readonly op: MatchOp;
  readonly value: string;
}

export interface SelectOptions {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A source of series. `select` gives every series that all matchers take, with its samples from `from` to `to`
 * (milliseconds, both included); giving more samples is allowed, giving a series twice is not. A live store
 * answers with a promise. An error it throws reaches the caller of the query as it is.
 */
export interface Storage {
  select(
    matchers: readonly LabelMatcher[],
    from: number,
    to: number,
    options?: SelectOptions,
  ): readonly SeriesData[] | Promise<readonly SeriesData[]>;
}

/** The index of the first time that is not before `time`. */
export function lowerBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a series between two times, both included, without copying. */
export function between(series: SeriesData, from: number, to: number): SeriesData {
  const first = lowerBound(series.times, from);
  const end = upperBound(series.times, to);
  if (first === 0 && end === series.times.length) return series;
  return {
    labels: series.labels,
    times: series.times.subarray(first, end),
    values: series.values.subarray(first, end),
    stale: series.stale?.subarray(first, end),
  };
}

/** The index of the first time after `time`. */
export function upperBound(times: Float64Array, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
