/** The error of everything that goes wrong between a client and the service, with a closed list of codes. */

export type ApiErrorCode =
  | 'unreachable'
  | 'timeout'
  | 'tls'
  | 'cut'
  | 'not_the_api'
  | 'bad_answer'
  | 'credentials_refused'
  | 'scope_too_low'
  | 'unknown_organization'
  | 'not_found'
  | 'bad_request'
  | 'conflict'
  | 'revision_moved'
  | 'rate_limited'
  | 'service_error'
  | 'cancelled';

export interface ApiErrorDetail {
  /** Where in the request, for example `body.eval_window`. */
  readonly path: string;
  readonly message: string;
  /** For a log query: where in its text, in UTF-16 units; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
}

export interface ApiErrorFacts {
  readonly status?: number;
  readonly retryable?: boolean;
  readonly ambiguous?: boolean;
  readonly details?: readonly ApiErrorDetail[];
  readonly retryAfterMs?: number | undefined;
}

/** The service, or the way to it, refused. `message` is a sentence that says what is wrong and what to do; never a token. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** Whether the request may have been carried out although no answer says so. */
  readonly ambiguous: boolean;
  /** What the service found wrong with the request, from a 400. */
  readonly details: readonly ApiErrorDetail[];
  /** What `Retry-After` asked for, in milliseconds; undefined when it did not. */
  readonly retryAfterMs: number | undefined;

  // No `cause`: what a transport or a JSON parser puts into its messages may quote a token.
  constructor(code: ApiErrorCode, message: string, facts: ApiErrorFacts = {}) {
    super(message);
    this.code = code;
    this.status = facts.status ?? 0;
    this.retryable = facts.retryable ?? false;
    this.ambiguous = facts.ambiguous ?? false;
    this.details = facts.details ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The facts of an error, to make another of it. */
export function factsOf({ status, retryable, ambiguous, details, retryAfterMs }: ApiError): ApiErrorFacts {
  return { status, retryable, ambiguous, details, retryAfterMs };
}
