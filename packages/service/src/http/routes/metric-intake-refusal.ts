/** What went wrong with metrics that were sent, in the words and codes of the wire. */
import { OtlpDecodeError } from '../../intake/otlp/record.ts';
import { StoreError } from '../../log-store/index.ts';
import { UndecodableMetrics, type Written } from '../../metric-store/index.ts';
import { Refusal } from '../../refusal.ts';

/** Seconds after which a sender should try again. */
const RETRY_AFTER = 5;

/** What of a request was not stored, in a sentence; undefined when all of it was. */
export function refusedSentence({ stored, refused }: Written): string | undefined {
  if (refused.length === 0) return undefined;
  const total = refused.reduce((sum, { samples }) => sum + samples, 0);
  const reasons = refused.map(({ samples, reason }) => `${samples}: ${reason}`).join('; ');
  return `${total} samples were not stored (${reasons}). The other ${stored} were.`;
}

/** What the error of a request means for its sender. */
export function metricRefusal(error: Error): Error {
  if (error instanceof UndecodableMetrics || error instanceof OtlpDecodeError) {
    return new Refusal('bad_request', error.message, { cause: error });
  }
  if (!(error instanceof StoreError)) return error;
  return new Refusal('unavailable', `${error.message}; send it again shortly.`, {
    retryAfter: RETRY_AFTER,
    cause: error,
  });
}
