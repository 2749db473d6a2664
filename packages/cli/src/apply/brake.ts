/** Decides when an apply must not go on: stopped by the user, a service that is gone, a refused token, a state that cannot be written. */
import type { ApiError, ApiErrorCode, Scope } from '@obsiac/api';

/** After one of these, with all its retries, and no success meanwhile, further requests would only wait as long again. */
const NO_ANSWER: ReadonlySet<ApiErrorCode> = new Set([
  'unreachable',
  'timeout',
  'cut',
  'service_error',
  'rate_limited',
]);
/** What is wrong here is wrong for every request. */
const HOPELESS: ReadonlySet<ApiErrorCode> = new Set(['tls', 'not_the_api', 'unknown_organization', 'revision_moved']);
const ABOUT_THE_TOKEN: ReadonlySet<ApiErrorCode> = new Set(['credentials_refused', 'scope_too_low']);

type StopKind = 'cancelled' | 'lost' | 'service' | 'stale' | 'state';

export interface Stop {
  readonly kind: StopKind;
  /** A sentence. */
  readonly reason: string;
}

export class Brake {
  #stop: Stop | null = null;
  #lastSuccess = Number.NEGATIVE_INFINITY;
  readonly #refused = new Map<Scope, string>();

  /** The first reason counts. */
  pull(stop: Stop): void {
    this.#stop ??= stop;
  }

  get stop(): Stop | null {
    return this.#stop;
  }

  succeeded(at: number): void {
    this.#lastSuccess = at;
  }

  /** `startedAt`: when the operation that failed was begun. */
  failed(error: ApiError, scope: Scope, startedAt: number): void {
    if (ABOUT_THE_TOKEN.has(error.code)) this.#refused.set(scope, error.message);
    else if (error.code === 'revision_moved') this.pull({ kind: 'stale', reason: error.message });
    else if (HOPELESS.has(error.code)) this.pull({ kind: 'service', reason: error.message });
    else if (NO_ANSWER.has(error.code) && error.retryable && this.#lastSuccess < startedAt) {
      this.pull({ kind: 'service', reason: `The service has stopped answering. ${error.message}` });
    }
  }

  /** Why nothing with this scope may be sent any more; undefined: it may. */
  blocks(scope: Scope): string | undefined {
    return this.#stop?.reason ?? this.#refused.get(scope);
  }
}
