/** Why the log store did not do what it was asked. */
import { ClickHouseError } from '@clickhouse/client';

export type StoreErrorCode =
  /** The engine is starting, restarting, or cannot be reached. */
  | 'store_unavailable'
  /** The embedded engine does not run on this platform. */
  | 'store_unsupported'
  | 'query_invalid'
  /** The query took longer than its deadline. */
  | 'query_timeout'
  /** The query needs more memory than it may use. */
  | 'query_too_large'
  | 'query_cancelled'
  | 'schema_too_new'
  | 'store_failed';

export class StoreError extends Error {
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'StoreError';
    this.code = code;
  }
}

/** ClickHouse's error codes that have a meaning of their own here. */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  '159': 'query_timeout',
  '160': 'query_timeout',
  '158': 'query_too_large',
  '241': 'query_too_large',
  '396': 'query_too_large',
  '394': 'query_cancelled',
  '202': 'store_unavailable',
  '427': 'query_invalid',
};

/** What an error of the client means. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof ClickHouseError) {
    return new StoreError(CODES[error.code] ?? 'store_failed', error.message, error);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && /^(E(CONN|PIPE|NOENT|HOST|NET|TIMEDOUT|AI_AGAIN)|UND_)/.test(code)) {
    return new StoreError('store_unavailable', 'The log store cannot be reached', error);
  }
  if (/socket hang up|aborted/i.test(message)) {
    return new StoreError('store_unavailable', 'The log store broke the connection off', error);
  }
  if (/Timeout error/.test(message))
    return new StoreError('query_timeout', 'The log store did not answer in time', error);
  return new StoreError('store_failed', message, error);
}

/**
 * Codes of an insert that fails in the same way each time: the data or the statement is at fault. Everything else (memory, disk,
 * time, connections, too many parts, Keeper) may pass.
 */
const LASTING_CODES = new Set([
  '6',
  '26',
  '27',
  '33',
  '36',
  '38',
  '41',
  '47',
  '48',
  '53',
  '62',
  '69',
  '70',
  '72',
  '117',
  '130',
  '131',
  '349',
  '407',
  '457',
  '636',
]);

export function isLastingInsertError(error: unknown): boolean {
  return error instanceof ClickHouseError && LASTING_CODES.has(error.code);
}
