/** What the metric store can be told. */
import type { EngineAccess, QueryLimits } from '../log-store/index.ts';

/** The part of a logger that the store uses; pino fits. */
export interface MetricLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

export interface MetricStoreOptions {
  readonly engine: EngineAccess;
  /** Days that samples are kept. */
  readonly retentionDays: number;
  /** Time and memory of a statement. */
  readonly queryLimits: QueryLimits;
  /** Series and samples that one query may read. */
  readonly readLimits: { readonly series: number; readonly samples: number };
  readonly log: MetricLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Milliseconds that the first request of a batch waits for others; 200 unless told. */
  readonly linger?: number;
}
