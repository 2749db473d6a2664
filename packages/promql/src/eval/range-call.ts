/** Calls of functions over range vectors: finds the function, runs it along each series. */
import { withoutName } from '../series/labels.ts';
import type { Call, Expr } from '../syntax/ast.ts';
import { unwrap } from '../syntax/walk.ts';
import { type Column, emptyColumn, type Grid, refuseEqual, timeAt } from './columns.ts';
import type { Context } from './context.ts';
import * as over from './over-time.ts';
import { extrapolated, instant } from './rate.ts';
import { type RangeFunction, type RangeVector, Sweep } from './windows.ts';

/** So many samples are looked at before the clock is. */
const WORK = 250_000;

const PLAIN: ReadonlyMap<string, RangeFunction> = new Map([
  ['absent_over_time', over.present],
  ['avg_over_time', over.average],
  ['changes', over.changes],
  ['count_over_time', over.count],
  ['deriv', over.deriv],
  ['idelta', instant(false)],
  ['irate', instant(true)],
  ['last_over_time', over.last],
  ['max_over_time', over.maximum],
  ['min_over_time', over.minimum],
  ['present_over_time', over.present],
  ['resets', over.resets],
  ['stddev_over_time', over.stddev],
  ['stdvar_over_time', over.stdvar],
  ['sum_over_time', over.sum],
]);

/** The range vector among the arguments of a call, if there is one. */
export function rangeArgument(call: Call): Expr | undefined {
  return call.args.find((arg) => {
    const { kind } = unwrap(arg);
    return kind === 'matrixSelector' || kind === 'subquery';
  });
}

/** The function of a call, ready for its range and its other argument (one value per step). */
function functionOf(call: Call, range: number, param: Float64Array | undefined, grid: Grid): RangeFunction {
  switch (call.func) {
    case 'rate':
      return extrapolated({ counter: true, perSecond: true, range });
    case 'increase':
      return extrapolated({ counter: true, perSecond: false, range });
    case 'delta':
      return extrapolated({ counter: false, perSecond: false, range });
    case 'quantile_over_time':
      return over.quantileOver(param!);
    case 'predict_linear':
      return over.predictLinear(param!, (step) => timeAt(grid, step));
  }
  const plain = PLAIN.get(call.func);
  if (!plain) throw new Error(`${call.func} is no function over a range vector`);
  return plain;
}

/** Evaluates a call over a range vector. Series that have no window with enough samples are left out. */
export async function callOverRange(
  call: Call,
  vector: RangeVector,
  param: Float64Array | undefined,
  grid: Grid,
  context: Context,
): Promise<Column[]> {
  const f = functionOf(call, vector.range, param, grid);
  const keepName = call.func === 'last_over_time';
  const out: Column[] = [];
  context.checkSize(vector.series.length * grid.count, call.span);
  for (const series of vector.series) {
    const column = emptyColumn(keepName ? series.labels : withoutName(series.labels), grid.count);
    const sweep = new Sweep(series, vector, context.closed, f, column);
    for (let done = false; !done; ) {
      done = sweep.advance(WORK);
      if (context.spend(done ? grid.count + series.times.length : WORK)) await context.pause();
    }
    if (sweep.found > 0) out.push(column);
  }
  if (call.func !== 'absent_over_time') refuseEqual(out, call.span);
  return out;
}
