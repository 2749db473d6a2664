/** Instant and range queries: the way into the evaluator. */
import { compareLabels, type Labels, NO_LABELS } from '../series/labels.ts';
import { upperBound } from '../storage/storage.ts';
import type { Expr } from '../syntax/ast.ts';
import { typeOf, unwrap } from '../syntax/walk.ts';
import { type Column, type Grid, hasAny, timeAt } from './columns.ts';
import { type Annotation, Context, type EvalOptions } from './context.ts';
import { QueryError } from './errors.ts';
import { evaluate, subquerySamples } from './evaluate.ts';
import { reachOf, readData } from './select.ts';
import { type Samples, withoutStale } from './windows.ts';

export interface InstantQuery extends EvalOptions {
  /** Milliseconds since 1970. */
  readonly time: number;
}

export interface RangeQuery extends EvalOptions {
  /** First step, milliseconds since 1970. */
  readonly start: number;
  /** No step is after this time. */
  readonly end: number;
  /** Milliseconds between steps. */
  readonly step: number;
}

/** One series of an instant vector. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** One series of a range result: parallel columns of times (milliseconds) and values. */
export interface Points {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

export type InstantData =
  | { readonly type: 'scalar'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  /** In the order of the query when it sorts, else in no particular order. */
  | { readonly type: 'vector'; readonly samples: readonly Sample[] }
  | { readonly type: 'matrix'; readonly series: readonly Points[] };

export interface InstantResult {
  readonly time: number;
  readonly data: InstantData;
  readonly annotations: readonly Annotation[];
}

export interface RangeResult {
  /** Sorted by labels. A series has points only at the steps where it has a value. */
  readonly series: readonly Points[];
  readonly annotations: readonly Annotation[];
}

/**
 * Evaluates an expression at one time. The expression must have passed the type check (`parse` does it).
 * Throws `QueryError`, and whatever the storage throws.
 */
export async function queryInstant(expr: Expr, query: InstantQuery): Promise<InstantResult> {
  const { time } = query;
  if (!Number.isSafeInteger(time)) throw new QueryError('bad_range', 'The time must be whole milliseconds.');
  const context = new Context(query, time, time);
  const grid: Grid = { start: time, step: 1, count: 1 };
  await readData(expr, grid, context);
  const data = await instantData(expr, grid, context);
  return { time, data, annotations: context.annotations() };
}

async function instantData(expr: Expr, grid: Grid, context: Context): Promise<InstantData> {
  if (typeOf(expr) === 'matrix') return { type: 'matrix', series: sorted(await rangeVector(expr, grid, context)) };
  const value = await evaluate(expr, grid, context);
  if (value.kind === 'scalar') return { type: 'scalar', value: value.values[0]! };
  if (value.kind === 'string') return { type: 'string', value: value.value };
  const samples = value.columns.filter(hasAny).map(({ labels, values }) => ({ labels, value: values[0]! }));
  return { type: 'vector', samples };
}

function sorted(series: readonly Points[]): Points[] {
  return [...series].sort((a, b) => compareLabels(a.labels, b.labels));
}

/** A range vector as the result itself: its samples as they are. */
async function rangeVector(expr: Expr, grid: Grid, context: Context): Promise<readonly Points[]> {
  const range = unwrap(expr);
  if (range.kind === 'subquery') return subquerySamples(range, grid, context);
  if (range.kind !== 'matrixSelector') throw new Error(`${range.kind} is no range vector`);
  const { first: end } = reachOf(range.selector, grid, context);
  const series = context.data
    .get(range.selector)!
    .map((each) => cut(withoutStale(each), end - range.range, end, context));
  return series.filter(({ times }) => times.length > 0);
}

function cut({ labels, times, values }: Samples, start: number, end: number, { closed }: Context): Points {
  // Times are whole milliseconds, so a closed left end is an open one a millisecond earlier.
  const from = upperBound(times, closed ? start - 1 : start);
  const to = upperBound(times, end);
  return { labels, times: times.slice(from, to), values: values.slice(from, to) };
}

/**
 * Evaluates a scalar or an instant vector at every step from `start` to `end`.
 * Throws `QueryError`, and whatever the storage throws.
 */
export async function queryRange(expr: Expr, query: RangeQuery): Promise<RangeResult> {
  const grid = gridOf(query);
  const type = typeOf(expr);
  if (type === 'string' || type === 'matrix') {
    const found = type === 'string' ? 'a string' : 'a range vector';
    throw new QueryError(
      'bad_range',
      `A range query needs a scalar or an instant vector, this is ${found}.`,
      expr.span,
    );
  }
  const context = new Context(query, query.start, query.end);
  if (grid.count > context.limits.steps) {
    const message = `The range has ${grid.count} steps, more than the limit of ${context.limits.steps}.`;
    throw new QueryError('too_many_steps', message);
  }
  await readData(expr, grid, context);
  const value = await evaluate(expr, grid, context);
  if (value.kind === 'string') throw new Error('a string has no range');
  const columns =
    value.kind === 'vector'
      ? value.columns.filter(hasAny)
      : [{ labels: NO_LABELS, values: value.values, present: new Uint8Array(grid.count).fill(1) }];
  const series = sorted(columns.map((column) => pointsOf(column, grid)));
  return { series, annotations: context.annotations() };
}

function gridOf({ start, end, step }: RangeQuery): Grid {
  if (![start, end, step].every(Number.isSafeInteger)) {
    throw new QueryError('bad_range', 'Start, end and step must be whole milliseconds.');
  }
  if (step <= 0) throw new QueryError('bad_range', 'The step must be greater than zero.');
  if (end < start) throw new QueryError('bad_range', 'The end must not be before the start.');
  return { start, step, count: Math.floor((end - start) / step) + 1 };
}

function pointsOf({ labels, values, present }: Column, grid: Grid): Points {
  const count = present.reduce((sum, flag) => sum + flag, 0);
  const times = new Float64Array(count);
  const kept = count === values.length ? values : new Float64Array(count);
  let at = 0;
  for (let i = 0; i < present.length; i++) {
    if (present[i] === 0) continue;
    times[at] = timeAt(grid, i);
    kept[at++] = values[i]!;
  }
  return { labels, times, values: kept };
}
