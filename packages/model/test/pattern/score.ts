/**
 * Event-level score of a detector: an event is hit or not, a false alarm is counted once and again every hour it goes on,
 * so that a detector that is always on does not pay only once. No point adjustment (Kim et al. 2022).
 */
import type { EventKind, InjectedEvent } from './synthetic.ts';

/** A bad minute up to this long after the end of an event still sees it. */
const HIT_AFTER: Readonly<Record<EventKind, number>> = { spike: 1, changepoint: 45, trend: 30 };

/** After the end of an event nothing is a false alarm for this long. */
const ECHO_AFTER: Readonly<Record<EventKind, number>> = { spike: 75, changepoint: 130, trend: 260 };

const MERGED_GAP = 15;
const RECHARGED_AFTER = 60;

export interface Score {
  events: number;
  hits: number;
  falseAlarms: number;
  /** Minutes that were judged. */
  minutes: number;
  /** Minutes from the start of each hit event to its first bad minute. */
  delays: number[];
}

export const emptyScore = (): Score => ({ events: 0, hits: 0, falseAlarms: 0, minutes: 0, delays: [] });

export const precision = ({ hits, falseAlarms }: Score): number => (hits === 0 ? 0 : hits / (hits + falseAlarms));
export const recall = ({ hits, events }: Score): number => (events === 0 ? 0 : hits / events);
export function f1(score: Score): number {
  const [p, r] = [precision(score), recall(score)];
  return p + r === 0 ? 0 : (2 * p * r) / (p + r);
}
/** False alarms in 1,440 evaluations. */
export const falseAlarmsADay = ({ falseAlarms, minutes }: Score): number => (1440 * falseAlarms) / Math.max(minutes, 1);

/** Quantile of the delays; NaN when nothing was hit. */
export function delay({ delays }: Score, share: number): number {
  const sorted = Float64Array.from(delays).sort();
  return sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
}

export interface Truth {
  readonly events: readonly InjectedEvent[];
  readonly glitches: readonly number[];
}

/** Adds what a detector of one kind and direction found: `isBad(i)` for minutes `from` to `to - 1`. */
export function addScore(
  score: Score,
  isBad: (index: number) => boolean,
  from: number,
  to: number,
  wanted: { readonly kind: EventKind; readonly direction: 1 | -1 },
  truth: Truth,
): void {
  const quiet = new Uint8Array(to);
  for (const event of truth.events) {
    quiet.fill(1, event.start, Math.min(event.end + ECHO_AFTER[event.kind] + 1, to));
    if (event.kind !== wanted.kind || event.direction !== wanted.direction || event.start < from) continue;
    score.events++;
    const delay = firstBad(isBad, event.start, Math.min(event.end + HIT_AFTER[event.kind], to - 1)) - event.start;
    if (delay < 0) continue;
    score.hits++;
    score.delays.push(delay);
  }
  if (wanted.kind === 'spike') for (const at of truth.glitches) quiet.fill(1, at, Math.min(at + ECHO_AFTER.spike, to));
  score.minutes += to - from;
  score.falseAlarms += countFalseAlarms(isBad, from, to, quiet);
}

/** Index of the first bad minute, both ends included; -1 when there is none. */
export function firstBad(isBad: (index: number) => boolean, from: number, to: number): number {
  for (let i = from; i <= to; i++) if (isBad(i)) return i;
  return -1;
}

function countFalseAlarms(isBad: (index: number) => boolean, from: number, to: number, quiet: Uint8Array): number {
  let count = 0;
  let last = Number.NEGATIVE_INFINITY;
  let charged = Number.NEGATIVE_INFINITY;
  for (let i = from; i < to; i++) {
    if (quiet[i] === 1 || !isBad(i)) continue;
    if (i - last > MERGED_GAP || i - charged >= RECHARGED_AFTER) {
      count++;
      charged = i;
    }
    last = i;
  }
  return count;
}
