/** A typed client of API v4. `fetch`, clock, randomness and sleep are passed in; it writes nothing anywhere. */
import type { Scope } from './tokens.ts';

/** The part of a response that the client uses; `fetch` of any origin fits. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface HttpRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export type Fetch = (url: string, request: HttpRequest) => Promise<HttpAnswer>;

/** One member of `api_config`. */
export interface Credential {
  readonly refresh_token: string;
  /** With `/api/v4`. */
  readonly api_base_url: string;
  readonly org: string;
}

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

/** The service, or the way to it, refused. `message` is a sentence that says what is wrong and what to do; never a token. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;
  /** Whether the request may have been carried out although no answer came. */
  readonly ambiguous: boolean;
  /** Where in the request, and what: from a 400 of the service. */
  readonly details: readonly { readonly path: string; readonly message: string }[];

  constructor(
    code: ApiErrorCode,
    message: string,
    facts: {
      readonly status?: number;
      readonly retryable?: boolean;
      readonly ambiguous?: boolean;
      readonly details?: readonly { readonly path: string; readonly message: string }[];
    } = {},
  ) {
    super(message);
    this.code = code;
    this.status = facts.status ?? 0;
    this.retryable = facts.retryable ?? false;
    this.ambiguous = facts.ambiguous ?? false;
    this.details = facts.details ?? [];
  }
}

export interface ClientOptions {
  readonly fetch: Fetch;
  /** Called when a scope is first needed, so that a plan never touches the write and delete credentials. */
  readonly credential: (scope: Scope) => Credential;
  /** `obsiac/0.1.0`. */
  readonly userAgent?: string;
  /** Attempts of one request, the first included. */
  readonly maxAttempts?: number;
  /** Milliseconds that all attempts of one request may take together, waiting included. */
  readonly maxTotalMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Use `createClient`. */
export interface Client {
  /** Requests sent so far, retries and token exchanges included. */
  readonly requests: () => number;
}

export function createClient(_options: ClientOptions): Client {
  throw new Error('not yet');
}
