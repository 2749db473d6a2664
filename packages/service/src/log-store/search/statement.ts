/** Compiles a query, its range and its pipes, to one SELECT. Its meaning is that of `runQuery` in packages/model/src/query/run.ts. */
import type { Aggregate, Pipe, Query } from '@obsiac/model';
import { quoteIdentifier } from '../../engine/index.ts';
import {
  type FieldSource,
  fieldSources,
  firstFilled,
  groupText,
  scalarAsNumber,
  scalarAsText,
  textAsNumber,
  valuesAsTexts,
} from './fields.ts';
import { Parameters } from './parameters.ts';
import { compileFilter } from './predicate.ts';

/** Nanoseconds since the Unix epoch; `from` inclusive, `to` exclusive. */
export interface TimeRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface Scope extends TimeRange {
  readonly org: string;
}

/** How the cells of a column come from the engine, so that they can be turned into JSON values. */
export type CellKind = 'text' | 'integer' | 'float' | 'boolean' | 'list';

export interface RowColumn {
  readonly name: string;
  readonly kind: CellKind;
}

export interface Statement {
  readonly sql: string;
  readonly parameters: Record<string, unknown>;
}

export type CompiledQuery =
  | ({ readonly kind: 'records' } & Statement)
  | ({
      readonly kind: 'rows';
      readonly columns: readonly RowColumn[];
      /** Columns whose empty text is a value: it stands for records without the field. */
      readonly groups: ReadonlySet<string>;
    } & Statement);

/** The condition that every search begins with: one org, one time range. The bounds of DateTime64(9) are respected. */
export function scopeCondition(scope: Scope, parameters: Parameters): string {
  const org = parameters.text(scope.org);
  return `org = ${org} AND timestamp >= ${instant(scope.from)} AND timestamp < ${instant(scope.to)}`;
}

const EARLIEST = -(1n << 63n) + 1n;
const LATEST = (1n << 63n) - 1n;

/** A literal of the timestamp's type. */
export function instant(nanoseconds: bigint): string {
  const within = nanoseconds < EARLIEST ? EARLIEST : nanoseconds > LATEST ? LATEST : nanoseconds;
  return `fromUnixTimestamp64Nano(toInt64(${within}), 'UTC')`;
}

/** `FROM … WHERE …` of the records that match. */
export function matching(table: string, scope: Scope, query: Query, parameters: Parameters): string {
  return `FROM ${table} WHERE ${scopeCondition(scope, parameters)} AND ${compileFilter(query.filter, parameters)}`;
}

export interface QueryOptions {
  readonly table: string;
  readonly scope: Scope;
  /** By time; a `sort` in the query comes before it. */
  readonly order: 'desc' | 'asc';
  /** Over what the query's own limits leave. */
  readonly limit: number;
  /** Records to leave out at the start: for the next page at the same instant. */
  readonly offset?: number;
  /** Columns to select when the query asks for records. */
  readonly recordColumns: readonly string[];
}

export function compileQuery(query: Query, options: QueryOptions): CompiledQuery {
  const parameters = new Parameters();
  const from = matching(options.table, options.scope, query, parameters);
  const byTime = `timestamp ${options.order}, id ${options.order}`;
  const records = new RecordPhase(from, byTime);
  const rest = records.take(query.pipes);
  const [first, ...later] = rest;
  const limit = `LIMIT ${Math.trunc(options.limit)}${options.offset ? ` OFFSET ${Math.trunc(options.offset)}` : ''}`;
  if (first === undefined) {
    const sql = `${records.select(options.recordColumns.join(', '))} ${limit}`;
    return { kind: 'records', sql, parameters: parameters.values };
  }
  const rows = first.kind === 'stats' ? statsRows(first, records) : fieldsRows((first as FieldsPipe).fields, records);
  for (const pipe of later) rows.apply(pipe);
  const groups = new Set(first.kind === 'stats' ? first.by : []);
  if (first.kind === 'stats') for (const aggregate of first.aggregates) groups.delete(aggregate.as);
  return { kind: 'rows', columns: rows.columns, groups, sql: rows.limited(limit), parameters: parameters.values };
}

type FieldsPipe = Extract<Pipe, { kind: 'fields' }>;
type StatsPipe = Extract<Pipe, { kind: 'stats' }>;

/** The part of a query before `stats` and `fields`: records, sorted and limited. */
class RecordPhase {
  #from: string;
  #order: string;
  #depth = 0;

  constructor(from: string, byTime: string) {
    this.#from = from;
    this.#order = byTime;
  }

  /** Takes the pipes that come before the first `stats` or `fields`, and gives the rest. */
  take(pipes: readonly Pipe[]): readonly Pipe[] {
    for (const [index, pipe] of pipes.entries()) {
      if (pipe.kind === 'stats' || pipe.kind === 'fields') return pipes.slice(index);
      if (pipe.kind === 'limit') this.#limit(pipe.count);
      else {
        this.#order = `${sortKeys(fieldSources(pipe.field), pipe.descending)}, ${this.#order}`;
      }
    }
    return [];
  }

  #limit(count: number): void {
    this.#from = `FROM (SELECT * ${this.#from} ORDER BY ${this.#order} LIMIT ${Math.trunc(count)}) AS limited${this.#depth}`;
    this.#depth += 1;
  }

  select(columns: string): string {
    return `SELECT ${columns} ${this.#from} ORDER BY ${this.#order}`;
  }

  /** For what does not depend on the order. */
  get unordered(): string {
    return this.#from;
  }
}

/** What has no value last; numbers by size before texts by code point, all turned round when descending. */
function sortKeys(sources: readonly FieldSource[], descending: boolean): string {
  const first = firstValue(sources);
  const number = textAsNumber(first);
  const direction = descending ? 'DESC' : 'ASC';
  const single = sources.length === 1 ? sources[0] : undefined;
  if (single !== undefined && (single.kind === 'integer' || single.kind === 'float')) {
    return `isNull(${single.sql}) ASC, ${single.sql} ${direction}`;
  }
  return `${first} = '' ASC, isNull(${number}) ${direction}, ifNull(${number}, 0) ${direction}, if(isNull(${number}), lower(${first}), '') ${direction}`;
}

function firstValue(sources: readonly FieldSource[]): string {
  return firstFilled(
    sources.map((source) =>
      source.kind === 'list' ? `arrayElement(${source.sql}, 1)` : `toString(${scalarAsText(source)})`,
    ),
  );
}

/** Rows and columns, and the pipes over them. */
class RowPhase {
  #sql: string;
  #columns: readonly RowColumn[];
  #endsInLimit = false;
  #depth = 0;

  constructor(sql: string, columns: readonly RowColumn[]) {
    this.#sql = sql;
    this.#columns = columns;
  }

  get columns(): readonly RowColumn[] {
    return this.#columns;
  }

  /** The rows with one more limit. */
  limited(limit: string): string {
    return this.#endsInLimit ? `SELECT * FROM (${this.#sql}) AS ${this.#name()} ${limit}` : `${this.#sql} ${limit}`;
  }

  apply(pipe: Pipe): void {
    this.#endsInLimit = pipe.kind === 'limit';
    switch (pipe.kind) {
      case 'limit':
        this.#sql = `SELECT * FROM (${this.#sql}) AS ${this.#name()} LIMIT ${Math.trunc(pipe.count)}`;
        break;
      case 'sort': {
        const column = this.#columns.find(({ name }) => name === pipe.field);
        if (column === undefined) break;
        const keys = sortKeys([{ kind: column.kind, sql: quoteIdentifier(column.name) }], pipe.descending);
        this.#sql = `SELECT * FROM (${this.#sql}) AS ${this.#name()} ORDER BY ${keys}`;
        break;
      }
      case 'fields':
        this.#pick(pipe.fields);
        break;
      case 'stats':
        throw new Error('a query has one stats pipe at most');
    }
  }

  #pick(fields: readonly string[]): void {
    const picked = unique(fields).map(
      (name): RowColumn => this.#columns.find((column) => column.name === name) ?? { name, kind: 'text' },
    );
    const known = new Set(this.#columns.map(({ name }) => name));
    const list = picked.map(({ name }) => (known.has(name) ? quoteIdentifier(name) : `'' AS ${quoteIdentifier(name)}`));
    this.#sql = `SELECT ${list.join(', ')} FROM (${this.#sql}) AS ${this.#name()}`;
    this.#columns = picked;
  }

  #name(): string {
    this.#depth += 1;
    return `rows${this.#depth}`;
  }
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function fieldsRows(fields: readonly string[], records: RecordPhase): RowPhase {
  const cells = unique(fields).map((name) => ({ name, ...fieldCell(fieldSources(name)) }));
  // Inner names that no field has, so that a cell's name does not stand for a column within the expressions.
  const inner = cells.map(({ sql }, index) => `${sql} AS cell${index}`).join(', ');
  const outer = cells.map(({ name }, index) => `cell${index} AS ${quoteIdentifier(name)}`).join(', ');
  const columns = cells.map(({ name, kind }): RowColumn => ({ name, kind }));
  return new RowPhase(`SELECT ${outer} FROM (${records.select(inner)}) AS cells`, columns);
}

/** A field's value as one cell: as it is when it has one source, else its text, or its list as JSON. */
function fieldCell(sources: readonly FieldSource[]): { readonly sql: string; readonly kind: CellKind } {
  const only = sources.length === 1 ? sources[0] : undefined;
  return only === undefined ? { sql: groupText(sources), kind: 'text' } : { sql: only.sql, kind: only.kind };
}

function statsRows(pipe: StatsPipe, records: RecordPhase): RowPhase {
  const groups = unique(pipe.by).map((name, index) => ({
    name,
    alias: `group${index}`,
    sql: groupText(fieldSources(name)),
  }));
  const aggregates = pipe.aggregates.map((aggregate, index) => ({
    ...compileAggregate(aggregate),
    name: aggregate.as,
    alias: `value${index}`,
  }));
  const keys = groups.map(({ alias }) => alias).join(', ');
  const inner = [...groups, ...aggregates].map(({ sql, alias }) => `${sql} AS ${alias}`).join(', ');
  const grouped = `SELECT ${inner} ${records.unordered}${groups.length === 0 ? '' : ` GROUP BY ${keys} ORDER BY ${keys}`}`;
  // Of two columns of one name the later one counts, at the place of the first.
  const columns = new Map<string, { readonly alias: string; readonly kind: CellKind }>();
  for (const { name, alias } of groups) columns.set(name, { alias, kind: 'text' });
  for (const { name, alias, kind } of aggregates) columns.set(name, { alias, kind });
  const outer = [...columns].map(([name, { alias }]) => `${alias} AS ${quoteIdentifier(name)}`).join(', ');
  return new RowPhase(
    `SELECT ${outer} FROM (${grouped}) AS grouped`,
    [...columns].map(([name, { kind }]): RowColumn => ({ name, kind })),
  );
}

function compileAggregate({ name, field, quantile }: Aggregate): { readonly sql: string; readonly kind: CellKind } {
  if (name === 'count' || field === null) return { sql: 'count()', kind: 'integer' };
  const sources = fieldSources(field);
  const only = sources.length === 1 && sources[0]?.kind !== 'list' ? sources[0] : undefined;
  if (name === 'uniq') {
    if (only === undefined) return { sql: `uniqExactArray(${valuesAsTexts(sources)})`, kind: 'integer' };
    const value = scalarAsText(only);
    return { sql: `uniqExactIf(${value}, ${value} != '')`, kind: 'integer' };
  }
  const values = only === undefined ? numbersOf(sources) : scalarAsNumber(only);
  const combinator = only === undefined ? 'Array' : '';
  if (name === 'sum') return { sql: `ifNull(sum${combinator}(${values}), 0)`, kind: 'float' };
  if (name === 'quantile') {
    return {
      sql: nullable(`quantileExactInclusive${combinator}(${Number(quantile)})(${values})`, only, values),
      kind: 'float',
    };
  }
  return { sql: nullable(`${name}${combinator}(${values})`, only, values), kind: 'float' };
}

/** Over arrays, aggregates of nothing are 0 or not a number; over nullable values they are null already. */
function nullable(aggregate: string, only: FieldSource | undefined, values: string): string {
  if (only !== undefined) return `if(isNaN(assumeNotNull(${aggregate})), NULL, ${aggregate})`;
  return `if(sum(length(${values})) = 0, NULL, ${aggregate})`;
}

/** All values of a field that are numbers, as Array(Float64). */
function numbersOf(sources: readonly FieldSource[]): string {
  return `arrayMap(number -> assumeNotNull(number), arrayFilter(number -> isNotNull(number), arrayMap(text -> ${textAsNumber('text')}, ${valuesAsTexts(sources)})))`;
}
