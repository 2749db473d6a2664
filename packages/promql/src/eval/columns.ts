/** Values along the steps of a query: the columns that every operation takes and gives. */
import { formatLabels, type Labels } from '../series/labels.ts';
import type { Span } from '../syntax/ast.ts';
import { QueryError } from './errors.ts';

/** The times an expression is evaluated at: `start`, `start + step`, … `count` of them, milliseconds. */
export interface Grid {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** One series along a grid. A value counts only where `present` is 1: NaN is a value like any other. */
export interface Column {
  readonly labels: Labels;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

export interface VectorValue {
  readonly kind: 'vector';
  readonly columns: readonly Column[];
}

export interface ScalarValue {
  readonly kind: 'scalar';
  readonly values: Float64Array;
}

export interface StringValue {
  readonly kind: 'string';
  readonly value: string;
}

export type Value = VectorValue | ScalarValue | StringValue;

export function timeAt(grid: Grid, step: number): number {
  return grid.start + step * grid.step;
}

export function emptyColumn(labels: Labels, count: number): Column {
  return { labels, values: new Float64Array(count), present: new Uint8Array(count) };
}

export function constant(value: number, count: number): ScalarValue {
  return { kind: 'scalar', values: new Float64Array(count).fill(value) };
}

export function vector(columns: readonly Column[]): VectorValue {
  return { kind: 'vector', columns };
}

export function hasAny(column: Column): boolean {
  return column.present.includes(1);
}

export function relabelled(column: Column, labels: Labels): Column {
  return labels === column.labels ? column : { labels, values: column.values, present: column.present };
}

/** Steps where at least one column has a value. */
export function presence(columns: readonly Column[], count: number): Uint8Array {
  const any = new Uint8Array(count);
  for (const { present } of columns) {
    for (let i = 0; i < count; i++) any[i]! |= present[i]!;
  }
  return any;
}

function duplicate(labels: Labels, span: Span): QueryError {
  return new QueryError(
    'duplicate_series',
    `Two series of the result have the same labels: ${formatLabels(labels)}.`,
    span,
  );
}

/** Joins columns with equal labels where they have values at different steps; both at one step is an error. */
export function joinEqual(columns: readonly Column[], span: Span): readonly Column[] {
  if (columns.length < 2) return columns;
  const byKey = new Map<string, Column>();
  const copied = new Set<Column>();
  for (const column of columns) {
    const known = byKey.get(column.labels.key);
    if (!known) {
      byKey.set(column.labels.key, column);
      continue;
    }
    let target = known;
    if (!copied.has(known)) {
      target = { labels: known.labels, values: known.values.slice(), present: known.present.slice() };
      copied.add(target);
      byKey.set(column.labels.key, target);
    }
    for (let i = 0; i < column.present.length; i++) {
      if (column.present[i] === 0) continue;
      if (target.present[i] === 1) throw duplicate(column.labels, span);
      target.present[i] = 1;
      target.values[i] = column.values[i]!;
    }
  }
  return byKey.size === columns.length ? columns : [...byKey.values()];
}

/**
 * Refuses columns with equal labels, whatever their steps: the rule for functions that work series by series.
 * Columns without a value do not count and are left out.
 */
export function refuseEqual(columns: readonly Column[], span: Span): readonly Column[] {
  const seen = new Set<string>();
  const filled = columns.filter(hasAny);
  for (const { labels } of filled) {
    if (seen.has(labels.key)) throw duplicate(labels, span);
    seen.add(labels.key);
  }
  return filled;
}
