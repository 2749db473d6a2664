/** Binary expressions: between scalars, between a vector and a scalar, and between two vectors. */
import { formatLabels, type Labels, withoutName } from '../series/labels.ts';
import type { Binary, VectorMatching } from '../syntax/ast.ts';
import { arithmetic, comparison, isArithmetic, isComparison } from './arithmetic.ts';
import { type Column, joinEqual, presence, type Value, vector } from './columns.ts';
import type { Context } from './context.ts';
import { QueryError } from './errors.ts';
import { type MatchGroup, matchGroups, resultLabels } from './matching.ts';

/** Evaluates an operator on the values of its two sides. Sides have the types the checker allows. */
export async function binary(expr: Binary, left: Value, right: Value, context: Context): Promise<Value> {
  if (left.kind === 'string' || right.kind === 'string') throw new Error('a string cannot be an operand');
  if (left.kind === 'scalar') {
    return right.kind === 'scalar'
      ? scalars(expr, left.values, right.values)
      : withScalar(expr, right.columns, left.values, true, context);
  }
  if (right.kind === 'scalar') return withScalar(expr, left.columns, right.values, false, context);
  if (expr.op === 'and' || expr.op === 'or' || expr.op === 'unless') {
    return vector(await setOperation(expr, left.columns, right.columns, context));
  }
  return vector(await vectors(expr, left.columns, right.columns, context));
}

/** The numeric operation: arithmetic, or a comparison as 1 and 0. */
function numeric({ op }: Binary): (a: number, b: number) => number {
  if (isArithmetic(op)) return arithmetic(op);
  if (!isComparison(op)) throw new Error(`${op} is no operation on numbers`);
  const compare = comparison(op);
  return (a, b) => (compare(a, b) ? 1 : 0);
}

/** For a comparison without `bool` the test that keeps a value, else undefined. */
function filter({ op, bool }: Binary): ((a: number, b: number) => boolean) | undefined {
  return isComparison(op) && !bool ? comparison(op) : undefined;
}

function scalars(expr: Binary, left: Float64Array, right: Float64Array): Value {
  const f = numeric(expr);
  return { kind: 'scalar', values: left.map((value, i) => f(value, right[i]!)) };
}

/** Vector by scalar. `swapped` when the scalar stands on the left; a filter keeps the vector's value all the same. */
async function withScalar(
  expr: Binary,
  columns: readonly Column[],
  scalar: Float64Array,
  swapped: boolean,
  context: Context,
): Promise<Value> {
  const count = scalar.length;
  const keep = filter(expr);
  if (keep) {
    const kept = await context.map(columns, count, ({ labels, values, present }) => {
      const out = new Uint8Array(count);
      for (let i = 0; i < count; i++) {
        if (present[i] === 0) continue;
        const yes = swapped ? keep(scalar[i]!, values[i]!) : keep(values[i]!, scalar[i]!);
        out[i] = yes ? 1 : 0;
      }
      return { labels, values, present: out };
    });
    return vector(kept);
  }
  const f = numeric(expr);
  const mapped = await context.map(columns, count, ({ labels, values, present }) => {
    const out = new Float64Array(count);
    if (swapped) for (let i = 0; i < count; i++) out[i] = f(scalar[i]!, values[i]!);
    else for (let i = 0; i < count; i++) out[i] = f(values[i]!, scalar[i]!);
    return { labels: withoutName(labels), values: out, present };
  });
  return vector(joinEqual(mapped, expr.span));
}

/** `and`, `or` and `unless`: what the other side has at a step decides, values and labels stay. */
async function setOperation(
  expr: Binary,
  left: readonly Column[],
  right: readonly Column[],
  context: Context,
): Promise<readonly Column[]> {
  const out: Column[] = [];
  const count = (left[0] ?? right[0])?.present.length ?? 0;
  for (const group of matchGroups(left, right, expr.matching!).values()) {
    if (expr.op === 'or') {
      const taken = presence(group.left, count);
      out.push(...group.left, ...(await context.map(group.right, count, (column) => masked(column, taken, 0))));
    } else {
      const there = presence(group.right, count);
      const wanted = expr.op === 'and' ? 1 : 0;
      out.push(...(await context.map(group.left, count, (column) => masked(column, there, wanted))));
    }
  }
  return joinEqual(inOrder(out, left, right), expr.span);
}

/** Groups come in their own order; the result keeps the order of the sides, left first. */
function inOrder(out: Column[], left: readonly Column[], right: readonly Column[]): readonly Column[] {
  const place = new Map<Labels, number>();
  for (const { labels } of [...left, ...right]) if (!place.has(labels)) place.set(labels, place.size);
  return out.sort((a, b) => place.get(a.labels)! - place.get(b.labels)!);
}

/** The column at the steps where `mask` is `wanted`. */
function masked(column: Column, mask: Uint8Array, wanted: 0 | 1): Column {
  const present = new Uint8Array(mask.length);
  for (let i = 0; i < present.length; i++) present[i] = column.present[i] === 1 && mask[i] === wanted ? 1 : 0;
  return { labels: column.labels, values: column.values, present };
}

async function vectors(
  expr: Binary,
  left: readonly Column[],
  right: readonly Column[],
  context: Context,
): Promise<readonly Column[]> {
  const count = (left[0] ?? right[0])?.present.length ?? 0;
  const matching = expr.matching!;
  const swapped = matching.card === 'one-to-many';
  const many = swapped ? right : left;
  const one = swapped ? left : right;
  // With nothing on one side there is no match to be ambiguous about.
  const manyAny = presence(many, count);
  const pairing = new Pairing(expr, matching, swapped);
  const out: Column[] = [];
  for (const group of matchGroups(many, one, matching).values()) {
    const chosen = chooseOne(group.right, manyAny, expr, matching, swapped);
    if (context.spend(count * Math.max(1, group.left.length))) await context.pause();
    if (group.left.length === 0 || chosen.length === 0) continue;
    for (const column of pairing.columns(group.left, chosen, count)) out.push(column);
  }
  return joinEqual(out, expr.span);
}

/** Checks that the "one" side is unique at each step. */
function chooseOne(
  columns: readonly Column[],
  manyAny: Uint8Array,
  expr: Binary,
  matching: VectorMatching,
  swapped: boolean,
): readonly Column[] {
  if (columns.length < 2) return columns;
  const taken = new Uint8Array(manyAny.length);
  for (const { labels, present } of columns) {
    for (let i = 0; i < taken.length; i++) {
      if (present[i] === 0 || manyAny[i] === 0) continue;
      if (taken[i] === 1) throw manyToMany(labels, columns, expr, matching, swapped);
      taken[i] = 1;
    }
  }
  return columns;
}

function manyToMany(
  labels: Labels,
  columns: readonly Column[],
  expr: Binary,
  matching: VectorMatching,
  swapped: boolean,
) {
  const other = columns.find((column) => column.labels !== labels)!;
  const by = `${matching.on ? 'on' : 'ignoring'} (${matching.labels.join(', ')})`;
  return new QueryError(
    'many_to_many',
    `The ${swapped ? 'left' : 'right'} side of ${expr.op} has several series for one match group ${by}: ` +
      `${formatLabels(other.labels)} and ${formatLabels(labels)}. Many-to-many matching is not allowed.`,
    expr.span,
  );
}

/** Combines matched series, and finds matches that are not unique. */
class Pairing {
  readonly #expr: Binary;
  readonly #matching: VectorMatching;
  readonly #swapped: boolean;
  readonly #f: (a: number, b: number) => number;
  readonly #keep: ((a: number, b: number) => boolean) | undefined;

  constructor(expr: Binary, matching: VectorMatching, swapped: boolean) {
    this.#expr = expr;
    this.#matching = matching;
    this.#swapped = swapped;
    this.#keep = filter(expr);
    this.#f = numeric(expr);
  }

  columns(many: MatchGroup['left'], one: readonly Column[], count: number): Column[] {
    const out: Column[] = [];
    for (const left of many) for (const right of one) out.push(this.#pair(left, right, count));
    if (many.length > 1) this.#refuseSeveral(out, count);
    return out;
  }

  #pair(many: Column, one: Column, count: number): Column {
    const values = new Float64Array(count);
    const present = new Uint8Array(count);
    const keep = this.#keep;
    const f = this.#f;
    const [a, b] = this.#swapped ? [one.values, many.values] : [many.values, one.values];
    const manyPresent = many.present;
    const onePresent = one.present;
    for (let i = 0; i < count; i++) {
      if ((manyPresent[i]! & onePresent[i]!) === 0) continue;
      if (keep === undefined) values[i] = f(a[i]!, b[i]!);
      else if (keep(a[i]!, b[i]!)) values[i] = a[i]!;
      else continue;
      present[i] = 1;
    }
    // Arithmetic drops the name before group_left or group_right may bring another, `bool` after that.
    const labels = resultLabels(many.labels, one.labels, this.#matching, isArithmetic(this.#expr.op));
    return { labels: this.#expr.bool ? withoutName(labels) : labels, values, present };
  }

  /** Several series of the "many" side at one step: an error unless grouping tells their results apart. */
  #refuseSeveral(columns: readonly Column[], count: number): void {
    const oneToOne = this.#matching.card === 'one-to-one';
    const taken = new Map<string, Uint8Array>();
    for (const { labels, present } of columns) {
      const key = oneToOne ? '' : labels.key;
      const known = taken.get(key);
      if (!known) {
        taken.set(key, present.slice());
        continue;
      }
      for (let i = 0; i < count; i++) {
        if (present[i] === 0) continue;
        if (known[i] === 1) throw this.#multiple(labels);
        known[i] = 1;
      }
    }
  }

  #multiple(labels: Labels): QueryError {
    const text =
      this.#matching.card === 'one-to-one'
        ? `Several series match the one series of ${formatLabels(labels)}: say so with group_left or group_right.`
        : `Several matches give the same labels ${formatLabels(labels)}: the grouping labels must keep them apart.`;
    return new QueryError('multiple_matches', text, this.#expr.span);
  }
}

/** Negates a scalar or a vector; the vector loses its metric name. */
export async function negated(value: Value, context: Context): Promise<Value> {
  if (value.kind === 'scalar') return { kind: 'scalar', values: value.values.map((each) => -each) };
  if (value.kind === 'string') throw new Error('a string has no sign');
  const { columns } = value;
  const work = columns[0]?.values.length ?? 0;
  return vector(
    await context.map(columns, work, ({ labels, values, present }) => ({
      labels: withoutName(labels),
      values: values.map((each) => -each),
      present,
    })),
  );
}
