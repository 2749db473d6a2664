/** The evaluator: walks a checked expression and gives its values along a grid of steps. */
import type { Aggregate, Call, Expr, MatrixSelector, Subquery } from '../syntax/ast.ts';
import { leftSpine, typeOf, unwrap } from '../syntax/walk.ts';
import { aggregate, aggregateQuantile } from './aggregate.ts';
import { countValues, pick } from './aggregate-select.ts';
import { binary, negated } from './binary.ts';
import {
  type Column,
  constant,
  type Grid,
  hasAny,
  refuseEqual,
  type ScalarValue,
  timeAt,
  type Value,
  vector,
} from './columns.ts';
import type { Context } from './context.ts';
import * as functions from './functions.ts';
import { histogramFraction, histogramQuantile } from './histogram.ts';
import { selectInstant } from './instant.ts';
import { isStepInvariant } from './invariant.ts';
import { labelJoin, labelReplace } from './label-functions.ts';
import { callOverRange, rangeArgument } from './range-call.ts';
import { reachOf, subqueryGrid } from './select.ts';
import { type RangeVector, type Samples, withoutStale } from './windows.ts';

/** Evaluates an expression of type scalar, string or instant vector. Its data must have been read (`readData`). */
export async function evaluate(expr: Expr, grid: Grid, context: Context): Promise<Value> {
  if (grid.count > 1 && isStepInvariant(expr))
    return repeated(await evaluate(expr, { ...grid, count: 1 }, context), grid.count);
  switch (expr.kind) {
    case 'numberLiteral':
      return constant(expr.value, grid.count);
    case 'stringLiteral':
      return { kind: 'string', value: expr.value };
    case 'paren':
      return evaluate(expr.expr, grid, context);
    case 'unary':
      return unary(expr.op, await evaluate(expr.expr, grid, context), expr, context);
    case 'vectorSelector':
      return vector(await selectInstant(expr, grid, context));
    case 'binary': {
      const spine = leftSpine(expr);
      let left = await evaluate(spine[0]!.left, grid, context);
      for (const node of spine) left = await binary(node, left, await evaluate(node.right, grid, context), context);
      return left;
    }
    case 'aggregate':
      return vector(await evaluateAggregate(expr, grid, context));
    case 'call':
      return evaluateCall(expr, grid, context);
    case 'matrixSelector':
    case 'subquery':
    case 'opaque':
      throw new Error(`${expr.kind} has no value at a step`);
  }
}

/** The value of one step at all steps. */
function repeated(value: Value, count: number): Value {
  if (value.kind === 'string') return value;
  if (value.kind === 'scalar') return constant(value.values[0]!, count);
  return vector(
    value.columns.filter(hasAny).map(({ labels, values }) => ({
      labels,
      values: new Float64Array(count).fill(values[0]!),
      present: new Uint8Array(count).fill(1),
    })),
  );
}

async function unary(op: '+' | '-', value: Value, expr: Expr, context: Context): Promise<Value> {
  if (op === '+') return value;
  const result = await negated(value, context);
  return result.kind === 'vector' ? vector(refuseEqual(result.columns, expr.span)) : result;
}

async function columnsOf(expr: Expr, grid: Grid, context: Context): Promise<readonly Column[]> {
  const value = await evaluate(expr, grid, context);
  if (value.kind !== 'vector') throw new Error(`expected an instant vector, got a ${value.kind}`);
  return value.columns;
}

async function scalarOf(expr: Expr, grid: Grid, context: Context): Promise<ScalarValue> {
  const value = await evaluate(expr, grid, context);
  if (value.kind !== 'scalar') throw new Error(`expected a scalar, got a ${value.kind}`);
  return value;
}

function textOf(expr: Expr): string {
  const literal = unwrap(expr);
  if (literal.kind !== 'stringLiteral') throw new Error(`expected a string, got a ${literal.kind}`);
  return literal.value;
}

async function evaluateAggregate(expr: Aggregate, grid: Grid, context: Context): Promise<readonly Column[]> {
  const columns = await columnsOf(expr.expr, grid, context);
  if (expr.op === 'count_values') return countValues(expr, columns, textOf(expr.param!), context);
  const param = expr.param && (await scalarOf(expr.param, grid, context)).values;
  if (expr.op === 'topk' || expr.op === 'bottomk') return pick(expr, columns, param!, context);
  if (expr.op !== 'quantile') return aggregate(expr, columns, context);
  warnOfQuantile(param!, expr, context);
  return aggregateQuantile(expr, columns, param!, context);
}

function warnOfQuantile(q: Float64Array, expr: Expr, context: Context): void {
  const odd = q.find((each) => !(each >= 0 && each <= 1));
  if (odd !== undefined) context.annotate('warning', `A quantile should be between 0 and 1, not ${odd}.`, expr.span);
}

async function evaluateCall(call: Call, grid: Grid, context: Context): Promise<Value> {
  const range = rangeArgument(call);
  if (range) return vector(await evaluateOverRange(call, range, grid, context));
  switch (call.func) {
    case 'time':
      return { kind: 'scalar', values: functions.stepTimes(grid) };
    case 'pi':
      return constant(Math.PI, grid.count);
    case 'vector':
      return vector(functions.toVector(await scalarOf(call.args[0]!, grid, context)));
    case 'scalar':
      return functions.toScalar(await columnsOf(call.args[0]!, grid, context), grid.count);
    case 'histogram_quantile':
    case 'histogram_fraction':
      return vector(await evaluateHistogram(call, grid, context));
  }
  return vector(await evaluateVectorCall(call, grid, context));
}

async function evaluateOverRange(call: Call, range: Expr, grid: Grid, context: Context): Promise<readonly Column[]> {
  const rangeVector = await evaluateRange(unwrap(range) as MatrixSelector | Subquery, grid, context);
  const other = call.args.find((arg) => arg !== range);
  const param = other && (await scalarOf(other, grid, context)).values;
  if (call.func === 'quantile_over_time') warnOfQuantile(param!, call, context);
  const columns = await callOverRange(call, rangeVector, param, grid, context);
  return call.func === 'absent_over_time' ? functions.absent(call, columns, grid.count) : columns;
}

async function evaluateHistogram(call: Call, grid: Grid, context: Context): Promise<readonly Column[]> {
  const first = (await scalarOf(call.args[0]!, grid, context)).values;
  if (call.func === 'histogram_quantile') {
    warnOfQuantile(first, call, context);
    return histogramQuantile(call, first, await columnsOf(call.args[1]!, grid, context), context);
  }
  const upper = (await scalarOf(call.args[1]!, grid, context)).values;
  return histogramFraction(call, first, upper, await columnsOf(call.args[2]!, grid, context), context);
}

async function evaluateVectorCall(call: Call, grid: Grid, context: Context): Promise<readonly Column[]> {
  const [first, ...rest] = call.args;
  const f = functions.mathFunction(call.func);
  if (!first) {
    if (!f) throw new Error(`${call.func} needs an argument`);
    // The date functions without an argument are about the time of the step.
    const times = functions.toVector({ kind: 'scalar', values: functions.stepTimes(grid) });
    return functions.applyMath(call, f, times, context);
  }
  const inner = unwrap(first);
  if (call.func === 'timestamp' && inner.kind === 'vectorSelector') {
    const times = await selectInstant(inner, grid, context, 'time');
    return functions.applyMath(call, (time) => time, times, context);
  }
  const columns = await columnsOf(first, grid, context);
  if (f) return functions.applyMath(call, f, columns, context);
  if (call.func === 'label_replace') return labelReplace(call, columns, rest.map(textOf));
  if (call.func === 'label_join') return labelJoin(call, columns, rest.map(textOf));
  if (call.func === 'absent') return functions.absent(call, columns, grid.count);
  if (call.func === 'sort' || call.func === 'sort_desc') {
    return grid.count === 1 ? functions.sorted(columns, call.func === 'sort_desc') : columns;
  }
  const scalars: Float64Array[] = [];
  for (const arg of rest) scalars.push((await scalarOf(arg, grid, context)).values);
  return functions.applyWithScalars(call, columns, scalars, grid, context);
}

/** Evaluates a range selector or a subquery as windows along the steps. */
export async function evaluateRange(
  expr: MatrixSelector | Subquery,
  grid: Grid,
  context: Context,
): Promise<RangeVector> {
  const target = expr.kind === 'matrixSelector' ? expr.selector : expr;
  const { first, stride } = reachOf(target, grid, context);
  const series =
    expr.kind === 'matrixSelector'
      ? context.data.get(expr.selector)!.map(withoutStale)
      : await subquerySamples(expr, grid, context);
  return { series, range: expr.range, end: first, stride };
}

/** The result of a subquery as series of samples. */
export async function subquerySamples(expr: Subquery, grid: Grid, context: Context): Promise<Samples[]> {
  if (typeOf(expr.expr) !== 'vector') throw new Error('a subquery needs an instant vector');
  const inner = subqueryGrid(expr, grid, context);
  const times = Float64Array.from({ length: inner.count }, (_, i) => timeAt(inner, i));
  const columns = await columnsOf(expr.expr, inner, context);
  return columns.map((column) => samplesOf(column, times)).filter((samples) => samples.times.length > 0);
}

function samplesOf({ labels, values, present }: Column, times: Float64Array): Samples {
  if (!present.includes(0)) return { labels, times, values };
  const there = present.reduce((count, flag) => count + flag, 0);
  const out = { labels, times: new Float64Array(there), values: new Float64Array(there) };
  let at = 0;
  for (let i = 0; i < present.length; i++) {
    if (present[i] === 0) continue;
    out.times[at] = times[i]!;
    out.values[at++] = values[i]!;
  }
  return out;
}
