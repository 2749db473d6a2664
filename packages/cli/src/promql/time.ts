/** Times of the command line. */
import { durationInMs } from '../arguments/value.ts';
import { usageFailure } from '../failure.ts';

/**
 * Unix milliseconds of `now`, `now-90m`, RFC 3339 (`2026-11-21T07:30:00Z`), Unix seconds (`1790000000.5`), or a duration since
 * the start of the data (`10m`, `1h30m`).
 * @param start where durations count from, Unix milliseconds
 */
export function parseTime(text: string, option: string, now: number, start: number): number {
  const relative = /^now(?:-(.+))?$/.exec(text);
  if (relative) {
    const back = relative[1] === undefined ? 0 : durationInMs(relative[1]);
    if (back !== null) return now - back;
  }
  if (/^\d+(\.\d{1,3})?$/.test(text)) return Math.round(Number(text) * 1000);
  const duration = durationInMs(text);
  if (duration !== null) return start + duration;
  const date = /^\d{4}-\d{2}-\d{2}([T ]|$)/.test(text)
    ? Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text)
    : Number.NaN;
  if (!Number.isNaN(date)) return date;
  throw usageFailure(
    `--${option} does not read as a time: ${text}`,
    'Write now, now-90m, 2026-11-21T07:30:00Z, Unix seconds, or a duration since the start of the data such as 10m.',
  );
}
