/** Instant vector selectors: the newest sample of each series at each step, not older than the lookback. */
import type { SeriesData } from '../storage/storage.ts';
import type { VectorSelector } from '../syntax/ast.ts';
import { type Column, emptyColumn, type Grid } from './columns.ts';
import type { Context } from './context.ts';
import { type Reach, reachOf } from './select.ts';

/** What a column shall hold: the sample's value, or its time in seconds (for `timestamp`). */
export type Wanted = 'value' | 'time';

export async function selectInstant(
  selector: VectorSelector,
  grid: Grid,
  context: Context,
  wanted: Wanted = 'value',
): Promise<Column[]> {
  const reach = reachOf(selector, grid, context);
  const columns: Column[] = [];
  const series = context.data.get(selector)!;
  context.checkSize(series.length * grid.count, selector.span);
  for (const each of series) {
    const column = emptyColumn(each.labels, grid.count);
    if (lookup(each, reach, context, wanted, column)) columns.push(column);
    if (context.spend(grid.count + each.times.length)) await context.pause();
  }
  return columns;
}

/** Fills one column; false when no step has a value. A staleness marker ends the series until its next sample. */
function lookup(series: SeriesData, reach: Reach, context: Context, wanted: Wanted, out: Column): boolean {
  const { times, values, stale } = series;
  const { lookback, closed } = context;
  let at = -1;
  let any = false;
  for (let step = 0; step < out.values.length; step++) {
    const now = reach.first + step * reach.stride;
    while (at + 1 < times.length && times[at + 1]! <= now) at++;
    if (at < 0) continue;
    const age = now - times[at]!;
    if ((closed ? age > lookback : age >= lookback) || stale?.[at] === 1) continue;
    out.values[step] = wanted === 'value' ? values[at]! : times[at]! / 1000;
    out.present[step] = 1;
    any = true;
  }
  return any;
}
