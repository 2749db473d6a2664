/** `eq`, `ne`, `lt`, `le`, `gt`, `ge`. Unlike in Go, a whole number compares with a fractional one: `gt $value 5`. */
import { compareTexts, TemplateProblem, typeName, type Value } from './value.ts';

/** Negative, zero or positive; NaN when neither is less and they are not equal. */
function order(name: string, left: Value, right: Value): number {
  if (left.kind === 'string' && right.kind === 'string') return compareTexts(left.text, right.text);
  const a = numberOf(left);
  const b = numberOf(right);
  if (a === undefined || b === undefined) {
    throw new TemplateProblem(`${name} cannot compare ${typeName(left)} with ${typeName(right)}`);
  }
  // JavaScript compares a bigint with a number by their exact values.
  if (a < b) return -1;
  if (a > b) return 1;
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint equals a number of the same value only so
  return a == b ? 0 : Number.NaN;
}

function numberOf(value: Value): number | bigint | undefined {
  if (value.kind === 'float') return value.number;
  return value.kind === 'int' ? value.integer : undefined;
}

function same(name: string, left: Value, right: Value): boolean {
  if (left.kind === 'bool' && right.kind === 'bool') return left.flag === right.flag;
  if (left.kind === 'nil' || right.kind === 'nil') return left.kind === right.kind;
  return order(name, left, right) === 0;
}

/** True when the first is equal to any of the others. */
export function isEqual(name: string, values: readonly Value[]): boolean {
  const [first, ...others] = values;
  return others.some((other) => same(name, first!, other));
}

const TESTS: Readonly<Record<'lt' | 'le' | 'gt' | 'ge', (order: number) => boolean>> = {
  lt: (result) => result < 0,
  le: (result) => result <= 0,
  gt: (result) => result > 0,
  ge: (result) => result >= 0,
};

export function compares(name: keyof typeof TESTS, left: Value, right: Value): boolean {
  return TESTS[name](order(name, left, right));
}
