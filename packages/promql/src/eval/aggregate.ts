/** Aggregations that give one series per group: sum, avg, min, max, count, group, stddev, stdvar, quantile. */
import { type Labels, only, without } from '../series/labels.ts';
import { type Aggregate, type AggregateOp, METRIC_NAME } from '../syntax/ast.ts';
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

/** Takes the series of a group one by one, and then writes what is left to write. */
interface Accumulator {
  add(member: Column): void;
  finish?(): void;
}

type Start = (out: Column) => Accumulator;

function each(column: Column, visit: (step: number, value: number) => void): void {
  const { values, present } = column;
  for (let i = 0; i < present.length; i++) if (present[i] === 1) visit(i, values[i]!);
}

const sum: Start = ({ values: sums, present: seen }) => {
  const count = sums.length;
  const carries = new Float64Array(count);
  return {
    add({ values, present }) {
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
    },
    finish() {
      for (let i = 0; i < count; i++) sums[i]! += carries[i]!;
    },
  };
};

/** The mean by sum and count; from an overflow on, a running mean. */
const average: Start = ({ values: sums, present: seen }) => {
  const carries = new Float64Array(sums.length);
  const counts = new Float64Array(sums.length);
  const running = new Uint8Array(sums.length);
  /** Adds a term and its carry; true when the sum would be infinite, and then changes nothing but for `force`. */
  const plus = (i: number, term: number, force: boolean): boolean => {
    const before = sums[i]!;
    const t = before + term;
    const infinite = t === Number.POSITIVE_INFINITY || t === Number.NEGATIVE_INFINITY;
    if (infinite && !force) return true;
    if (infinite) carries[i] = 0;
    else carries[i]! += Math.abs(before) >= Math.abs(term) ? before - t + term : term - t + before;
    sums[i] = t;
    return infinite;
  };
  const addOne = (i: number, value: number): void => {
    counts[i]! += 1;
    const n = counts[i]!;
    if (seen[i] === 0) {
      seen[i] = 1;
      sums[i] = value;
      return;
    }
    if (running[i] === 0) {
      if (!plus(i, value, false)) return;
      running[i] = 1;
      sums[i]! /= n - 1;
      carries[i]! /= n - 1;
    }
    sums[i]! *= (n - 1) / n;
    carries[i]! *= (n - 1) / n;
    plus(i, value / n, true);
  };
  return {
    add: (member) => each(member, addOne),
    finish() {
      for (let i = 0; i < sums.length; i++) {
        const n = running[i] === 1 ? 1 : counts[i]!;
        if (seen[i] === 1) sums[i] = sums[i]! / n + carries[i]! / n;
      }
    },
  };
};

/** NaN gives way to any number. */
function extreme(better: (value: number, best: number) => boolean): Start {
  return ({ values: best, present: seen }) => ({
    add: (member) =>
      each(member, (i, value) => {
        if (seen[i] === 0 || better(value, best[i]!) || Number.isNaN(best[i]!)) best[i] = value;
        seen[i] = 1;
      }),
  });
}

const count: Start = (out) => ({
  add: (member) =>
    each(member, (i) => {
      out.values[i]! += 1;
      out.present[i] = 1;
    }),
});

const group: Start = (out) => ({
  add: (member) =>
    each(member, (i) => {
      out.values[i] = 1;
      out.present[i] = 1;
    }),
});

/** Population variance by Welford's method. It starts at NaN when the first value is no finite number. */
function variance(finish: (variance: number) => number): Start {
  return ({ values: aux, present: seen }) => {
    const means = new Float64Array(aux.length);
    const counts = new Float64Array(aux.length);
    const addOne = (i: number, value: number): void => {
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
    };
    return {
      add: (member) => each(member, addOne),
      finish() {
        for (let i = 0; i < aux.length; i++) if (seen[i] === 1) aux[i] = finish(aux[i]! / counts[i]!);
      },
    };
  };
}

const STARTS: Readonly<Partial<Record<AggregateOp, Start>>> = {
  sum,
  avg: average,
  min: extreme((value, best) => value < best),
  max: extreme((value, best) => value > best),
  count,
  group,
  stdvar: variance((value) => value),
  stddev: variance(Math.sqrt),
};

/** Evaluates one of the aggregations of this file but `quantile`. */
export async function aggregate(expr: Aggregate, columns: readonly Column[], context: Context): Promise<Column[]> {
  const start = STARTS[expr.op];
  if (!start) throw new Error(`${expr.op} does not give one series per group`);
  const out: Column[] = [];
  for (const { labels, members } of groupsOf(columns, expr)) {
    const column = emptyColumn(labels, members[0]!.values.length);
    const accumulator = start(column);
    for (const member of members) {
      accumulator.add(member);
      if (context.spend(member.values.length)) await context.pause();
    }
    accumulator.finish?.();
    out.push(column);
  }
  return out;
}

/** `quantile(q, v)`; `q` has one value per step. */
export async function aggregateQuantile(
  expr: Aggregate,
  columns: readonly Column[],
  q: Float64Array,
  context: Context,
): Promise<Column[]> {
  const out: Column[] = [];
  for (const { labels, members } of groupsOf(columns, expr)) {
    const column = emptyColumn(labels, q.length);
    const scratch = new Float64Array(members.length);
    for (let i = 0; i < q.length; i++) {
      let size = 0;
      for (const { values, present } of members) if (present[i] === 1) scratch[size++] = values[i]!;
      if (context.spend(members.length)) await context.pause();
      if (size === 0) continue;
      column.present[i] = 1;
      column.values[i] = quantileOf(q[i]!, scratch.subarray(0, size));
    }
    out.push(column);
  }
  return out;
}
