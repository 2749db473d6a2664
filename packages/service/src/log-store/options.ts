/** What the log store can be told. */
import type { ClusterOptions } from './table.ts';

/** The part of a logger that the store uses; pino fits. */
export interface StoreLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export type EngineOptions =
  /** `memoryLimit` in bytes, for the engine's process. */
  | { readonly kind: 'embedded'; readonly memoryLimit: number }
  /** ClickHouse 26.2 or newer. User and password stand in the URL. */
  | { readonly kind: 'server'; readonly url: string; readonly cluster?: ClusterOptions };

/** Days that records are kept, by dataset. */
export interface Retention {
  /** For datasets that `datasets` does not name. */
  readonly days: number;
  readonly datasets?: Readonly<Record<string, number>>;
}

/** Bounds of a query. Times in milliseconds, memory in bytes. */
export interface QueryLimits {
  readonly timeout: number;
  readonly memory: number;
}

export interface LogStoreOptions {
  /** Engine, spool and backups have folders of their own in it. */
  readonly dataDirectory: string;
  readonly engine: EngineOptions;
  readonly log: StoreLog;
  /** Default `obsiac`. */
  readonly database?: string;
  /** Bytes that may wait to be loaded. Default 4 GiB. */
  readonly spoolBytes?: number;
  /** Bytes of the disk that are never filled. Default 512 MiB. */
  readonly minFreeBytes?: number;
  /** Default: 30 days. */
  readonly retention?: Retention;
  /** Default: 30 seconds, and a quarter of the embedded engine's memory or else 2 GiB. */
  readonly queryLimits?: QueryLimits;
  /** Milliseconds since the Unix epoch. */
  readonly now?: () => number;
}

export const DEFAULT_RETENTION: Retention = { days: 30 };
export const DEFAULT_SPOOL_BYTES = 4 * 1024 ** 3;
export const DEFAULT_MIN_FREE_BYTES = 512 * 1024 ** 2;
