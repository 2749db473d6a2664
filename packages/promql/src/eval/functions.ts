/** Functions over instant vectors and scalars that look at one value at a time. */
import { labelsOf, NO_LABELS, withoutName } from '../series/labels.ts';
import { type Call, METRIC_NAME } from '../syntax/ast.ts';
import { unwrap } from '../syntax/walk.ts';
import { type Column, type Grid, joinEqual, presence, type ScalarValue, timeAt } from './columns.ts';
import type { Context } from './context.ts';
import { DATE_FUNCTIONS } from './dates.ts';

/** Above this the smaller exponential is nothing, and Go leaves it out: the result is infinite a little earlier. */
const LARGE = 21;

function cosh(value: number): number {
  return Math.abs(value) > LARGE ? Math.exp(Math.abs(value)) / 2 : Math.cosh(value);
}

function sinh(value: number): number {
  return Math.abs(value) > LARGE ? (Math.sign(value) * Math.exp(Math.abs(value))) / 2 : Math.sinh(value);
}

/** Functions of one number. All of them drop the metric name. */
const MATH: ReadonlyMap<string, (value: number) => number> = new Map<string, (value: number) => number>([
  ['abs', Math.abs],
  ['acos', Math.acos],
  ['acosh', Math.acosh],
  ['asin', Math.asin],
  ['asinh', Math.asinh],
  ['atan', Math.atan],
  ['atanh', Math.atanh],
  ['ceil', Math.ceil],
  ['cos', Math.cos],
  ['cosh', cosh],
  ['deg', (value) => (value * 180) / Math.PI],
  ['exp', Math.exp],
  ['floor', Math.floor],
  ['ln', Math.log],
  ['log10', Math.log10],
  ['log2', Math.log2],
  ['rad', (value) => (value * Math.PI) / 180],
  ['sgn', (value) => (value > 0 ? 1 : value < 0 ? -1 : value)],
  ['sin', Math.sin],
  ['sinh', sinh],
  ['sqrt', Math.sqrt],
  ['tan', Math.tan],
  ['tanh', Math.tanh],
  ...DATE_FUNCTIONS,
]);

/** The function of one number with this name, if there is one. */
export function mathFunction(name: string): ((value: number) => number) | undefined {
  return MATH.get(name);
}

/** Applies a function of a value and the step it stands at to all columns; the metric name goes. */
async function mapValues(
  call: Call,
  columns: readonly Column[],
  context: Context,
  f: (value: number, step: number) => number,
): Promise<readonly Column[]> {
  const count = columns[0]?.values.length ?? 0;
  const out = await context.map(columns, count, ({ labels, values, present }) => {
    const changed = new Float64Array(count);
    for (let i = 0; i < count; i++) if (present[i] === 1) changed[i] = f(values[i]!, i);
    return { labels: withoutName(labels), values: changed, present };
  });
  return joinEqual(out, call.span);
}

/** Applies a function of one number to all columns. */
export function applyMath(
  call: Call,
  f: (value: number) => number,
  columns: readonly Column[],
  context: Context,
): Promise<readonly Column[]> {
  return mapValues(call, columns, context, f);
}

/** Go's math.Max and math.Min: an infinity wins over NaN. */
function goMax(a: number, b: number): number {
  return a === Number.POSITIVE_INFINITY || b === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(a, b);
}

function goMin(a: number, b: number): number {
  return a === Number.NEGATIVE_INFINITY || b === Number.NEGATIVE_INFINITY ? Number.NEGATIVE_INFINITY : Math.min(a, b);
}

/**
 * clamp, clamp_min, clamp_max, round and `timestamp` of an expression: functions of a value and of scalar arguments,
 * one value of each per step.
 */
export function applyWithScalars(
  call: Call,
  columns: readonly Column[],
  scalars: readonly Float64Array[],
  grid: Grid,
  context: Context,
): Promise<readonly Column[]> {
  const [first, second] = scalars;
  switch (call.func) {
    case 'clamp':
      return mapValues(call, whereInOrder(columns, first!, second!), context, (value, step) =>
        goMax(first![step]!, goMin(second![step]!, value)),
      );
    case 'clamp_max':
      return mapValues(call, columns, context, (value, step) => goMin(first![step]!, value));
    case 'clamp_min':
      return mapValues(call, columns, context, (value, step) => goMax(first![step]!, value));
    case 'round':
      return mapValues(call, columns, context, (value, step) => round(value, first ? first[step]! : 1));
    case 'timestamp':
      return mapValues(call, columns, context, (_value, step) => timeAt(grid, step) / 1000);
    default:
      throw new Error(`the function ${call.func} is not known`);
  }
}

/** The columns at the steps where the lower bound of `clamp` is not above the upper one; there is nothing at others. */
function whereInOrder(columns: readonly Column[], low: Float64Array, high: Float64Array): readonly Column[] {
  if (!low.some((bound, step) => bound > high[step]!)) return columns;
  return columns.map((column) => ({
    ...column,
    present: column.present.map((flag, step) => (high[step]! < low[step]! ? 0 : flag)),
  }));
}

/** Rounds to a multiple of `nearest`; halves go up. Dividing by the inverse loses less, as Prometheus does it. */
function round(value: number, nearest: number): number {
  const inverse = 1 / nearest;
  return Math.floor(value * inverse + 0.5) / inverse;
}

/** The times of the steps in seconds. */
export function stepTimes(grid: Grid): Float64Array {
  const times = new Float64Array(grid.count);
  for (let i = 0; i < times.length; i++) times[i] = timeAt(grid, i) / 1000;
  return times;
}

/** `vector(s)`: one series without labels. */
export function toVector({ values }: ScalarValue): readonly Column[] {
  return [{ labels: NO_LABELS, values, present: new Uint8Array(values.length).fill(1) }];
}

/** `scalar(v)`: the value where the vector has exactly one, else NaN. */
export function toScalar(columns: readonly Column[], count: number): ScalarValue {
  const values = new Float64Array(count);
  const found = new Uint32Array(count);
  for (const column of columns) {
    for (let i = 0; i < count; i++) {
      if (column.present[i] === 0) continue;
      found[i]! += 1;
      values[i] = column.values[i]!;
    }
  }
  for (let i = 0; i < count; i++) if (found[i] !== 1) values[i] = Number.NaN;
  return { kind: 'scalar', values };
}

/** `absent` and `absent_over_time`: 1 where nothing is there, with the labels that the selector's `=` matchers tell. */
export function absent(call: Call, columns: readonly Column[], count: number): readonly Column[] {
  const there = presence(columns, count);
  if (!there.includes(0)) return [];
  const present = there.map((flag) => 1 - flag);
  return [{ labels: labelsOf(absentLabels(call)), values: new Float64Array(count).fill(1), present }];
}

function absentLabels(call: Call): Map<string, string> {
  const argument = unwrap(call.args[0]!);
  const selector = argument.kind === 'matrixSelector' ? argument.selector : argument;
  const labels = new Map<string, string>();
  if (selector.kind !== 'vectorSelector') return labels;
  const seen = new Set<string>();
  for (const { label, op, value } of selector.matchers) {
    if (label === METRIC_NAME) continue;
    // A label matched twice is not known.
    if (op === '=' && !seen.has(label)) labels.set(label, value);
    else labels.delete(label);
    if (op === '=') seen.add(label);
  }
  return labels;
}

/** `sort` and `sort_desc`: the series in order of their value, NaN last. It means something for one step only. */
export function sorted(columns: readonly Column[], descending: boolean): readonly Column[] {
  const value = (column: Column) => column.values[0]!;
  return [...columns].sort((a, b) => {
    if (Number.isNaN(value(a)) || Number.isNaN(value(b)))
      return Number(Number.isNaN(value(a))) - Number(Number.isNaN(value(b)));
    return descending ? value(b) - value(a) : value(a) - value(b);
  });
}
