/** Reads a time in any of Logpush's formats, exact to the nanosecond. */

const SECOND = 1_000_000_000n;
const LARGEST = (1n << 63n) - 1n;

/** `2026-11-21T08:52:41.123456789Z`, also with a space or an offset. */
const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/;

/**
 * Nanoseconds since the Unix epoch in decimal; undefined when the value is no time. Whole numbers, as number or text, are seconds, milliseconds, microseconds or
 * nanoseconds by their size: below 1e11 (the year 5138) seconds, then a thousand times finer at each step. 0 and the empty text are absent.
 */
export function toNanoseconds(value: unknown): string | undefined {
  if (typeof value === 'number') return fromDecimal(String(value));
  if (typeof value !== 'string' || value === '') return undefined;
  return fromDecimal(value) ?? fromRfc3339(value);
}

function fromDecimal(text: string): string | undefined {
  const match = /^(-?)(\d{1,19})(?:\.(\d+))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = ''] = match;
  const number = BigInt(whole);
  const digits =
    number < 100_000_000_000n ? 9 : number < 100_000_000_000_000n ? 6 : number < 100_000_000_000_000_000n ? 3 : 0;
  const scaled = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  return within(sign === '-' ? -scaled : scaled);
}

function fromRfc3339(text: string): string | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [, day, clock, fraction = '', zone = 'Z'] = match;
  const milliseconds = Date.parse(`${day}T${clock}${zone.toUpperCase()}`);
  if (Number.isNaN(milliseconds)) return undefined;
  return within((BigInt(milliseconds) / 1000n) * SECOND + BigInt(fraction.padEnd(9, '0')));
}

function within(nanoseconds: bigint): string | undefined {
  return nanoseconds === 0n || nanoseconds > LARGEST || nanoseconds < -LARGEST ? undefined : String(nanoseconds);
}
