/** Spreads queries over the minute, so that a data source does not get all of them in its first second. */
import { createHash } from 'node:crypto';

/** Queries a second that are no burst. */
const RATE = 100;
/** Seconds of the minute that are used at most; the rest is for what is slow. */
const MOST = 50;

/** Seconds over which so many queries are spread. */
export function spreadOf(queries: number): number {
  return Math.min(MOST, Math.ceil(queries / RATE));
}

/**
 * Seconds between two moments at which queries begin. A source gets only so many at a time anyhow; one after the other they cost both
 * sides a third less than each for itself.
 */
const BURST = 10;

/** The seconds after the minute at which a query runs: always the same for one query and one spread. */
export function slotOf(key: string, spread: number): number {
  if (spread <= BURST) return 0;
  const even = (createHash('sha256').update(key).digest().readUInt32BE(0) / 2 ** 32) * spread;
  return Math.floor(even / BURST) * BURST;
}

/** The newest minute that may be evaluated: its samples have had their time to arrive, and its slot has come. */
export function dueMinute(nowMs: number, delaySeconds: number, slot: number): number {
  return Math.floor((nowMs / 1000 - delaySeconds - slot) / 60);
}
