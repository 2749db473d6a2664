/** Follows a live tail over broken connections, without gaps and without showing a record twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, type LogsClient, type LogTailEvent } from '@obsiac/api';

export type FollowEvent = LogTailEvent | { readonly kind: 'broken'; readonly reason: string };

export interface Following {
  readonly query: string;
  /** Unix nanoseconds: records received since then. */
  readonly from: bigint;
  readonly signal: AbortSignal;
  /** Milliseconds before the first new attempt; doubled up to half a minute. */
  readonly firstWaitMs?: number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Errors after which the same request may succeed later. */
function isPassing(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.retryable || error.code === 'cut' || error.code === 'timeout');
}

/** Ends when the signal is aborted; throws what will not pass. */
export async function* follow(
  tail: LogsClient['tail'],
  { query, from, signal, firstWaitMs = FIRST_WAIT_MS }: Following,
): AsyncGenerator<FollowEvent, void, void> {
  let since = from;
  /** Records that were shown and were received at `since`: they come again after a new connection. */
  let shown = new Set<string>();
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    let reason = 'The service ended the stream.';
    try {
      for await (const event of tail({ query, from: since.toString() }, { signal })) {
        waitMs = firstWaitMs;
        if (event.kind === 'record') {
          const received = BigInt(event.record.observed_timestamp);
          if (received === since && shown.has(event.record.id)) continue;
          if (received > since) [since, shown] = [received, new Set()];
          if (received === since) shown.add(event.record.id);
        }
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error)) throw error;
      reason = error.message;
    }
    if (signal.aborted) return;
    yield { kind: 'broken', reason };
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}
