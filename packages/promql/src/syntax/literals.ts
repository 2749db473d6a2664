/** Numbers, durations, strings and names: from text to value and back. */

const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** Units with their length in milliseconds, longest first. */
const UNITS = [
  ['y', 365 * 86_400_000],
  ['w', 7 * 86_400_000],
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Prometheus counts durations in signed 64-bit nanoseconds, so some 292 years is the longest. */
const MAX_DURATION_MS = 9_223_372_036_854;

/** The largest signed 64-bit integer, above which Prometheus does not take hexadecimal or octal numbers. */
const MAX_INT64 = 9_223_372_036_854_775_807n;

export type DurationResult = { readonly ms: number } | { readonly reason: 'form' | 'range' };

/** Reads `1h30m`: whole numbers, units in falling order, each once. */
export function parseDuration(text: string): DurationResult {
  const match = DURATION.exec(text);
  if (match === null || text === '') return { reason: 'form' };
  let ms = 0;
  for (let i = 0; i < UNITS.length; i++) {
    const amount = match[i + 1];
    if (amount !== undefined) ms += Number(amount) * UNITS[i]![1];
  }
  return ms > MAX_DURATION_MS ? { reason: 'range' } : { ms };
}

/** A number of seconds as whole milliseconds, cut as Prometheus cuts it; undefined when out of range or not a number. */
export function secondsToMs(seconds: number): number | undefined {
  const ms = Math.trunc(Math.round(seconds * 1e9) / 1e6);
  // Adding zero makes 0 of -0.
  return Math.abs(ms) <= MAX_DURATION_MS ? ms + 0 : undefined;
}

/** Writes milliseconds as a duration, `5400000` as `1h30m`. Zero is `0s`; negative gets a sign in front. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  let rest = Math.abs(ms);
  let text = ms < 0 ? '-' : '';
  for (const [unit, length] of UNITS) {
    // Years and weeks only where nothing is left over, so that 400d does not become 1y5w.
    if ((unit === 'y' || unit === 'w') && rest % length !== 0) continue;
    const amount = Math.floor(rest / length);
    if (amount === 0) continue;
    text += `${amount}${unit}`;
    rest -= amount * length;
  }
  return text;
}

const HEX = /^0x(?:_?[0-9a-f])+$/i;
const OCTAL = /^0(?:_?[0-7])+$/;
const DECIMAL = /^(?:\d(?:_?\d)*)?(?:\.(?:\d(?:_?\d)*)?)?(?:e[+-]?\d(?:_?\d)*)?$/i;

/**
 * Reads a number as Prometheus does: decimal with `_` between digits, hexadecimal `0x1F`, octal by a leading zero,
 * `Inf` and `NaN` in any case. Undefined when it is none of them or too large.
 */
export function parseNumber(text: string): number | undefined {
  const word = text.toLowerCase();
  if (word === 'inf') return Number.POSITIVE_INFINITY;
  if (word === 'nan') return Number.NaN;
  const bare = text.includes('_') ? text.replaceAll('_', '') : text;
  if (HEX.test(text)) {
    const value = BigInt(bare);
    return value > MAX_INT64 ? undefined : Number(value);
  }
  if (bare.length > 1 && OCTAL.test(text)) {
    const value = BigInt(`0o${bare.slice(1)}`);
    if (value <= MAX_INT64) return Number(value);
  }
  if (!DECIMAL.test(text) || !/\d/.test(text[0] === '.' ? text.slice(1, 2) : text[0]!)) return undefined;
  const value = Number(bare);
  return Number.isFinite(value) ? value : undefined;
}

/** The shortest spelling of a number that reads back as the same value. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return 'Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return Object.is(value, -0) ? '-0' : String(value);
}

export type StringResult = { readonly value: string } | { readonly at: number; readonly message: string };

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

const NUMERIC_ESCAPES: Readonly<Record<string, { length: number; base: number; max: number }>> = {
  x: { length: 2, base: 16, max: 255 },
  u: { length: 4, base: 16, max: 0x10ffff },
  U: { length: 8, base: 16, max: 0x10ffff },
};
const OCTAL_ESCAPE = { length: 3, base: 8, max: 255 };

/**
 * Unescapes the inside of a quoted string (Go's escapes). `\xNN` and `\NNN` are bytes: runs of them are read as UTF-8,
 * and what is no UTF-8 becomes U+FFFD, since a JavaScript string cannot hold it. `at` counts from the start of `body`.
 */
export function unescapeString(body: string, quote: string): StringResult {
  if (!body.includes('\\')) return { value: body };
  let value = '';
  let bytes: number[] = [];
  const flush = (): void => {
    if (bytes.length === 0) return;
    value += new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
    bytes = [];
  };
  for (let i = 0; i < body.length; ) {
    const char = body[i]!;
    if (char !== '\\') {
      flush();
      value += char;
      i++;
      continue;
    }
    const code = body[i + 1] ?? '';
    const simple = code === quote ? quote : SIMPLE_ESCAPES[code];
    if (simple !== undefined) {
      flush();
      value += simple;
      i += 2;
      continue;
    }
    const form = NUMERIC_ESCAPES[code] ?? (/[0-7]/.test(code) ? OCTAL_ESCAPE : undefined);
    if (form === undefined) return { at: i, message: `The escape \\${code} is not known.` };
    const start = form.base === 8 ? i + 1 : i + 2;
    const digits = body.slice(start, start + form.length);
    const point = readDigits(digits, form);
    if (point === undefined)
      return { at: i, message: `The escape \\${code}${digits} is not complete or out of range.` };
    if (form.max === 255) bytes.push(point);
    else {
      flush();
      value += String.fromCodePoint(point);
    }
    i = start + form.length;
  }
  flush();
  return { value };
}

function readDigits(digits: string, form: { length: number; base: number; max: number }): number | undefined {
  const allowed = form.base === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  if (digits.length !== form.length || !allowed.test(digits)) return undefined;
  const point = Number.parseInt(digits, form.base);
  return point > form.max || (point >= 0xd800 && point < 0xe000) ? undefined : point;
}

/** Writes a string in double quotes, control characters escaped. */
export function quoteString(value: string): string {
  let text = '"';
  for (const char of value) {
    const point = char.codePointAt(0)!;
    if (char === '"' || char === '\\') text += `\\${char}`;
    else if (char === '\n') text += '\\n';
    else if (char === '\t') text += '\\t';
    else if (char === '\r') text += '\\r';
    else if (point < 0x20 || point === 0x7f) text += `\\x${point.toString(16).padStart(2, '0')}`;
    else if (point >= 0xd800 && point < 0xe000) text += '\\ufffd';
    else if (point === 0xfffd) text += '\\ufffd';
    else text += char;
  }
  return `${text}"`;
}

/** True for a label name that may stand without quotes. */
export function isPlainLabelName(name: string): boolean {
  return /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name);
}

/** True for a metric name that may stand without quotes, keywords not considered. */
export function isPlainMetricName(name: string): boolean {
  return /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name);
}
