/** Records over time. Whole minutes are counted from the counts that the table keeps of each minute, where the query allows it. */
import type { LogHitsAnswer } from '@obsiac/api';
import type { Filter } from '@obsiac/model';
import { StoreError } from '../store-error.ts';
import { COUNTED_FIELDS, MINUTE } from '../table.ts';
import { type ResultRow, type SearchConnection, selectRows } from './connection.ts';
import { fieldSources, groupText } from './fields.ts';
import { Parameters } from './parameters.ts';
import { compileFilter } from './predicate.ts';
import { matching, type Scope, type Search } from './statement.ts';

/** Series of a histogram by a field, besides the one for the rest. */
const SERIES = 10;
const MOST_BUCKETS = 2_000n;
const NANOS_A_MINUTE = 60_000_000_000n;

/** @param search `step` in nanoseconds. @throws StoreError */
export async function searchHits(
  connection: SearchConnection,
  search: Search & { readonly step: bigint; readonly by?: string },
): Promise<LogHitsAnswer> {
  const { step, by, from, to } = search;
  const first = (from / step) * step;
  const count = to > first ? (to - first + step - 1n) / step : 0n;
  if (count > MOST_BUCKETS) throw new StoreError('query_invalid', `A histogram has at most ${MOST_BUCKETS} buckets`);
  const starts = Array.from({ length: Number(count) }, (_, index) => first + BigInt(index) * step);
  const frequent = by === undefined ? [] : await frequentValues(connection, search, by, SERIES);
  const rows = count === 0n ? [] : await countRows(connection, search, first, frequent);
  // The rest has the number 0, the frequent values have theirs from 1.
  const lines = [undefined, ...frequent].map(() => starts.map(() => 0));
  for (const [bucket, series, records] of rows) {
    const line = lines[Number(series)] as number[];
    line[Number(bucket)] = (line[Number(bucket)] ?? 0) + Number(records);
  }
  const series = lines.map((counts, index) => ({
    value: frequent[index - 1] ?? null,
    counts,
    total: counts.reduce((sum, records) => sum + records, 0),
  }));
  const [rest, ...named] = series as [(typeof series)[number], ...typeof series];
  return {
    from: String(from),
    to: String(to),
    step: Number(step) / 1e9,
    timestamps: starts.map(String),
    series: by === undefined || rest.total > 0 ? [...named, rest] : named,
    total: series.reduce((sum, { total }) => sum + total, 0),
  };
}

/** Rows of bucket, number of the series, records; a bucket of a series may have several. */
async function countRows(
  connection: SearchConnection,
  search: Search & { readonly step: bigint; readonly by?: string },
  first: bigint,
  frequent: readonly string[],
): Promise<ResultRow[]> {
  const { step, by, signal } = search;
  const parameters = new Parameters();
  const series = by === undefined ? '0' : seriesNumber(by, frequent, parameters);
  const selects = pieces(connection.table, search, by === undefined ? [] : [by], parameters, step).map(
    ({ source, minutes }) => {
      const bucket = minutes
        ? `intDiv(${MINUTE} - toInt64(${first / NANOS_A_MINUTE}), ${step / NANOS_A_MINUTE})`
        : `intDiv(toUnixTimestamp64Nano(timestamp) - toInt64(${first}), ${step})`;
      // Small numbers as keys: the engine packs them together.
      return `SELECT toUInt16(${bucket}) AS bucket, toUInt8(${series}) AS series, count() AS records ${source} GROUP BY bucket, series`;
    },
  );
  return selectRows(connection, { sql: selects.join('\nUNION ALL\n'), parameters: parameters.values }, signal);
}

/** The place of a record's value among the frequent ones, from 1; 0 for the rest. */
function seriesNumber(by: string, frequent: readonly string[], parameters: Parameters): string {
  if (frequent.length === 0) return '0';
  const text = groupText(fieldSources(by));
  const branches = frequent.map((value, index) => `${text} = ${parameters.text(value)}, ${index + 1}`);
  return `multiIf(${branches.join(', ')}, 0)`;
}

/** Values of a field, the most frequent first. */
export async function frequentValues(
  connection: SearchConnection,
  search: Search,
  field: string,
  limit: number,
): Promise<string[]> {
  const parameters = new Parameters();
  const value = groupText(fieldSources(field));
  const selects = pieces(connection.table, search, [field], parameters, NANOS_A_MINUTE).map(
    ({ source }) => `SELECT toString(${value}) AS value, count() AS counted ${source} GROUP BY value`,
  );
  const sql = `SELECT value, sum(counted) AS records FROM (${selects.join('\nUNION ALL\n')}) AS counts
WHERE value != '' GROUP BY value ORDER BY records DESC, value LIMIT ${limit}`;
  const rows = await selectRows(connection, { sql, parameters: parameters.values }, search.signal);
  return rows.map(([found]) => found as string);
}

/** `FROM … WHERE …` of a part of the range. In `minutes`, the time occurs as `MINUTE` alone. */
interface Piece {
  readonly source: string;
  readonly minutes: boolean;
}

/**
 * The matching records as parts that are counted one by one: the whole minutes of the range and the ends around them, when the query
 * and the fields asked for are among those that minutes are counted by; else all of them at once.
 */
function pieces(
  table: string,
  search: Search,
  fields: readonly string[],
  parameters: Parameters,
  step: bigint,
): readonly Piece[] {
  const { org, from, to, query } = search;
  const all = (scope: Scope) => ({ source: matching(table, scope, query, parameters), minutes: false });
  const counted = [...fields, ...fieldsOf(query.filter)].every((field) => COUNTED_FIELDS.includes(field as string));
  const start = (from + NANOS_A_MINUTE - 1n) / NANOS_A_MINUTE;
  const end = to / NANOS_A_MINUTE;
  // The minutes before 1970 and the one after it are rounded towards each other.
  if (!counted || step % NANOS_A_MINUTE !== 0n || start < 1n || start >= end) return [all(search)];
  const condition = `org = ${parameters.text(org)} AND ${MINUTE} >= ${start} AND ${MINUTE} < ${end}`;
  const middle = {
    source: `FROM ${table} WHERE ${condition} AND ${compileFilter(query.filter, parameters)}`,
    minutes: true,
  };
  const ends = [
    { org, from, to: start * NANOS_A_MINUTE },
    { org, from: end * NANOS_A_MINUTE, to },
  ];
  return [middle, ...ends.filter((scope) => scope.from < scope.to).map(all)];
}

/** The fields that a filter looks in; null for the body. */
function fieldsOf(filter: Filter): (string | null)[] {
  switch (filter.kind) {
    case 'all':
      return [];
    case 'and':
    case 'or':
      return filter.items.flatMap(fieldsOf);
    case 'not':
      return fieldsOf(filter.item);
    case 'match':
      return [filter.field];
  }
}
