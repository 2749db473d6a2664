/** Functions over instant vectors and scalars that look at one value at a time. */
import { labelsOf, NO_LABELS } from '../series/labels.ts';
import { type Call, METRIC_NAME } from '../syntax/ast.ts';
import { unwrap } from '../syntax/walk.ts';
import { type Column, type Grid, joinEqual, mapped, presence, type ScalarValue, timeAt } from './columns.ts';
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

/** Applies a function of one number to all columns. */
export function applyMath(call: Call, f: (value: number) => number, columns: readonly Column[]): readonly Column[] {
  return joinEqual(
    columns.map((column) => mapped(column, f)),
    call.span,
  );
}

/** Applies a function of a value and the step it stands at. */
function mapSteps(column: Column, f: (value: number, step: number) => number): Column {
  let step = 0;
  const steps = Float64Array.from(column.values, () => step++);
  return mapped({ ...column, values: steps }, (at) => f(column.values[at]!, at));
}

/** Go's math.Max and math.Min: an infinity wins over NaN. */
function goMax(a: number, b: number): number {
  return a === Number.POSITIVE_INFINITY || b === Number.POSITIVE_INFINITY ? Number.POSITIVE_INFINITY : Math.max(a, b);
}

function goMin(a: number, b: number): number {
  return a === Number.NEGATIVE_INFINITY || b === Number.NEGATIVE_INFINITY ? Number.NEGATIVE_INFINITY : Math.min(a, b);
}

/** clamp, clamp_min and clamp_max. A lower bound above the upper one leaves nothing at that step. */
export function clamp(
  call: Call,
  columns: readonly Column[],
  low: Float64Array,
  high: Float64Array,
): readonly Column[] {
  const clamped = columns.map((column) => {
    const out = mapSteps(column, (value, step) => goMax(low[step]!, goMin(high[step]!, value)));
    return { ...out, present: out.present.map((flag, step) => (high[step]! < low[step]! ? 0 : flag)) };
  });
  return joinEqual(clamped, call.span);
}

export function clampMax(call: Call, columns: readonly Column[], high: Float64Array): readonly Column[] {
  return joinEqual(
    columns.map((column) => mapSteps(column, (value, step) => goMin(high[step]!, value))),
    call.span,
  );
}

export function clampMin(call: Call, columns: readonly Column[], low: Float64Array): readonly Column[] {
  return joinEqual(
    columns.map((column) => mapSteps(column, (value, step) => goMax(low[step]!, value))),
    call.span,
  );
}

/** round to a multiple of `nearest`; halves go up. Dividing by the inverse loses less, as Prometheus does it. */
export function round(call: Call, columns: readonly Column[], nearest: Float64Array | undefined): readonly Column[] {
  const rounded = columns.map((column) =>
    mapSteps(column, (value, step) => {
      const inverse = 1 / (nearest ? nearest[step]! : 1);
      return Math.floor(value * inverse + 0.5) / inverse;
    }),
  );
  return joinEqual(rounded, call.span);
}

/** The times of the steps in seconds. */
export function stepTimes(grid: Grid): Float64Array {
  const times = new Float64Array(grid.count);
  for (let i = 0; i < times.length; i++) times[i] = timeAt(grid, i) / 1000;
  return times;
}

/** The times of the steps as the values of all present samples. */
export function timesOf(call: Call, columns: readonly Column[], grid: Grid): readonly Column[] {
  const times = stepTimes(grid);
  return joinEqual(
    columns.map((column) => mapSteps(column, (_value, step) => times[step]!)),
    call.span,
  );
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
