/** OTLP metrics as either encoding brings them (opentelemetry-proto 1.x, metrics/v1/metrics.proto). */
import type { FieldValue } from '@obsiac/model';

export type Attributes = Readonly<Record<string, FieldValue>>;

export type MetricKind = 'gauge' | 'sum' | 'histogram' | 'exponential_histogram' | 'summary';

/** A data point of any kind; what a kind does not have is empty. */
export interface Point {
  attributes: Record<string, FieldValue>;
  /** Nanoseconds since 1970; 0 when the sender has not set it. */
  time: bigint;
  flags: number;
  /** Of gauges and sums. */
  value: number;
  count: number;
  /** Undefined: the sender does not tell. */
  sum: number | undefined;
  bounds: number[];
  /** One more than bounds, or none. */
  bucketCounts: number[];
  quantiles: { quantile: number; value: number }[];
}

export function emptyPoint(): Point {
  return {
    attributes: {},
    time: 0n,
    flags: 0,
    value: 0,
    count: 0,
    sum: undefined,
    bounds: [],
    bucketCounts: [],
    quantiles: [],
  };
}

export interface Metric {
  name: string;
  description: string;
  unit: string;
  kind: MetricKind;
  /** 0 unspecified, 1 delta, 2 cumulative. */
  temporality: number;
  monotonic: boolean;
  points: Point[];
}

export function emptyMetric(): Metric {
  return { name: '', description: '', unit: '', kind: 'gauge', temporality: 0, monotonic: false, points: [] };
}

export interface ScopeMetrics {
  readonly scope: { name: string; version: string };
  readonly metrics: readonly Metric[];
}

export interface ResourceMetrics {
  readonly resource: Attributes;
  readonly scopes: readonly ScopeMetrics[];
}

export const DELTA = 1;
/** Bit of `flags`: there is no value any more. */
export const NO_RECORDED_VALUE = 1;
