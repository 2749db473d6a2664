/** Runs a whole query over records in memory: filter, then pipes. The oracle of every store's compiler. */
import type { Aggregate, Pipe, Query } from './ast.ts';
import { createMatcher, type FieldReader } from './match.ts';
import {
  compareFolded,
  compareText,
  compareWhole,
  type FieldValue,
  type Scalar,
  scalarsOf,
  toJson,
  toNumber,
  toText,
  toWholeNumber,
} from './value.ts';

/** One line of a result: column to value; null where the record has no such field. */
export type Row = Readonly<Record<string, FieldValue>>;

/**
 * @param read gives the field reader of one record.
 * @returns the matching records themselves when the query has no `stats` or `fields` pipe (`records`), else its rows.
 */
export function runQuery<Item>(
  query: Query,
  items: readonly Item[],
  read: (item: Item) => FieldReader,
): { readonly records: readonly Item[]; readonly rows: readonly Row[] | null } {
  const matches = createMatcher(query.filter);
  let records: readonly Item[] = items.filter((item) => matches(read(item)));
  let rows: readonly Row[] | null = null;
  for (const pipe of query.pipes) {
    if (rows !== null) rows = pipeRows(pipe, rows);
    else if (pipe.kind === 'stats') rows = stats(pipe, records.map(read));
    else if (pipe.kind === 'fields') rows = records.map((item) => pick(pipe.fields, read(item)));
    else
      records =
        pipe.kind === 'limit'
          ? records.slice(0, pipe.count)
          : sortBy(records, (item) => read(item)(pipe.field), pipe.descending);
  }
  return { records, rows };
}

function pick(fields: readonly string[], read: FieldReader): Row {
  return Object.fromEntries(fields.map((field) => [field, read(field) ?? null]));
}

function pipeRows(pipe: Pipe, rows: readonly Row[]): readonly Row[] {
  switch (pipe.kind) {
    case 'fields':
      return rows.map((row) => pick(pipe.fields, (field) => row[field]));
    case 'sort':
      return sortBy(rows, (row) => row[pipe.field], pipe.descending);
    case 'limit':
      return rows.slice(0, pipe.count);
    case 'stats':
      throw new Error('a query has one stats pipe at most');
  }
}

/** Stable; what has no value comes last in both directions. Numbers come before texts. Of an array its first element counts. */
function sortBy<Item>(
  items: readonly Item[],
  value: (item: Item) => FieldValue | undefined,
  descending: boolean,
): readonly Item[] {
  const keyed = items.map((item) => ({ item, key: sortKey(value(item)) }));
  keyed.sort((left, right) => {
    if (left.key === undefined || right.key === undefined) {
      return Number(left.key === undefined) - Number(right.key === undefined);
    }
    return descending ? -compareKeys(left.key, right.key) : compareKeys(left.key, right.key);
  });
  return keyed.map(({ item }) => item);
}

function sortKey(value: FieldValue | undefined): Scalar | undefined {
  const [first] = scalarsOf(value);
  return first === '' ? undefined : first;
}

/** Numbers by size, whole ones that a double cannot tell apart to their last digit; then texts. */
function compareKeys(left: Scalar, right: Scalar): number {
  const [leftNumber, rightNumber] = [toNumber(left), toNumber(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) {
    return Math.sign(leftNumber - rightNumber) || compareWhole(wholeNumber(left), wholeNumber(right));
  }
  if (leftNumber === undefined && rightNumber === undefined) return compareFolded(left, right);
  return leftNumber === undefined ? 1 : -1;
}

/** Of those that a double cannot tell apart, else 0: others that are equal stay in their order. */
function wholeNumber(value: Scalar): bigint {
  return Number.isSafeInteger(Number(value)) ? 0n : (toWholeNumber(value) ?? 0n);
}

/** Groups by the text of the `by` fields; an absent one is the empty text. Rows come in the order of their groups' texts. */
function stats(pipe: Extract<Pipe, { kind: 'stats' }>, readers: readonly FieldReader[]): readonly Row[] {
  const groups = new Map<string, { key: string[]; readers: FieldReader[] }>();
  if (pipe.by.length === 0) groups.set('', { key: [], readers: [] });
  for (const read of readers) {
    const key = pipe.by.map((field) => groupText(read(field)));
    const id = JSON.stringify(key);
    const group = pipe.by.length === 0 ? groups.get('') : groups.get(id);
    if (group) group.readers.push(read);
    else groups.set(id, { key, readers: [read] });
  }
  const ordered = [...groups.values()].sort((left, right) => compareTexts(left.key, right.key));
  return ordered.map((group) => {
    const row: Record<string, FieldValue> = {};
    pipe.by.forEach((field, index) => {
      row[field] = group.key[index] as string;
    });
    for (const aggregate of pipe.aggregates) row[aggregate.as] = aggregateOver(aggregate, group.readers);
    return row;
  });
}

function compareTexts(left: readonly string[], right: readonly string[]): number {
  for (const [index, text] of left.entries()) {
    const order = compareText(text, right[index] as string);
    if (order !== 0) return order;
  }
  return 0;
}

function groupText(value: FieldValue | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? toJson(value) : toText(value);
}

function aggregateOver(aggregate: Aggregate, readers: readonly FieldReader[]): FieldValue {
  if (aggregate.name === 'count' || aggregate.field === null) return readers.length;
  const { field } = aggregate;
  const values = readers.flatMap((read) => scalarsOf(read(field)));
  if (aggregate.name === 'uniq') return new Set(values.map(toText)).size;
  const numeric = values.filter((value) => toNumber(value) !== undefined);
  const numbers = numeric.map((value) => toNumber(value) as number);
  if (aggregate.name === 'sum') return numbers.reduce((sum, number) => sum + number, 0);
  if (numbers.length === 0) return null;
  if (aggregate.name === 'min' || aggregate.name === 'max')
    return outermost(numeric, aggregate.name === 'min' ? -1 : 1);
  return ofNumbers(aggregate, numbers);
}

/** The least or the greatest number: a whole one of 64 bits to its last digit. */
function outermost(numeric: readonly Scalar[], sign: 1 | -1): number | bigint {
  const found = numeric.reduce((best, value) => (compareKeys(value, best) * sign > 0 ? value : best));
  return wholeNumber(found) || (toNumber(found) as number);
}

function ofNumbers(aggregate: Aggregate, numbers: readonly number[]): number {
  switch (aggregate.name) {
    case 'avg':
      return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    case 'quantile':
      return quantile(numbers, aggregate.quantile as number);
    default:
      throw new Error(`${aggregate.name} is not an aggregate of numbers`);
  }
}

/** Type 7 of Hyndman and Fan 1996: linear between order statistics, ends included. */
function quantile(numbers: readonly number[], q: number): number {
  const sorted = Float64Array.from(numbers).sort();
  const position = q * (sorted.length - 1);
  const low = Math.floor(position);
  const below = sorted[low] as number;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] as number;
  return below + (above - below) * (position - low);
}
