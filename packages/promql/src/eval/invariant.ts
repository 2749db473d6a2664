/** Tells which expressions have the same value at every step, so that they are evaluated once. */
import type { Expr } from '../syntax/ast.ts';
import { childrenOf } from '../syntax/walk.ts';

/** Functions whose result depends on the time of evaluation itself. */
const TIME_BOUND: ReadonlySet<string> = new Set([
  'days_in_month',
  'day_of_month',
  'day_of_week',
  'day_of_year',
  'hour',
  'minute',
  'month',
  'year',
  'predict_linear',
  'time',
  'timestamp',
]);

const known = new WeakMap<Expr, boolean>();

/**
 * True when `@` pins every selector and nothing else depends on the step. Literals are not counted, since
 * evaluating them once saves nothing.
 */
export function isStepInvariant(expr: Expr): boolean {
  if (isLiteral(expr)) return false;
  const memo = known.get(expr);
  if (memo !== undefined) return memo;
  // Children before parents without recursion, since operator chains may be thousands of nodes deep.
  const pending: Expr[] = [expr];
  const order: Expr[] = [];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    order.push(node);
    for (const child of childrenOf(node)) if (!known.has(child)) pending.push(child);
  }
  for (const node of order.reverse()) known.set(node, invariant(node));
  return known.get(expr)!;
}

function invariant(expr: Expr): boolean {
  switch (expr.kind) {
    case 'numberLiteral':
    case 'stringLiteral':
      return true;
    case 'vectorSelector':
    case 'subquery':
      return expr.at !== undefined;
    case 'opaque':
      return false;
    case 'call':
      return !TIME_BOUND.has(expr.func) && expr.args.every((arg) => known.get(arg)!);
    default:
      return childrenOf(expr).every((child) => known.get(child)!);
  }
}

function isLiteral(expr: Expr): boolean {
  return expr.kind === 'numberLiteral' || expr.kind === 'stringLiteral';
}
