/** Values of flags that are not plain text. */

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `30s`, `1h30m`, `500ms` or `0`; null for anything else. */
export function durationInMs(text: string): number | null {
  if (text === '0') {
    return 0;
  }
  if (!/^(\d{1,9}(ms|s|m|h))+$/.test(text)) {
    return null;
  }
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)(ms|s|m|h)/g)) {
    total += Number(count) * (UNITS[unit ?? ''] ?? 0);
  }
  return total;
}
