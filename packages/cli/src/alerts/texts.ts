/** Numbers, times and labels of alerts, for people. */

/** Six digits at most; `-` when it is not known. */
export function numberText(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(6)));
}

/** `2026-11-21T07:30:00Z`; `-` for 0, which stands for never. */
export function isoSeconds(seconds: number): string {
  return seconds === 0 ? '-' : new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;

/** A duration in its two largest units: `3d 4h`, `1h 5m`, `12m`, `40s`. */
export function ago(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const largest = UNITS.findIndex(([, size]) => rest >= size);
  if (largest < 0) return '0s';
  const words: string[] = [];
  for (const [unit, size] of UNITS.slice(largest, largest + 2)) {
    const count = Math.floor(rest / size);
    if (count > 0) words.push(`${count}${unit}`);
    rest -= count * size;
  }
  // The seconds of a thing that is minutes old say nothing.
  return words.filter((word, index) => index === 0 || !word.endsWith('s')).join(' ');
}

/** `host=a, path="/x y"`; empty without labels. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${/^[^\s,="]+$/.test(value) ? value : JSON.stringify(value)}`)
    .join(', ');
}
