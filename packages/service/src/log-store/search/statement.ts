/** Compiles a query, its range and its pipes, to one SELECT. Its meaning is that of `runQuery` in packages/model/src/query/run.ts. */
import type { Pipe, Query } from '@obsiac/model';
import { compileAggregate } from './aggregate.ts';
import {
  type CellKind,
  type FieldSource,
  fieldSources,
  firstFilled,
  groupText,
  jsonText,
  scalarAsText,
  textAsNumber,
  wholeBeyondDoubles,
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

/** What every search has. */
export interface Search extends Scope {
  readonly query: Query;
  /** Stops the search when nobody waits for it any more. */
  readonly signal?: AbortSignal;
}

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
  /** For a page of an export: records at the start of the range with a smaller id are left out, and rows end with `KEY_COLUMNS`. */
  readonly page?: { readonly id: string | undefined };
}

/** What records are in order by: nanoseconds, and the id as a number. */
export const KEY_COLUMNS = ['toUnixTimestamp64Nano(timestamp)', 'id'] as const;

export function compileQuery(query: Query, options: QueryOptions): CompiledQuery {
  const parameters = new Parameters();
  const from = matching(options.table, options.scope, query, parameters) + afterId(options);
  const descending = options.order === 'desc';
  const byTime = [
    { sql: 'timestamp', descending },
    { sql: 'id', descending },
  ];
  const records = new RecordPhase(from, byTime);
  const rest = records.take(query.pipes);
  const [first, ...later] = rest;
  const limit = `LIMIT ${Math.trunc(options.limit)}${options.offset ? ` OFFSET ${Math.trunc(options.offset)}` : ''}`;
  if (first === undefined) {
    const sql = `${records.select(options.recordColumns.join(', '))} ${records.order} ${limit}`;
    return { kind: 'records', sql, parameters: parameters.values };
  }
  const rows = first.kind === 'stats' ? statsRows(first, records) : fieldsRows((first as FieldsPipe).fields, records);
  for (const pipe of later) rows.apply(pipe);
  const groups = new Set(first.kind === 'stats' ? first.by : []);
  if (first.kind === 'stats') for (const aggregate of first.aggregates) groups.delete(aggregate.as);
  const sql = options.page === undefined ? rows.limited(limit) : rows.limited(limit, ROW_KEYS);
  return { kind: 'rows', columns: rows.columns, groups, sql, parameters: parameters.values };
}

/** `KEY_COLUMNS` of rows of `fields`. */
const ROW_KEYS = ['toUnixTimestamp64Nano(key0)', 'key1'];

function afterId({ page, scope }: QueryOptions): string {
  return page?.id === undefined
    ? ''
    : ` AND (timestamp > ${instant(scope.from)} OR id >= toUInt64(${BigInt(page.id)}))`;
}

type FieldsPipe = Extract<Pipe, { kind: 'fields' }>;
type StatsPipe = Extract<Pipe, { kind: 'stats' }>;

interface OrderKey {
  readonly sql: string;
  readonly descending: boolean;
}

function orderBy(keys: readonly OrderKey[]): string {
  if (keys.length === 0) return '';
  return `ORDER BY ${keys.map(({ sql, descending }) => `${sql} ${descending ? 'DESC' : 'ASC'}`).join(', ')}`;
}

/** The part of a query before `stats` and `fields`: records, sorted and limited. */
class RecordPhase {
  #from: string;
  #keys: readonly OrderKey[];
  #depth = 0;

  constructor(from: string, byTime: readonly OrderKey[]) {
    this.#from = from;
    this.#keys = byTime;
  }

  /** Takes the pipes that come before the first `stats` or `fields`, and gives the rest. */
  take(pipes: readonly Pipe[]): readonly Pipe[] {
    for (const [index, pipe] of pipes.entries()) {
      if (pipe.kind === 'stats' || pipe.kind === 'fields') return pipes.slice(index);
      if (pipe.kind === 'limit') this.#limit(pipe.count);
      else this.#keys = [...sortKeys(fieldSources(pipe.field), pipe.descending), ...this.#keys];
    }
    return [];
  }

  #limit(count: number): void {
    this.#from = `FROM (SELECT * ${this.#from} ${this.order} LIMIT ${Math.trunc(count)}) AS limited${this.#depth}`;
    this.#depth += 1;
  }

  get keys(): readonly OrderKey[] {
    return this.#keys;
  }

  get order(): string {
    return orderBy(this.#keys);
  }

  select(columns: string): string {
    return `SELECT ${columns} ${this.#from}`;
  }
}

/** What has no value last; numbers by size before texts by code point, all turned round when descending. */
function sortKeys(sources: readonly FieldSource[], descending: boolean): readonly OrderKey[] {
  const single = sources.length === 1 ? sources[0] : undefined;
  if (single !== undefined && (single.kind === 'integer' || single.kind === 'float')) {
    return [
      { sql: `isNull(${single.sql})`, descending: false },
      { sql: single.sql, descending },
    ];
  }
  const first = firstValue(sources);
  const number = textAsNumber(first);
  return [
    { sql: `${first} = ''`, descending: false },
    { sql: `isNull(${number})`, descending },
    { sql: `ifNull(${number}, 0)`, descending },
    { sql: wholeBeyondDoubles(first, number), descending },
    { sql: `if(isNull(${number}), lower(${first}), '')`, descending },
  ];
}

function firstValue(sources: readonly FieldSource[]): string {
  return firstFilled(
    sources.map((source) =>
      source.kind === 'list' ? `arrayElement(${source.sql}, 1)` : `toString(${scalarAsText(source)})`,
    ),
  );
}

/** A column as the engine knows it, by a name that no field's name can collide with. */
interface Cell extends RowColumn {
  /** An identifier, or a literal. */
  readonly alias: string;
}

/** Rows and columns, and the pipes over them. Rows that a sort finds equal stay in the order that they had. */
class RowPhase {
  #sql: string;
  #cells: readonly Cell[];
  #keys: readonly OrderKey[];
  #depth = 0;

  /** @param sql rows with `cells` and what `keys` are made of */
  constructor(sql: string, cells: readonly Cell[], keys: readonly OrderKey[]) {
    this.#sql = sql;
    this.#cells = cells;
    this.#keys = keys;
  }

  get columns(): readonly RowColumn[] {
    return this.#cells.map(({ name, kind }) => ({ name, kind }));
  }

  /** The rows with one more limit, and more columns behind their own. */
  limited(limit: string, more: readonly string[] = []): string {
    const list = [...this.#cells.map(({ alias }) => alias), ...more].join(', ');
    return `SELECT ${list} FROM (${this.#sql}) AS rows${this.#depth} ${orderBy(this.#keys)} ${limit}`;
  }

  apply(pipe: Pipe): void {
    switch (pipe.kind) {
      case 'limit':
        this.#sql = `SELECT * FROM (${this.#sql}) AS rows${this.#depth} ${orderBy(this.#keys)} LIMIT ${Math.trunc(pipe.count)}`;
        this.#depth += 1;
        break;
      case 'sort': {
        const cell = this.#cells.find(({ name }) => name === pipe.field);
        if (cell !== undefined) this.#keys = [...sortKeys([cellSource(cell)], pipe.descending), ...this.#keys];
        break;
      }
      case 'fields':
        this.#cells = unique(pipe.fields).map(
          (name): Cell => this.#cells.find((cell) => cell.name === name) ?? { name, kind: 'text', alias: "''" },
        );
        break;
      case 'stats':
        throw new Error('a query has one stats pipe at most');
    }
  }
}

function cellSource({ kind, alias }: Cell): FieldSource {
  if (kind !== 'json') return { kind, sql: alias };
  const first = `arrayElement(JSONExtract(${alias}, 'Array(String)'), 1)`;
  const text = `if(startsWith(${alias}, '"'), JSONExtractString(${alias}), ${alias})`;
  return { kind: 'text', sql: `if(startsWith(${alias}, '['), ${first}, ${text})` };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}

function fieldsRows(fields: readonly string[], records: RecordPhase): RowPhase {
  const cells = unique(fields).map((name, index) => ({
    name,
    alias: `cell${index}`,
    ...fieldCell(fieldSources(name)),
  }));
  const keys = records.keys.map(({ sql, descending }, index) => ({ sql, alias: `key${index}`, descending }));
  const columns = [...cells, ...keys].map(({ sql, alias }) => `${sql} AS ${alias}`).join(', ');
  return new RowPhase(
    records.select(columns),
    cells,
    keys.map(({ alias, descending }) => ({ sql: alias, descending })),
  );
}

/** A field's value as one cell: as it is when it has one source, else as JSON. */
function fieldCell(sources: readonly FieldSource[]): { readonly sql: string; readonly kind: CellKind } {
  const only = sources.length === 1 ? sources[0] : undefined;
  return only === undefined ? { sql: jsonText(sources), kind: 'json' } : { sql: only.sql, kind: only.kind };
}

function statsRows(pipe: StatsPipe, records: RecordPhase): RowPhase {
  const groups = unique(pipe.by).map((name, index) => ({
    name,
    alias: `group${index}`,
    sql: groupText(fieldSources(name)),
    kind: 'text' as const,
  }));
  const aggregates = pipe.aggregates.map((aggregate, index) => ({
    ...compileAggregate(aggregate),
    name: aggregate.as,
    alias: `value${index}`,
  }));
  const keys = groups.map(({ alias }) => alias);
  const columns = [...groups, ...aggregates];
  const list = columns.map(({ sql, alias }) => `${sql} AS ${alias}`).join(', ');
  return new RowPhase(
    `${records.select(list)}${keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`}`,
    columns,
    keys.map((sql) => ({ sql, descending: false })),
  );
}
