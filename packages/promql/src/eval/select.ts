/** Reads what a query needs before it is evaluated: each selector once, over the time its steps can see. */
import type { Call, Expr, Subquery, VectorSelector } from '../syntax/ast.ts';
import { AGGREGATES, FUNCTIONS } from '../syntax/functions.ts';
import { leftSpine, matchersOf } from '../syntax/walk.ts';
import type { Grid } from './columns.ts';
import type { Context } from './context.ts';
import { QueryError } from './errors.ts';

/** A selector or subquery as the steps see it: the time of the first step and the move per step, after `@` and offset. */
export interface Reach {
  readonly first: number;
  readonly stride: number;
}

/** Applies `@` and the offset of a selector or subquery to a grid. */
export function reachOf({ at, offset }: Pick<VectorSelector, 'at' | 'offset'>, grid: Grid, context: Context): Reach {
  if (at === undefined) return { first: grid.start - offset, stride: grid.step };
  const fixed = at.kind === 'timestamp' ? at.timestamp : at.kind === 'start' ? context.start : context.end;
  return { first: fixed - offset, stride: 0 };
}

/** The steps of a subquery: absolute multiples of its step, from just after the left end of the first window. */
export function subqueryGrid(expr: Subquery, grid: Grid, context: Context): Grid {
  const { first, stride } = reachOf(expr, grid, context);
  const step = expr.step ?? context.subqueryStep;
  const left = first - expr.range;
  let start = step * Math.trunc(left / step);
  if (context.closed ? start < left : start <= left) start += step;
  const end = first + stride * (grid.count - 1);
  const count = Math.max(0, Math.floor((end - start) / step) + 1);
  context.checkSize(count, expr.span);
  return { start, step, count };
}

interface Read {
  readonly selector: VectorSelector;
  readonly from: number;
  readonly to: number;
}

/** Finds every selector with the time it covers. Also refuses what cannot be evaluated before anything is read. */
class Planner {
  readonly reads: Read[] = [];
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  visit(expr: Expr, grid: Grid, depth: number): void {
    if (depth > this.#context.limits.nesting) {
      throw new QueryError('too_deep', `The query is nested deeper than ${this.#context.limits.nesting}.`, expr.span);
    }
    const deeper = depth + 1;
    switch (expr.kind) {
      case 'numberLiteral':
      case 'stringLiteral':
        return;
      case 'vectorSelector':
        this.#read(expr, grid, this.#context.lookback);
        return;
      case 'matrixSelector':
        this.#read(expr.selector, grid, expr.range);
        return;
      case 'subquery':
        this.visit(expr.expr, subqueryGrid(expr, grid, this.#context), deeper);
        return;
      case 'call':
        refuseUnsupported(expr);
        for (const arg of expr.args) this.visit(arg, grid, deeper);
        return;
      case 'aggregate':
        if (AGGREGATES.get(expr.op)?.experimental) throw experimental(expr.op, expr);
        if (expr.param) this.visit(expr.param, grid, deeper);
        this.visit(expr.expr, grid, deeper);
        return;
      case 'binary': {
        const spine = leftSpine(expr);
        this.visit(spine[0]!.left, grid, deeper);
        for (const node of spine) this.visit(node.right, grid, deeper);
        return;
      }
      case 'unary':
      case 'paren':
        this.visit(expr.expr, grid, deeper);
        return;
      case 'opaque':
        throw new QueryError('unsupported', 'Only VictoriaMetrics can evaluate this part of the query.', expr.span);
    }
  }

  #read(selector: VectorSelector, grid: Grid, back: number): void {
    const { first, stride } = reachOf(selector, grid, this.#context);
    const last = first + stride * Math.max(0, grid.count - 1);
    this.reads.push({ selector, from: first - back, to: last });
  }
}

const NATIVE_ONLY: ReadonlySet<string> = new Set([
  'histogram_avg',
  'histogram_count',
  'histogram_sum',
  'histogram_stddev',
  'histogram_stdvar',
]);

function experimental(name: string, expr: Expr): QueryError {
  return new QueryError('unsupported', `${name} is experimental in Prometheus and not evaluated here.`, expr.span);
}

function refuseUnsupported(call: Call): void {
  if (NATIVE_ONLY.has(call.func)) {
    const message = `${call.func} works on native histograms, which are not supported. Use classic buckets.`;
    throw new QueryError('unsupported', message, call.span);
  }
  if (FUNCTIONS.get(call.func)?.experimental) throw experimental(call.func, call);
}

/** Reads the data of every selector of an expression into the context. */
export async function readData(expr: Expr, grid: Grid, context: Context): Promise<void> {
  const planner = new Planner(context);
  planner.visit(expr, grid, 0);
  context.check();
  const { signal, race } = context.untilDeadline();
  let samples = 0;
  const reads = planner.reads.map(async ({ selector, from, to }) => {
    const series = await context.storage.select(matchersOf(selector), from, to, { signal });
    if (series.length > context.limits.series) {
      throw new QueryError(
        'too_many_series',
        `The selector reads ${series.length} series, more than the limit of ${context.limits.series}.`,
        selector.span,
      );
    }
    for (const { times } of series) samples += times.length;
    if (samples > context.limits.samples) {
      throw new QueryError(
        'too_many_samples',
        `The query reads more than the limit of ${context.limits.samples} samples.`,
        selector.span,
      );
    }
    context.data.set(selector, series);
  });
  await race(Promise.all(reads));
  context.check();
}
