/** The searches of the log explorer: records and rows, frequent values, fields, neighbours of a record. */
import type {
  LogContextAnswer,
  LogFacetsAnswer,
  LogFieldNamesAnswer,
  LogFieldValuesAnswer,
  LogQueryAnswer,
  LogRecord,
} from '@obsiac/api';
import { COLUMNS } from '../columns.ts';
import { type Cell, type ResultRow, type SearchConnection, selectRows } from './connection.ts';
import { fieldSources, groupText, scalarAsText, valuesAsTexts } from './fields.ts';
import { frequentValues } from './hits.ts';
import { Parameters } from './parameters.ts';
import { RECORD_COLUMNS, toJsonValue, toRecord } from './records.ts';
import {
  type CompiledQuery,
  compileQuery,
  instant,
  matching,
  type Scope,
  type Search,
  type Statement,
  scopeCondition,
} from './statement.ts';

type WithoutRange<Answer> = Answer extends unknown ? Omit<Answer, 'from' | 'to'> : never;

const rangeOf = ({ from, to }: Scope) => ({ from: String(from), to: String(to) });
/** Records that field names are counted in; of more, the newest stand for all. */
const FIELD_NAME_SAMPLE = 20_000;

/** Matching records, or the rows that the query makes of them. @throws StoreError */
export async function searchRecords(
  connection: SearchConnection,
  search: Search & { readonly limit: number; readonly order: 'desc' | 'asc'; readonly offset?: number },
): Promise<LogQueryAnswer> {
  const { query, signal, ...options } = search;
  const places = query.pipes.length === 0 && options.offset === undefined;
  const compiled = compileQuery(query, {
    ...options,
    table: connection.table,
    scope: search,
    recordColumns: places ? ['timestamp', 'id'] : RECORD_COLUMNS,
  });
  if (places) {
    const { sql, parameters } = compiled;
    const found = await selectRows(connection, recordsAt(connection.table, search, { sql, parameters }), signal);
    return { ...rangeOf(search), kind: 'records', records: found.map(toRecord) };
  }
  const rows = await selectRows(connection, compiled, signal);
  return { ...rangeOf(search), ...answerOf(compiled, rows) };
}

/**
 * The records whose time and id another statement finds. Finding the places first and reading whole records after it takes half as long as
 * both at once where few records match. A record that is stored twice has one place: the limit holds for both statements.
 */
function recordsAt(
  table: string,
  search: Scope & { readonly limit: number; readonly order: 'desc' | 'asc' },
  places: Statement,
): Statement {
  const parameters = new Parameters('record');
  const order = search.order.toUpperCase();
  const sql = `SELECT ${RECORD_COLUMNS.join(', ')} FROM ${table} WHERE ${scopeCondition(search, parameters)}
AND (timestamp, id) GLOBAL IN (${places.sql}) ORDER BY timestamp ${order}, id ${order} LIMIT ${Math.trunc(search.limit)}`;
  return { sql, parameters: { ...places.parameters, ...parameters.values } };
}

function answerOf(compiled: CompiledQuery, rows: readonly ResultRow[]): WithoutRange<LogQueryAnswer> {
  if (compiled.kind === 'records') return { kind: 'records', records: rows.map(toRecord) };
  const { columns } = compiled;
  return {
    kind: 'rows',
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => rowCells(compiled, row)),
  };
}

/** The cells of a row as JSON values. The texts of a group are kept when they are empty. */
export function rowCells({ columns, groups }: Extract<CompiledQuery, { kind: 'rows' }>, row: ResultRow): unknown[] {
  return columns.map(({ name, kind }, index) => {
    const cell = row[index] as Cell;
    return groups.has(name) ? cell : toJsonValue(cell, kind);
  });
}

/** Each value of a field of each record, one to a row; those of a list apart. */
function eachValue(field: string): string {
  const sources = fieldSources(field);
  const only = sources.length === 1 && sources[0]?.kind !== 'list' ? sources[0] : undefined;
  return only === undefined ? `arrayJoin(${valuesAsTexts(sources)})` : scalarAsText(only);
}

/** The most frequent values of fields. @throws StoreError */
export async function searchFacets(
  connection: SearchConnection,
  search: Search & { readonly fields?: readonly string[]; readonly limit: number },
): Promise<LogFacetsAnswer> {
  const fields = [...new Set(search.fields ?? (await tellingFields(connection, search)))];
  const limit = Math.trunc(search.limit);
  const parameters = new Parameters();
  const source = matching(connection.table, search, search.query, parameters);
  const indexes = fields.map((field, index) => ({ index, single: singleValue(field) }));
  const singles = indexes.filter((facet): facet is SingleFacet => facet.single !== undefined);
  const lists = indexes.filter(({ single }) => single === undefined);
  const selects = [
    `SELECT -1 AS facet, '' AS value, count() AS records ${source}`,
    ...(singles.length === 0 ? [] : [facetsInOneScan(singles, source, limit)]),
    ...lists.map(
      ({
        index,
      }) => `SELECT * FROM (SELECT ${index} AS facet, ${eachValue(fields[index] as string)} AS value, count() AS records
${source} GROUP BY value HAVING value != '' ORDER BY records DESC, value LIMIT ${limit})`,
    ),
  ];
  const sql = selects.join('\nUNION ALL\n');
  const rows = await selectRows(connection, { sql, parameters: parameters.values }, search.signal);
  const valuesOf = (facet: number) =>
    rows
      .filter(([number]) => Number(number) === facet)
      .map(([, value, records]) => ({ value: value as string, count: Number(records) }));
  return {
    ...rangeOf(search),
    total: valuesOf(-1)[0]?.count ?? 0,
    facets: fields.map((field, index) => ({ field, values: byCount(valuesOf(index)) })),
  };
}

interface SingleFacet {
  readonly index: number;
  /** The value in its own type: grouping by it is much faster than by its text. */
  readonly single: string;
}

/** One pass over the records for all fields that have one value each. Grouping sets leave the keys of the others at their defaults. */
function facetsInOneScan(facets: readonly SingleFacet[], source: string, limit: number): string {
  const keys = facets.map(({ index, single }) => `${single} AS key${index}`).join(', ');
  const sets = facets.map(({ index }) => `(key${index})`).join(', ');
  const place = facets.map(({ index }) => `grouping(key${index}) = 0, ${index}`).join(', ');
  const text = facets.map(({ index }) => `facet = ${index}, ifNull(toString(key${index}), '')`).join(', ');
  const grouped = `SELECT ${facets.map(({ index }) => `key${index}`).join(', ')}, multiIf(${place}, -2) AS facet, count() AS records
FROM (SELECT ${keys} ${source}) AS keyed GROUP BY GROUPING SETS (${sets})`;
  return `SELECT toInt64(facet) AS facet, multiIf(${text}, '') AS value, records FROM (${grouped}) AS counted
WHERE value != '' ORDER BY records DESC, value LIMIT ${limit} BY facet`;
}

/** Undefined for fields that may have several values. */
function singleValue(field: string): string | undefined {
  const sources = fieldSources(field);
  const only = sources.length === 1 ? sources[0] : undefined;
  return only === undefined || only.kind === 'list' ? undefined : only.sql;
}

function byCount<Item extends { readonly value: string; readonly count: number }>(items: readonly Item[]): Item[] {
  return [...items].sort((left, right) => right.count - left.count || (left.value < right.value ? -1 : 1));
}

const TELLING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  http_requests: [
    'EdgeResponseStatus',
    'ClientRequestMethod',
    'ClientRequestHost',
    'ClientCountry',
    'CacheCacheStatus',
    'EdgeColoCode',
    'SecurityAction',
  ],
  firewall_events: ['Action', 'Source', 'ClientRequestHost', 'ClientCountry', 'RuleID', 'ClientRequestMethod'],
  dns_logs: ['QueryType', 'ResponseCode', 'ResponseCached', 'ColoCode', 'QueryName'],
  workers_trace_events: ['ScriptName', 'Outcome', 'EventType', 'Entrypoint'],
};

/** Fields that say most about the datasets that there are. */
async function tellingFields(connection: SearchConnection, search: Search): Promise<string[]> {
  const datasets = await frequentValues(connection, search, 'dataset', 5);
  const fields = [
    'severity_text',
    'dataset',
    'service',
    ...datasets.flatMap((dataset) => TELLING_FIELDS[dataset] ?? []),
  ];
  return [...new Set(fields)].slice(0, 12);
}

/** Values of one field, the most frequent first. @throws StoreError */
export async function searchFieldValues(
  connection: SearchConnection,
  search: Search & { readonly field: string; readonly prefix: string; readonly limit: number },
): Promise<LogFieldValuesAnswer> {
  const parameters = new Parameters();
  const source = matching(connection.table, search, search.query, parameters);
  const begins =
    search.prefix === '' ? "value != ''" : `startsWith(lower(value), lower(${parameters.text(search.prefix)}))`;
  const sql = `SELECT toString(${eachValue(search.field)}) AS value, count() AS records
${source} GROUP BY value HAVING ${begins} ORDER BY records DESC, value LIMIT ${Math.trunc(search.limit)}`;
  const rows = await selectRows(connection, { sql, parameters: parameters.values }, search.signal);
  return {
    ...rangeOf(search),
    values: rows.map(([value, records]) => ({ value: value as string, count: Number(records) })),
  };
}

/** How many records match, and since when the newest of them are. Sorting times alone takes no memory to speak of. */
async function newestRecords(
  connection: SearchConnection,
  search: Search,
  count: number,
): Promise<{ readonly total: number; readonly since: bigint }> {
  const parameters = new Parameters();
  const source = matching(connection.table, search, search.query, parameters);
  const sql = `SELECT (SELECT count() ${source}), toUnixTimestamp64Nano(min(timestamp)) FROM (SELECT timestamp ${source} ORDER BY timestamp DESC LIMIT ${count}) AS newest`;
  const [row] = await selectRows(connection, { sql, parameters: parameters.values }, search.signal);
  const [total, since] = row as [string, string];
  return { total: Number(total), since: Number(total) === 0 ? search.from : BigInt(since) };
}

/** Parts that every record has a column for and that are worth a row in a list of fields. */
const PART_FIELDS = ['dataset', 'service', 'severity_text', 'severity_number', 'trace_id', 'span_id', 'body'];

/** Fields that matching records have; of more than 20,000 records, counted in the newest and scaled. @throws StoreError */
export async function searchFieldNames(
  connection: SearchConnection,
  search: Search & { readonly limit: number },
): Promise<LogFieldNamesAnswer> {
  const { total, since } = await newestRecords(connection, search, FIELD_NAME_SAMPLE);
  const parameters = new Parameters();
  const source = matching(connection.table, { ...search, from: since }, search.query, parameters);
  const names = [...PART_FIELDS, ...COLUMNS.keys()];
  const counts = names.map((name) => `countIf(${hasValue(name)})`);
  const sql = `SELECT count(), [${counts.join(', ')}],
  arraySort(mapKeys(sumMap(CAST((paths, arrayResize([], length(paths), 1)), 'Map(String, UInt64)')) AS found)), arrayMap(path -> found[path], arraySort(mapKeys(found)))
FROM (SELECT *, JSONAllPaths(attributes) AS paths ${source}) AS counted`;
  const [row] = await selectRows(connection, { sql, parameters: parameters.values }, search.signal);
  const [sampled, columnCounts, paths, pathCounts] = row as [string, string[], string[], string[]];
  const scale = Number(sampled) === 0 ? 0 : total / Number(sampled);
  const fields = [
    ...names.map((name, index) => ({ name, count: Math.round(Number(columnCounts[index]) * scale) })),
    ...paths.map((name, index) => ({ name, count: Math.round(Number(pathCounts[index]) * scale) })),
  ].filter(({ count }) => count > 0);
  fields.sort((left, right) => right.count - left.count || (left.name < right.name ? -1 : 1));
  return { ...rangeOf(search), fields: fields.slice(0, search.limit) };
}

function hasValue(name: string): string {
  const [source] = fieldSources(name);
  if (source === undefined) return '0';
  if (source.kind === 'text') return `${source.sql} != ''`;
  return source.kind === 'list' ? `notEmpty(${source.sql})` : `isNotNull(${source.sql})`;
}

/** How far from a record its neighbours are looked for: first near, then farther. Nanoseconds. */
const REACHES = [600n, 86_400n, 31n * 86_400n].map((seconds) => seconds * 1_000_000_000n);

/** What was logged before and after a record. Undefined: there is no such record. @throws StoreError */
export async function searchContext(
  connection: SearchConnection,
  request: {
    readonly org: string;
    readonly id: string;
    /** Nanoseconds. */
    readonly timestamp: bigint;
    /** Fields in which neighbours agree with the record; default `dataset`. */
    readonly same?: readonly string[];
    readonly before: number;
    readonly after: number;
    readonly signal?: AbortSignal;
  },
): Promise<LogContextAnswer | undefined> {
  const { org, timestamp, signal } = request;
  if (!/^[0-9a-f]{16}$/.test(request.id)) return undefined;
  const id = `toUInt64(${BigInt(`0x${request.id}`)})`;
  const same = request.same ?? ['dataset'];
  const keys = same.map((field) => groupText(fieldSources(field)));
  const parameters = new Parameters();
  const at = `timestamp = ${instant(timestamp)} AND id = ${id}`;
  const sql = `SELECT ${[...RECORD_COLUMNS, `[${keys.map((key) => `toString(${key})`).join(', ')}]`].join(', ')}
FROM ${connection.table} WHERE org = ${parameters.text(org)} AND ${at} LIMIT 1`;
  const [row] = await selectRows(connection, { sql, parameters: parameters.values }, signal);
  if (row === undefined) return undefined;
  const values = row.at(-1) as readonly string[];
  const agreeing = { connection, org, timestamp, keys, values, id, ...(signal === undefined ? {} : { signal }) };
  const [before, after] = await Promise.all([
    neighbours({ ...agreeing, limit: request.before, side: 'before' }),
    neighbours({ ...agreeing, limit: request.after, side: 'after' }),
  ]);
  return { before: before.reverse(), record: toRecord(row), after };
}

interface Neighbourhood {
  readonly connection: SearchConnection;
  readonly org: string;
  readonly timestamp: bigint;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  /** As SQL. */
  readonly id: string;
  readonly limit: number;
  readonly side: 'before' | 'after';
  readonly signal?: AbortSignal;
}

/** Nearest first. */
async function neighbours(place: Neighbourhood): Promise<LogRecord[]> {
  if (place.limit === 0) return [];
  for (const reach of REACHES) {
    const found = await neighboursWithin(place, reach);
    if (found.length === place.limit || reach === REACHES.at(-1)) return found;
  }
  return [];
}

async function neighboursWithin(place: Neighbourhood, reach: bigint): Promise<LogRecord[]> {
  const { connection, org, timestamp, keys, values, id, limit, side, signal } = place;
  const parameters = new Parameters();
  const [operator, direction, edge] =
    side === 'before' ? ['<', 'DESC', timestamp - reach] : ['>', 'ASC', timestamp + reach];
  const conditions = [
    `org = ${parameters.text(org)}`,
    `timestamp ${operator}= ${instant(timestamp)}`,
    `timestamp ${side === 'before' ? '>=' : '<='} ${instant(edge)}`,
    `(timestamp, id) ${operator} (${instant(timestamp)}, ${id})`,
    ...keys.map((key, index) => `${key} = ${parameters.text(values[index] as string)}`),
  ];
  const sql = `SELECT ${RECORD_COLUMNS.join(', ')} FROM ${connection.table} WHERE ${conditions.join(' AND ')}
ORDER BY timestamp ${direction}, id ${direction} LIMIT ${limit}`;
  return (await selectRows(connection, { sql, parameters: parameters.values }, signal)).map(toRecord);
}
