/** Aggregations that give one series per group: sum, avg, min, max, count, group, stddev, stdvar, quantile. */
import { type Labels, only, without } from '../series/labels.ts';
import { type Aggregate, METRIC_NAME } from '../syntax/ast.ts';
import { type Column, emptyColumn } from './columns.ts';
import type { Context } from './context.ts';
import { quantileOf } from './sliding.ts';

/** Series of one group, in the order they came. */
export interface Group {
  readonly labels: Labels;
  readonly members: Column[];
}

/** The labels of the group a series belongs to. */
export function groupLabels(labels: Labels, expr: Aggregate): Labels {
  return expr.without ? without(labels, [...expr.grouping, METRIC_NAME]) : only(labels, expr.grouping);
}

export function groupsOf(columns: readonly Column[], expr: Aggregate): Group[] {
  const groups = new Map<string, Group>();
  for (const column of columns) {
    const labels = groupLabels(column.labels, expr);
    const group = groups.get(labels.key);
    if (group) group.members.push(column);
    else groups.set(labels.key, { labels, members: [column] });
  }
  return [...groups.values()];
}

/** Takes the series of a group in order and writes the result of each step. */
type Accumulate = (members: readonly Column[], out: Column) => void;

function each(column: Column, visit: (step: number, value: number) => void): void {
  const { values, present } = column;
  for (let i = 0; i < present.length; i++) if (present[i] === 1) visit(i, values[i]!);
}

function sum(members: readonly Column[], out: Column): void {
  const { values: sums, present: seen } = out;
  const count = sums.length;
  const carries = new Float64Array(count);
  for (const { values, present } of members) {
    for (let i = 0; i < count; i++) {
      if (present[i] === 0) continue;
      const value = values[i]!;
      if (seen[i] === 0) {
        seen[i] = 1;
        sums[i] = value;
        continue;
      }
      const before = sums[i]!;
      const t = before + value;
      if (t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY) carries[i] = 0;
      else if (Math.abs(before) >= Math.abs(value)) carries[i]! += before - t + value;
      else carries[i]! += value - t + before;
      sums[i] = t;
    }
  }
  for (let i = 0; i < count; i++) sums[i]! += carries[i]!;
}

/** The mean by sum and count; from an overflow on, a running mean. `n` is negative while the mean is running. */
function average(members: readonly Column[], out: Column): void {
  const { values: sums, present: seen } = out;
  const carries = new Float64Array(sums.length);
  const counts = new Float64Array(sums.length);
  const running = new Uint8Array(sums.length);
  for (const member of members) {
    each(member, (i, value) => {
      counts[i]! += 1;
      if (seen[i] === 0) {
        seen[i] = 1;
        sums[i] = value;
        return;
      }
      const n = counts[i]!;
      let term = value;
      if (running[i] === 0) {
        const t = sums[i]! + value;
        if (t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY) {
          running[i] = 1;
          sums[i]! /= n - 1;
          carries[i]! /= n - 1;
        }
      }
      if (running[i] === 1) {
        term = value / n;
        sums[i]! *= (n - 1) / n;
        carries[i]! *= (n - 1) / n;
      }
      const before = sums[i]!;
      const t = before + term;
      if (t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY) carries[i] = 0;
      else carries[i]! += Math.abs(before) >= Math.abs(term) ? before - t + term : term - t + before;
      sums[i] = t;
    });
  }
  for (let i = 0; i < sums.length; i++) {
    if (seen[i] === 0) continue;
    const n = running[i] === 1 ? 1 : counts[i]!;
    sums[i] = sums[i]! / n + carries[i]! / n;
  }
}

/** NaN gives way to any number. */
function extreme(better: (value: number, best: number) => boolean): Accumulate {
  return (members, out) => {
    const { values: best, present: seen } = out;
    for (const member of members) {
      each(member, (i, value) => {
        if (seen[i] === 0 || better(value, best[i]!) || Number.isNaN(best[i]!)) best[i] = value;
        seen[i] = 1;
      });
    }
  };
}

function count(members: readonly Column[], out: Column): void {
  for (const member of members) {
    each(member, (i) => {
      out.values[i]! += 1;
      out.present[i] = 1;
    });
  }
}

function group(members: readonly Column[], out: Column): void {
  for (const member of members) each(member, (i) => (out.present[i] = 1));
  out.values.fill(1);
}

/** Population variance by Welford's method. It starts at NaN when the first value is no finite number. */
function variance(finish: (variance: number) => number): Accumulate {
  return (members, out) => {
    const { values: aux, present: seen } = out;
    const means = new Float64Array(aux.length);
    const counts = new Float64Array(aux.length);
    for (const member of members) {
      each(member, (i, value) => {
        counts[i]! += 1;
        if (seen[i] === 0) {
          seen[i] = 1;
          means[i] = value;
          aux[i] = Number.isFinite(value) ? 0 : Number.NaN;
          return;
        }
        const delta = value - means[i]!;
        means[i]! += delta / counts[i]!;
        aux[i]! += delta * (value - means[i]!);
      });
    }
    for (let i = 0; i < aux.length; i++) if (seen[i] === 1) aux[i] = finish(aux[i]! / counts[i]!);
  };
}

function quantile(q: Float64Array): Accumulate {
  return (members, out) => {
    const scratch = new Float64Array(members.length);
    for (let i = 0; i < out.values.length; i++) {
      let size = 0;
      for (const { values, present } of members) if (present[i] === 1) scratch[size++] = values[i]!;
      if (size === 0) continue;
      out.present[i] = 1;
      out.values[i] = quantileOf(q[i]!, scratch.subarray(0, size));
    }
  };
}

function accumulatorOf(expr: Aggregate, param: Float64Array | undefined): Accumulate {
  switch (expr.op) {
    case 'sum':
      return sum;
    case 'avg':
      return average;
    case 'min':
      return extreme((value, best) => value < best);
    case 'max':
      return extreme((value, best) => value > best);
    case 'count':
      return count;
    case 'group':
      return group;
    case 'stdvar':
      return variance((value) => value);
    case 'stddev':
      return variance(Math.sqrt);
    case 'quantile':
      return quantile(param!);
    default:
      throw new Error(`${expr.op} does not give one series per group`);
  }
}

/** Evaluates one of the aggregations of this file. `param` has the value of the parameter at each step. */
export async function aggregate(
  expr: Aggregate,
  columns: readonly Column[],
  param: Float64Array | undefined,
  context: Context,
): Promise<Column[]> {
  const accumulate = accumulatorOf(expr, param);
  const out: Column[] = [];
  for (const { labels, members } of groupsOf(columns, expr)) {
    const count = members[0]!.values.length;
    const column = emptyColumn(labels, count);
    accumulate(members, column);
    out.push(column);
    if (context.spend(count * members.length)) await context.pause();
  }
  return out;
}
