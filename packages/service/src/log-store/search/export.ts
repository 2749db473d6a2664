/** Exports: results of any length as a stream of bytes, oldest first. */
import type { Query } from '@obsiac/model';
import { StoreError } from '../store-error.ts';
import { type ResultRow, type SearchConnection, streamLines, streamRows } from './connection.ts';
import { EXPORT_TIMEOUT, exportPages, type PageKey, type PagePlace } from './export-pages.ts';
import { RECORD_COLUMNS, toRecord } from './records.ts';
import { rowCells } from './search.ts';
import { type CompiledQuery, compileQuery, KEY_COLUMNS, type Scope } from './statement.ts';
import type { Turns } from './turns.ts';

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

/**
 * An export may take an hour, however slowly it is read. Records in the order of time are read in pages; what has to be sorted or counted
 * first is one statement, which stays open in the engine while it is read.
 * @param turns for those that stay open, so that they leave the engine to others too
 * @throws StoreError, also in the middle: then the export is not whole.
 */
export function exportRecords(
  connection: SearchConnection,
  request: ExportRequest,
  turns: Turns,
): AsyncGenerator<Buffer> {
  const isRows = request.query.pipes.some(({ kind }) => kind === 'stats' || kind === 'fields');
  if (request.format === 'raw' && isRows)
    throw new StoreError('query_invalid', 'Rows of a query have no delivered lines: export them as ndjson or csv');
  const query = exported(request, isRows);
  const isInPages = query.pipes.every(({ kind }) => kind === 'fields' || kind === 'limit');
  const job: Job = {
    connection: { ...connection, limits: { ...connection.limits, timeout: EXPORT_TIMEOUT } },
    request,
    query,
  };
  return isInPages ? inPages(job) : inOneStatement(job, turns);
}

interface Job {
  readonly connection: SearchConnection;
  readonly request: ExportRequest;
  /** What is asked for, made fit for the format. */
  readonly query: Query;
}

function exported({ query, format, fields = CSV_FIELDS }: ExportRequest, isRows: boolean): Query {
  if (format === 'raw') return onlyWholeLines(query);
  return format === 'csv' && !isRows ? { ...query, pipes: [...query.pipes, { kind: 'fields', fields }] } : query;
}

/** A line is exported once, although several records may have been taken out of it. */
function onlyWholeLines(query: Query): Query {
  const isWhole = {
    kind: 'match',
    field: 'part',
    matcher: { kind: 'word', text: '0' },
    span: { from: 0, to: 0 },
  } as const;
  return { ...query, filter: { kind: 'and', items: [isWhole, query.filter] } };
}

const columnsOf = (format: ExportRequest['format']) => (format === 'raw' ? ['raw'] : RECORD_COLUMNS);

async function* inPages({ connection, request, query }: Job): AsyncGenerator<Buffer> {
  const { format, signal } = request;
  const limits = query.pipes.flatMap((pipe) => (pipe.kind === 'limit' ? [pipe.count] : []));
  const unlimited = { ...query, pipes: query.pipes.filter(({ kind }) => kind !== 'limit') };
  const limit = Math.min(request.limit ?? Number.POSITIVE_INFINITY, ...limits);
  const columns = format === 'raw' ? [...KEY_COLUMNS, 'raw'] : [...RECORD_COLUMNS, ...KEY_COLUMNS];
  const compile = ({ from, to, id, skip, limit: most }: PagePlace) =>
    compileQuery(unlimited, {
      table: connection.table,
      scope: { org: request.org, from, to },
      order: 'asc',
      limit: most,
      offset: skip,
      recordColumns: columns,
      page: { id },
    });
  const within = ({ timeout }: PagePlace) => ({ ...connection, limits: { ...connection.limits, timeout } });
  if (format === 'raw') {
    const read = (place: PagePlace) => wholeLines(streamLines(within(place), compile(place), signal));
    yield* exportPages({ read, key: keyOfLine, encode: deliveredLines }, request, limit);
    return;
  }
  const { header, encode } = writerOf(format, compile({ ...request, id: undefined, skip: 0, limit: 1, timeout: 0 }));
  const read = (place: PagePlace) => streamRows(within(place), compile(place), signal);
  yield* headed(header, exportPages({ read, key: keyOfRow, encode }, request, limit));
}

/** The last two cells are those of `KEY_COLUMNS`. */
function keyOfRow(row: ResultRow): PageKey {
  const [timestamp, id] = row.slice(-2) as [string, string];
  return { timestamp: BigInt(timestamp), id };
}

const TAB = 0x09;
const LINE_FEED = 0x0a;

/** Lines of timestamp, id and delivered line, with a tab between: the delivered line is last, for it may have tabs of its own. */
function keyOfLine(line: Buffer): PageKey {
  const first = line.indexOf(TAB);
  const second = line.indexOf(TAB, first + 1);
  return { timestamp: BigInt(line.toString('latin1', 0, first)), id: line.toString('latin1', first + 1, second) };
}

function deliveredLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.map((line) => line.subarray(line.indexOf(TAB, line.indexOf(TAB) + 1) + 1)));
}

/** The lines of a stream, each with its line feed. A delivered line has none within it. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      const tail = chunk.subarray(start, end + 1);
      lines.push(rest.length === 0 ? tail : Buffer.concat([...rest, tail]));
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
}

async function* inOneStatement({ connection, request, query }: Job, turns: Turns): AsyncGenerator<Buffer> {
  const { format, signal } = request;
  const end = await turns.take(signal);
  try {
    const compiled = compileQuery(query, {
      table: connection.table,
      scope: request,
      order: 'asc',
      limit: request.limit ?? Number.MAX_SAFE_INTEGER,
      recordColumns: columnsOf(format),
    });
    if (format === 'raw') {
      yield* streamLines(connection, compiled, signal);
      return;
    }
    const { header, encode } = writerOf(format, compiled);
    yield* headed(header, encoded(streamRows(connection, compiled, signal), encode));
  } finally {
    end();
  }
}

/** The header comes with the first part, so that what goes wrong before it leaves the answer empty. */
async function* headed(header: Buffer, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pending = header;
  for await (const chunk of chunks) {
    yield pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    pending = NOTHING;
  }
  if (pending.length > 0) yield pending;
}

async function* encoded(rows: AsyncIterable<ResultRow[]>, encode: RowWriter['encode']): AsyncGenerator<Buffer> {
  for await (const batch of rows) yield encode(batch);
}

const NOTHING = Buffer.alloc(0);

interface RowWriter {
  readonly header: Buffer;
  readonly encode: (rows: readonly ResultRow[]) => Buffer;
}

function writerOf(format: 'ndjson' | 'csv', compiled: CompiledQuery): RowWriter {
  if (format === 'csv') {
    if (compiled.kind !== 'rows') throw new Error('a query with fields makes rows');
    const header = csvLines([compiled.columns.map(({ name }) => name)]);
    return { header, encode: (rows) => csvLines(rows.map((row) => rowCells(compiled, row))) };
  }
  const toObject = compiled.kind === 'records' ? toRecord : (row: ResultRow) => rowObject(compiled, row);
  const encode = (rows: readonly ResultRow[]) =>
    Buffer.from(rows.map((row) => `${JSON.stringify(toObject(row))}\n`).join(''));
  return { header: NOTHING, encode };
}

function rowObject(compiled: Extract<CompiledQuery, { kind: 'rows' }>, row: ResultRow): Record<string, unknown> {
  return Object.fromEntries(rowCells(compiled, row).map((cell, index) => [compiled.columns[index]?.name, cell]));
}

function csvLines(rows: readonly (readonly unknown[])[]): Buffer {
  return Buffer.from(rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join(''));
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
