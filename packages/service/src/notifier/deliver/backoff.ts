/** When an attempt that failed is made again. */

/** Milliseconds. */
const FIRST = 5000;
const LONGEST = 600_000;
/** A receiver may ask for patience, not for being forgotten. */
const LONGEST_ASKED = 3_600_000;
const JITTER = 0.25;

/**
 * Milliseconds until the next attempt: doubled from 5 seconds to 10 minutes, up to a quarter more or less so that many do not come at
 * once; what the receiver asked for when it asked.
 * @param attempts made so far, at least 1
 * @param random from 0 to below 1
 */
export function backoff(attempts: number, retryAfter: number | undefined, random: number): number {
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, 1000), LONGEST_ASKED);
  const wait = Math.min(FIRST * 2 ** Math.min(attempts - 1, 20), LONGEST);
  return Math.round(wait * (1 + JITTER * (2 * random - 1)));
}

/** `Retry-After` in milliseconds: seconds, or a date. Undefined when it is neither. */
export function retryAfterOf(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d{1,9}(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
