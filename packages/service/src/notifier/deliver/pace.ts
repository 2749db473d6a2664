/** How fast a channel is sent to: a token bucket for each, and a pause after what it refused for now. */
import { receiverOf } from '../receivers/index.ts';

interface Bucket {
  tokens: number;
  /** Unix milliseconds of the last look at the tokens. */
  at: number;
  pausedUntil: number;
  failures: number;
  inFlight: number;
}

export interface Pace {
  /** Takes leave to send one message now; false when it must wait. */
  take(channelId: number, channelType: string, nowMs: number): boolean;
  /** Nothing was sent after all. */
  giveBack(channelId: number): void;
  /** The message has gone, or not; `retryAfter` is what the receiver asked for, in milliseconds. */
  done(channelId: number, outcome: 'sent' | 'refused' | 'failed', nowMs: number, retryAfter?: number): void;
}

/** Attempts under way to one channel, so that a slow one leaves room for the others. */
const MOST_IN_FLIGHT = 4;

/** Milliseconds; a channel that fails is left alone for so long, doubled with each further failure. */
const PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export function createPace(): Pace {
  const buckets = new Map<number, Bucket>();
  const bucketOf = (channelId: number, burst: number, nowMs: number): Bucket => {
    const bucket = buckets.get(channelId) ?? { tokens: burst, at: nowMs, pausedUntil: 0, failures: 0, inFlight: 0 };
    buckets.set(channelId, bucket);
    return bucket;
  };
  return {
    take: (channelId, channelType, nowMs) => {
      const rate = receiverOf(channelType)?.rate;
      // What cannot be sent fails at once, and costs nobody anything.
      if (rate === undefined) return true;
      const bucket = bucketOf(channelId, rate.burst, nowMs);
      bucket.tokens = Math.min(rate.burst, bucket.tokens + (Math.max(0, nowMs - bucket.at) / 1000) * rate.perSecond);
      bucket.at = Math.max(bucket.at, nowMs);
      if (bucket.tokens < 1 || bucket.pausedUntil > nowMs || bucket.inFlight >= MOST_IN_FLIGHT) return false;
      bucket.tokens -= 1;
      bucket.inFlight += 1;
      return true;
    },
    giveBack: (channelId) => {
      const bucket = buckets.get(channelId);
      if (bucket === undefined) return;
      bucket.inFlight = Math.max(0, bucket.inFlight - 1);
      bucket.tokens += 1;
    },
    done: (channelId, outcome, nowMs, retryAfter) => {
      const bucket = buckets.get(channelId);
      if (bucket === undefined) return;
      bucket.inFlight = Math.max(0, bucket.inFlight - 1);
      if (outcome !== 'failed') {
        bucket.failures = 0;
        return;
      }
      const pause = Math.min(PAUSE * 2 ** bucket.failures, LONGEST_PAUSE);
      bucket.failures += 1;
      bucket.pausedUntil = Math.max(bucket.pausedUntil, nowMs + (retryAfter ?? pause));
    },
  };
}
