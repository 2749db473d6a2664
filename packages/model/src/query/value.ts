/** Values of a record's fields, and how the query language compares them. Every store answers as this file does. */

/** A nested object is reached by dotted field names; asked for as a whole it is its JSON text. */
export type FieldValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly FieldValue[]
  | { readonly [key: string]: FieldValue };

/** A plain value: what is left of an array or object once it is taken apart. */
export type Scalar = string | number | bigint | boolean;

/** Lower case for ASCII letters only: the same in every engine, whatever its locale. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The number that a text writes in decimal, as a double; undefined when it writes none. */
export function toNumber(value: Scalar): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean' || !NUMBER.test(value)) return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

const LONGEST_WHOLE = 19;

/** The whole number of 64 bits that a value writes in digits alone; undefined when it writes none. */
export function toWholeNumber(value: Scalar): bigint | undefined {
  if (typeof value === 'boolean') return undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const [, sign, digits] = /^([+-]?)0*(\d+)$/.exec(String(value)) ?? [];
  if (digits === undefined || digits.length > LONGEST_WHOLE) return undefined;
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, number) === number ? number : undefined;
}

/**
 * Order of two numbers; undefined when one of the values is none. Whole numbers of 64 bits are compared to their last digit, all others
 * as doubles.
 */
export function compareNumbers(left: Scalar, right: Scalar): number | undefined {
  const [leftNumber, rightNumber] = [toNumber(left), toNumber(right)];
  if (leftNumber === undefined || rightNumber === undefined) return undefined;
  if (leftNumber !== rightNumber || Number.isSafeInteger(leftNumber)) return Math.sign(leftNumber - rightNumber);
  const [leftWhole, rightWhole] = [toWholeNumber(left), toWholeNumber(right)];
  return leftWhole === undefined || rightWhole === undefined ? 0 : compareWhole(leftWhole, rightWhole);
}

export function compareWhole(left: bigint, right: bigint): number {
  return left < right ? -1 : Number(left > right);
}

export function toText(value: Scalar): string {
  return typeof value === 'string' ? value : String(value);
}

/** The scalars of a value: those of an array's elements; an object counts as its JSON text; null and absent give none. */
export function scalarsOf(value: FieldValue | undefined): readonly Scalar[] {
  if (value === undefined || value === null) return [];
  if (isArray(value)) return value.flatMap((element) => scalarsOf(element));
  if (typeof value === 'object') return [toJson(value)];
  return [value];
}

function isArray(value: FieldValue): value is readonly FieldValue[] {
  return Array.isArray(value);
}

/** JSON with big integers written in full. */
export function toJson(value: FieldValue): string {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(toJson).join(',')}]`;
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${toJson(member)}`);
  return `{${members.join(',')}}`;
}

/** Order of two scalars as texts, without regard to ASCII case. */
export function compareFolded(left: Scalar, right: Scalar): number {
  return compareText(foldCase(toText(left)), foldCase(toText(right)));
}

/** By Unicode code point, which is also the order of the UTF-8 bytes; JavaScript's own `<` goes by UTF-16 units. */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return surrogateLast(a) - surrogateLast(b);
  }
  return left.length - right.length;
}

function surrogateLast(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
