/** What can be asked of the service's own metrics, whether they were sent to it or are computed from its logs. */
import type { Expr, LabelMatcher, Limits, Storage } from '@obsiac/promql';

/** A query for which samples are to be read. */
export interface QueryScope {
  /** Id of the organisation. */
  readonly org: string;
  readonly expr: Expr;
  /** Milliseconds between steps; undefined for an instant query. */
  readonly step: number | undefined;
}

/** A question about series. */
export interface SeriesScope {
  readonly org: string;
  /** Series that one of the selectors takes; without selectors, all. */
  readonly selectors: readonly (readonly LabelMatcher[])[];
  /** Milliseconds since 1970, both included. Days are the grain: a series of the same day may be told. */
  readonly from: number;
  readonly to: number;
  /** No more than this many are wanted; one more is given when there are more. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

export interface MetricMetadata {
  /** `counter`, `gauge`, `histogram`, `summary`, `info`, `stateset`, `gaugehistogram` or `unknown`. */
  readonly type: string;
  readonly help: string;
  readonly unit: string;
}

/** Every function throws StoreError; a query's storage throws QueryError too, when it would read too much. */
export interface MetricReader {
  /** How much one query may read. */
  readonly limits: Pick<Limits, 'series' | 'samples' | 'timeout'>;
  /** Milliseconds back from now that a question about series is over when it names no start. */
  readonly defaultRange: number;
  /** A storage for one query of one organisation. */
  storage(scope: QueryScope): Storage;
  /** Label sets, in no particular order. */
  series(scope: SeriesScope): Promise<Readonly<Record<string, string>>[]>;
  /** Sorted. */
  labelNames(scope: SeriesScope): Promise<string[]>;
  /** Sorted. */
  labelValues(label: string, scope: SeriesScope): Promise<string[]>;
  /** What senders have told of metrics, by name of the metric. */
  metadata(scope: {
    readonly org: string;
    readonly metric?: string | undefined;
  }): Promise<ReadonlyMap<string, readonly MetricMetadata[]>>;
}
