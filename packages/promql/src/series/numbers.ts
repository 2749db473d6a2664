/** Numbers as Prometheus, a Go program, reads and writes them. */

/** Writes a number in full, without an exponent, in as few digits as read back the same (Go's `'f', -1`). */
export function formatPlain(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = '', first = '', rest = '', power = ''] = match;
  const digits = first + rest;
  const exponent = Number(power);
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  return sign + digits.padEnd(exponent + 1, '0');
}

/** Writes a sample's value as the HTTP API of Prometheus does: with an exponent only below 1e-6 and from 1e21 on. */
export function formatValue(value: number): string {
  const size = Math.abs(value);
  if (size === 0 || !Number.isFinite(value) || (size >= 1e-6 && size < 1e21)) return formatPlain(value);
  // Go writes at least two digits of exponent.
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEXADECIMAL = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/;
const INFINITE = /^([+-]?)inf(?:inity)?$/i;

/**
 * Reads a sample's value or a bucket bound: decimal or hexadecimal floating point, `Inf`, `+Inf`, `-Inf`,
 * `Infinity` and `NaN` in any case. Undefined when the text is no number.
 */
export function parseValue(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text);
  const infinite = INFINITE.exec(text);
  if (infinite) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (/^nan$/i.test(text)) return Number.NaN;
  const hex = HEXADECIMAL.exec(text);
  if (!hex || !(hex[2] || hex[3])) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = hex;
  const digits = whole + fraction;
  const size = Number.parseInt(digits, 16) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -size : size;
}
