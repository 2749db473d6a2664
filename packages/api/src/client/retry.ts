/** When to send a request again: full jitter up to a cap, `Retry-After` honoured, attempts and total time bounded. */
import { ApiError, factsOf } from './api-error.ts';

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface RetryPolicy {
  /** Attempts of one request, the first included. Waiting because of a 429 is bounded by time alone. */
  readonly maxAttempts: number;
  /** Milliseconds that all attempts of one request may take together, waiting included. */
  readonly maxTotalMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly sleep: Sleep;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 8000;

/** A timer that ends early, without an error, when `signal` is aborted. */
export const sleepFor: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });

/** Milliseconds to wait before attempt `attempt + 1`, or null when there is no more to try. */
function waitBefore(error: ApiError, attempt: number, startedAt: number, policy: RetryPolicy): number | null {
  if (!error.retryable) return null;
  if (error.code !== 'rate_limited' && attempt >= policy.maxAttempts) return null;
  const cap = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt - 1, 20));
  const jitter = policy.random() * cap;
  // Jitter comes on top of what was asked for, or all who wait would come back at once.
  const wait = error.retryAfterMs === undefined ? jitter : error.retryAfterMs + policy.random() * FIRST_WAIT_MS;
  return policy.now() + wait - startedAt > policy.maxTotalMs ? null : wait;
}

export interface Attempt<T> {
  /** Sends once. */
  readonly send: () => Promise<T>;
  /** Looks for what an attempt without an answer may have left behind; undefined: nothing there, send again. */
  readonly recover?: (() => Promise<T | undefined>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of each failure before waiting. */
  readonly onFailure?: (error: ApiError) => void;
}

/** Sends until it works, is refused for good, or the policy is exhausted. Throws the last `ApiError`. */
export async function retry<T>(attempt: Attempt<T>, policy: RetryPolicy): Promise<T> {
  const startedAt = policy.now();
  let maybeDone = false;
  for (let count = 1; ; count += 1) {
    try {
      if (maybeDone && attempt.recover !== undefined) {
        const found = await attempt.recover();
        if (found !== undefined) return found;
        maybeDone = false;
      }
      return await attempt.send();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      maybeDone ||= error.ambiguous;
      attempt.onFailure?.(error);
      const wait = attempt.signal?.aborted ? null : waitBefore(error, count, startedAt, policy);
      if (wait === null) throw withAmbiguity(error, maybeDone);
      await policy.sleep(wait, attempt.signal);
      if (attempt.signal?.aborted)
        throw new ApiError('cancelled', 'The request was cancelled.', { ambiguous: maybeDone });
    }
  }
}

/** The last failure may be a plain refusal while an earlier attempt had no answer: then the whole is open. */
function withAmbiguity(error: ApiError, maybeDone: boolean): ApiError {
  if (error.ambiguous === maybeDone) return error;
  return new ApiError(error.code, error.message, { ...factsOf(error), ambiguous: maybeDone });
}
