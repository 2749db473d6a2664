/** Floating point numbers as Go's `strconv` writes them: rounded from their exact value, halves to even. */

/** A finite number as `negative`, and digits with the decimal point after the first `point` of them. */
interface Digits {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

const BITS = new DataView(new ArrayBuffer(8));

/** The number as `mantissa * 2^exponent`, without its sign. */
function parts(value: number): { mantissa: bigint; exponent: number } {
  BITS.setFloat64(0, value);
  const bits = BITS.getBigUint64(0) & 0x7fff_ffff_ffff_ffffn;
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

/** `|value| * 10^power`, rounded to a whole number. */
function scaled(value: number, power: number): bigint {
  const { mantissa, exponent } = parts(value);
  let numerator = mantissa;
  let denominator = 1n;
  if (power >= 0) numerator *= 10n ** BigInt(power);
  else denominator *= 10n ** BigInt(-power);
  if (exponent >= 0) numerator <<= BigInt(exponent);
  else denominator <<= BigInt(-exponent);
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}

const isNegative = (value: number): boolean => value < 0 || Object.is(value, -0);

function special(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN';
  if (Number.isFinite(value)) return undefined;
  return value > 0 ? '+Inf' : '-Inf';
}

/** `%.{precision}f` */
export function formatFixed(value: number, precision: number): string {
  const odd = special(value);
  if (odd !== undefined) return odd;
  const all = String(scaled(value, precision)).padStart(precision + 1, '0');
  const whole = all.slice(0, all.length - precision);
  const sign = isNegative(value) ? '-' : '';
  return precision === 0 ? sign + whole : `${sign}${whole}.${all.slice(all.length - precision)}`;
}

/** The first `count` digits, rounded. */
function significant(value: number, count: number): Digits {
  const negative = isNegative(value);
  if (value === 0) return { negative, digits: '0'.repeat(count), point: 1 };
  // The shortest text of a number may lie above the power of ten that the number lies below: 1e-323 is 9.88e-324.
  let guess = Number(Math.abs(value).toExponential().split('e')[1]) - 1;
  let digits = String(scaled(value, count - 1 - guess));
  if (digits.length > count) {
    guess += 1;
    digits = String(scaled(value, count - 1 - guess));
  }
  // Rounding 9.99 up gives one digit more, which is a zero.
  return digits.length > count
    ? { negative, digits: digits.slice(0, count), point: guess + 2 }
    : { negative, digits, point: guess + 1 };
}

function exponentForm({ negative, digits, point }: Digits): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
  const exponent = point - 1;
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${negative ? '-' : ''}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${size}`;
}

function plainForm({ negative, digits, point }: Digits): string {
  const sign = negative ? '-' : '';
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (digits.length <= point) return sign + digits.padEnd(point, '0');
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** `%.{precision}e` */
export function formatExponent(value: number, precision: number): string {
  return special(value) ?? exponentForm(significant(value, precision + 1));
}

function withoutZeros(number: Digits): Digits {
  return { ...number, digits: number.digits.replace(/0+$/, '') || '0' };
}

/** `%.{precision}g`: an exponent below 1e-4 and from 10^precision on, no zeros at the end. */
export function formatGeneral(value: number, precision: number): string {
  const odd = special(value);
  if (odd !== undefined) return odd;
  const wanted = Math.max(precision, 1);
  const number = withoutZeros(significant(value, wanted));
  const exponent = number.point - 1;
  return exponent < -4 || exponent >= wanted ? exponentForm(number) : plainForm(number);
}

/** The digits that JavaScript and Go both find: the fewest that read back the same. */
function shortest(value: number): Digits {
  const [mantissa = '', exponent = ''] = Math.abs(value).toExponential().split('e');
  return { negative: isNegative(value), digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

/** Where `%g` and `%v` go over to an exponent when no precision is given. */
const SHORTEST_PRECISION = 6;

/** `%v`, and `%g` without a precision. */
export function formatShortest(value: number): string {
  const odd = special(value);
  if (odd !== undefined) return odd;
  const number = shortest(value);
  const exponent = number.point - 1;
  return exponent < -4 || exponent >= SHORTEST_PRECISION ? exponentForm(number) : plainForm(number);
}

/** `%x` of a number: its exact value. */
export function formatHexadecimal(value: number): string {
  const odd = special(value);
  if (odd !== undefined) return odd;
  const sign = isNegative(value) ? '-' : '';
  if (value === 0) return `${sign}0x0p+00`;
  let { mantissa, exponent } = parts(value);
  while (mantissa < 1n << 52n) {
    mantissa <<= 1n;
    exponent -= 1;
  }
  const fraction = (mantissa & 0xf_ffff_ffff_ffffn).toString(16).padStart(13, '0').replace(/0+$/, '');
  const power = exponent + 52;
  const size = String(Math.abs(power)).padStart(2, '0');
  return `${sign}0x1${fraction === '' ? '' : `.${fraction}`}p${power < 0 ? '-' : '+'}${size}`;
}
