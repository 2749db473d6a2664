/** Exports: results of any length as a stream of bytes, oldest first. */
import type { Query } from '@obsiac/model';
import { StoreError } from '../store-error.ts';
import { type ResultRow, type SearchConnection, streamLines, streamRows } from './connection.ts';
import { RECORD_COLUMNS, toRecord } from './records.ts';
import { rowCells } from './search.ts';
import { type CompiledQuery, compileQuery, type Scope } from './statement.ts';

export interface ExportRequest extends Scope {
  readonly query: Query;
  /**
   * - `raw`: lines as they were delivered, byte for byte, each followed by a line feed.
   * - `ndjson`: a record to a line, or a row as an object.
   * - `csv`: RFC 4180 with a header line.
   */
  readonly format: 'raw' | 'ndjson' | 'csv';
  /** Columns of records as CSV. */
  readonly fields?: readonly string[];
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

const CSV_FIELDS = ['timestamp', 'dataset', 'severity_text', 'service', 'body', 'raw'] as const;

/** @throws StoreError, also in the middle: then the export is not whole. */
export function exportRecords(connection: SearchConnection, request: ExportRequest): AsyncGenerator<Buffer> {
  const isRows = request.query.pipes.some(({ kind }) => kind === 'stats' || kind === 'fields');
  switch (request.format) {
    case 'raw':
      if (isRows)
        throw new StoreError('query_invalid', 'Rows of a query have no delivered lines: export them as ndjson or csv');
      return streamLines(connection, compile(connection, request, ['raw']), request.signal);
    case 'ndjson':
      return exportNdjson(connection, request);
    case 'csv':
      return exportCsv(connection, request, isRows);
  }
}

function compile(
  connection: SearchConnection,
  request: ExportRequest,
  recordColumns: readonly string[],
): CompiledQuery {
  const { query, format, limit } = request;
  // A line is exported once, although several records may have been taken out of it.
  const whole: Query = format === 'raw' ? onlyWholeLines(query) : query;
  return compileQuery(whole, {
    table: connection.table,
    scope: request,
    order: 'asc',
    limit: limit ?? Number.MAX_SAFE_INTEGER,
    recordColumns,
  });
}

function onlyWholeLines(query: Query): Query {
  const isWhole = {
    kind: 'match',
    field: 'part',
    matcher: { kind: 'word', text: '0' },
    span: { from: 0, to: 0 },
  } as const;
  return { ...query, filter: { kind: 'and', items: [isWhole, query.filter] } };
}

async function* exportNdjson(connection: SearchConnection, request: ExportRequest): AsyncGenerator<Buffer> {
  const compiled = compile(connection, request, RECORD_COLUMNS);
  const toObject =
    compiled.kind === 'records'
      ? toRecord
      : (row: ResultRow) =>
          Object.fromEntries(rowCells(compiled, row).map((cell, index) => [compiled.columns[index]?.name, cell]));
  for await (const rows of streamRows(connection, compiled, request.signal)) {
    yield Buffer.from(rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join(''));
  }
}

async function* exportCsv(
  connection: SearchConnection,
  request: ExportRequest,
  isRows: boolean,
): AsyncGenerator<Buffer> {
  const fields = request.fields ?? CSV_FIELDS;
  const query: Query = isRows
    ? request.query
    : { ...request.query, pipes: [...request.query.pipes, { kind: 'fields', fields }] };
  const compiled = compile(connection, { ...request, query }, []);
  if (compiled.kind !== 'rows') throw new Error('a query with fields makes rows');
  yield csvLines([compiled.columns.map(({ name }) => name)]);
  for await (const rows of streamRows(connection, compiled, request.signal)) {
    yield csvLines(rows.map((row) => rowCells(compiled, row)));
  }
}

function csvLines(rows: readonly (readonly unknown[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join(''));
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
