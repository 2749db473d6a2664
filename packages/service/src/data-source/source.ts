/** What the evaluator asks of a data source, whatever answers: Prometheus and its kin over HTTP, or the service itself. */

export interface RangeRequest {
  readonly query: string;
  /** First and last step, unix seconds, both included. */
  readonly start: number;
  readonly end: number;
  /** Seconds. */
  readonly step: number;
  readonly signal: AbortSignal;
}

/** One series: parallel columns of unix seconds and values, which may share a buffer. NaN and infinities are values as the source gave them. */
export interface RangeSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

export interface RangeAnswer {
  readonly series: readonly RangeSeries[];
  readonly warnings: readonly string[];
  /** Bytes of the answer; 0 when it came from the service itself. */
  readonly bytes: number;
}

/**
 * Why a query has no answer. The first group is the source's fault and the same for every query; the second is the query's own.
 * `partial`: the source said that its answer leaves out data.
 */
export type SourceErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'refused_credentials'
  | 'overloaded'
  | 'server_error'
  | 'bad_answer'
  | 'bad_query'
  | 'too_large'
  | 'partial'
  | 'cancelled';

const FAULTS_OF_THE_QUERY: ReadonlySet<SourceErrorCode> = new Set(['bad_query', 'too_large', 'partial', 'cancelled']);

export class SourceError extends Error {
  readonly code: SourceErrorCode;
  /** Milliseconds that the source asked to wait. */
  readonly retryAfter: number | undefined;

  constructor(code: SourceErrorCode, message: string, options: { cause?: unknown; retryAfter?: number } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.retryAfter = options.retryAfter;
  }

  /** Every query would fail alike. */
  get isFaultOfTheSource(): boolean {
    return !FAULTS_OF_THE_QUERY.has(this.code);
  }
}

export interface SourceClient {
  /** Seconds that samples may need to arrive: the newest minute that is evaluated ended at least so long ago. */
  readonly evaluationDelay: number;
  /** @throws SourceError */
  queryRange(request: RangeRequest): Promise<RangeAnswer>;
  /** The same request as a line for a shell, without secrets. */
  curl(request: Omit<RangeRequest, 'signal'>): string;
  close(): Promise<void>;
}
