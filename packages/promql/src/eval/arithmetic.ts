/** The arithmetic and comparisons of PromQL on two numbers, where JavaScript and Go differ as in Go. */
import type { ArithmeticOp, BinaryOp, ComparisonOp } from '../syntax/ast.ts';

/** Go's math.Pow: 1 to any power is 1, also NaN; -1 to an infinite power is 1. */
function power(base: number, exponent: number): number {
  if (base === 1) return 1;
  if (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent)) return 1;
  return base ** exponent;
}

const ARITHMETIC: Readonly<Record<ArithmeticOp, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
  '^': power,
  atan2: Math.atan2,
};

const COMPARISON: Readonly<Record<ComparisonOp, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

export function isComparison(op: BinaryOp): op is ComparisonOp {
  return Object.hasOwn(COMPARISON, op);
}

export function isArithmetic(op: BinaryOp): op is ArithmeticOp {
  return Object.hasOwn(ARITHMETIC, op);
}

export function arithmetic(op: ArithmeticOp): (a: number, b: number) => number {
  return ARITHMETIC[op];
}

export function comparison(op: ComparisonOp): (a: number, b: number) => boolean {
  return COMPARISON[op];
}
