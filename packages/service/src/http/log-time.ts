/** Reads the points in time of a log search. */
import { toNanoseconds } from '../intake/normalise/time.ts';
import { refuseField } from '../refusal.ts';

const UNITS: Readonly<Record<string, bigint>> = {
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n,
};

/**
 * RFC 3339, whole numbers since the Unix epoch of a unit told by their size, `now`, `now-15m`.
 * @param path where the time stands in the request, for its refusal
 * @param now nanoseconds since the Unix epoch
 * @throws Refusal `bad_request`
 */
export function parseTime(text: string, path: string, now: bigint): bigint {
  const relative = /^now(?:\s*([+-])\s*(\d{1,9})([smhdw]))?$/.exec(text.trim());
  if (relative !== null) {
    const [, sign, count = '0', unit = 's'] = relative;
    const distance = BigInt(count) * (UNITS[unit] as bigint);
    return sign === '+' ? now + distance : now - distance;
  }
  // `0` is absent in a record, and the epoch in a search.
  if (/^0+$/.test(text.trim())) return 0n;
  const found = toNanoseconds(text.trim());
  if (found !== undefined) return BigInt(found);
  throw refuseField(
    path,
    'must be a time: 2026-11-21T08:52:41Z, seconds or nanoseconds since 1970, now, or for example now-15m',
  );
}

export interface LogTimeRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** @throws Refusal `bad_request` when a time is none, or the range is empty */
export function parseRange({ from, to }: { from: string; to: string }, part: string, now: bigint): LogTimeRange {
  const range = { from: parseTime(from, `${part}.from`, now), to: parseTime(to, `${part}.to`, now) };
  if (range.from >= range.to) throw refuseField(`${part}.from`, 'must be before to');
  return range;
}

/** Steps of a histogram that people can read, in seconds. */
const STEPS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
  10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000,
];

/** The shortest of them that makes at most `buckets` of the range, in seconds. */
export function stepFor({ from, to }: LogTimeRange, buckets: number): number {
  const least = Number(to - from) / 1e9 / buckets;
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / 86_400) * 86_400;
}
