/** The functions that print numbers for people, as the Prometheus template reference describes them. */
import { formatGeneral } from './decimal.ts';
import { TemplateProblem } from './value.ts';

const DIGITS = 4;
const LARGE = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];
const SMALL = ['m', 'u', 'n', 'p', 'f', 'a', 'z', 'y'];
const BINARY = ['ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei', 'Zi', 'Yi'];

const four = (value: number): string => formatGeneral(value, DIGITS);

/** Divides by `base` until the size is below it, or no prefix is left. */
function large(value: number, base: number, prefixes: readonly string[]): string {
  let prefix = '';
  let rest = value;
  for (const next of prefixes) {
    if (Math.abs(rest) < base) break;
    prefix = next;
    rest /= base;
  }
  return four(rest) + prefix;
}

function small(value: number): string {
  let prefix = '';
  let rest = value;
  for (const next of SMALL) {
    if (Math.abs(rest) >= 1) break;
    prefix = next;
    rest *= 1000;
  }
  return four(rest) + prefix;
}

/** `1234567` is `1.235M`, `0.02` is `20m`. */
export function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return four(value);
  return Math.abs(value) >= 1 ? large(value, 1000, LARGE) : small(value);
}

/** `1048576` is `1Mi`. */
export function humanize1024(value: number): string {
  return Math.abs(value) <= 1 || !Number.isFinite(value) ? four(value) : large(value, 1024, BINARY);
}

const LARGEST_INTEGER = 2 ** 63;

/** Seconds: `3661` is `1h 1m 1s`, `0.0123` is `12.3ms`. */
export function humanizeDuration(value: number): string {
  if (!Number.isFinite(value)) return four(value);
  if (value === 0) return `${four(value)}s`;
  if (Math.abs(value) < 1) return `${small(value)}s`;
  const sign = value < 0 ? '-' : '';
  if (Math.abs(value) >= LARGEST_INTEGER) return `${four(value)}s`;
  const whole = BigInt(Math.trunc(Math.abs(value)));
  const [seconds, minutes, hours, days] = [whole % 60n, (whole / 60n) % 60n, (whole / 3600n) % 24n, whole / 86_400n];
  if (days > 0n) return `${sign}${days}d ${hours}h ${minutes}m ${seconds}s`;
  if (hours > 0n) return `${sign}${hours}h ${minutes}m ${seconds}s`;
  if (minutes > 0n) return `${sign}${minutes}m ${seconds}s`;
  return `${sign}${four(Math.abs(value))}s`;
}

/** `0.1234` is `12.34%`. */
export function humanizePercentage(value: number): string {
  return `${four(value * 100)}%`;
}

/** The range of 64-bit nanoseconds, in seconds. */
const LARGEST_TIME = 2 ** 63 / 1e9;

/** Unix seconds: `2015-06-23 13:19:44.128 +0000 UTC`. */
export function humanizeTimestamp(value: number): string {
  if (!Number.isFinite(value)) return four(value);
  if (Math.abs(value) >= LARGEST_TIME) throw new TemplateProblem(`${value} is no unix time in seconds.`);
  // Through whole nanoseconds, as the reference does: milliseconds are cut off, not rounded.
  const milliseconds = Number(BigInt(Math.trunc(value * 1e9)) / 1_000_000n);
  const [date = '', time = ''] = new Date(milliseconds).toISOString().split('T');
  const clock = time
    .slice(0, -1)
    .replace(/\.(\d*?)0*$/, (_all, fraction: string) => (fraction === '' ? '' : `.${fraction}`));
  return `${date} ${clock} +0000 UTC`;
}

const UNITS: Readonly<Record<string, number>> = {
  y: 31_536_000,
  w: 604_800,
  d: 86_400,
  h: 3600,
  m: 60,
  s: 1,
  ms: 0.001,
};
const DURATION = /^(\d{1,9}y)?(\d{1,9}w)?(\d{1,9}d)?(\d{1,9}h)?(\d{1,9}m)?(\d{1,9}s)?(\d{1,9}ms)?$/;

/** A duration as Prometheus writes it, in seconds. */
export function parseDurationSeconds(text: string): number {
  if (text === '0') return 0;
  const match = text === '' ? null : DURATION.exec(text);
  if (match === null) throw new TemplateProblem(`"${text}" is no duration, such as 1h30m.`);
  let milliseconds = 0;
  for (const part of match.slice(1)) {
    const [, count, unit] = /^(\d+)(\D+)$/.exec(part ?? '') ?? [];
    if (unit !== undefined) milliseconds += Number(count) * UNITS[unit]! * 1000;
  }
  return milliseconds / 1000;
}
