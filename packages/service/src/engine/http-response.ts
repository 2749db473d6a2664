/** Writes answers of ClickHouse's HTTP interface: results, whole or streamed, and errors with their codes. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import type { EngineRequest } from './http-request.ts';
import { PoolFull } from './session-pool.ts';
import { SqlTextError } from './sql-text.ts';

export interface Summary {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedSeconds: number;
}

/** Headers of every good answer. */
export function startAnswer(response: ServerResponse, request: EngineRequest, format: string, summary?: Summary): void {
  response.statusCode = 200;
  response.setHeader('Content-Type', contentType(format));
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('X-ClickHouse-Query-Id', request.queryId ?? '');
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  if (summary !== undefined) {
    const { rowsRead, bytesRead, elapsedSeconds } = summary;
    const counts = {
      read_rows: String(rowsRead),
      read_bytes: String(bytesRead),
      elapsed_ns: String(Math.round(elapsedSeconds * 1e9)),
    };
    response.setHeader('X-ClickHouse-Summary', JSON.stringify(counts));
  }
}

function contentType(format: string): string {
  if (/^JSON/.test(format)) return 'application/json; charset=UTF-8';
  if (/^CSV/.test(format)) return 'text/csv; charset=UTF-8; header=absent';
  if (/^(TabSeparated|TSV)/.test(format)) return 'text/tab-separated-values; charset=UTF-8';
  return 'application/octet-stream';
}

export function sendWhole(response: ServerResponse, request: EngineRequest, bytes: Uint8Array): void {
  if (!request.compressResponse) {
    response.end(bytes);
    return;
  }
  response.setHeader('Content-Encoding', 'gzip');
  response.end(gzipSync(bytes));
}

/** Sends chunks as they come, no faster than the reader takes them. An error in the middle breaks the connection off. */
export async function sendStream(
  response: ServerResponse,
  request: EngineRequest,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (request.compressResponse) {
    response.setHeader('Content-Encoding', 'gzip');
    await pipeline(Readable.from(chunks), createGzip(), response);
  } else {
    await pipeline(Readable.from(chunks, { objectMode: false }), response);
  }
}

const TOO_MANY_QUERIES = 202;

/** Answers with ClickHouse's error form: the code in a header, the text as the body. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, text } = describeError(error);
  response.statusCode = code === TOO_MANY_QUERIES ? 503 : code === 62 || code === 456 || code === 457 ? 400 : 500;
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8');
  response.setHeader('X-ClickHouse-Exception-Code', String(code));
  response.end(`${text}\n`);
}

function describeError(error: unknown): { code: number; text: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PoolFull) return exception(TOO_MANY_QUERIES, message, 'TOO_MANY_SIMULTANEOUS_QUERIES');
  if (error instanceof SqlTextError) return exception(error.clickhouseCode, message, 'BAD_REQUEST_TEXT');
  const code = /^Code: (\d+)\./.exec(message)?.[1];
  if (code !== undefined) return { code: Number(code), text: message };
  return exception(1002, message, 'UNKNOWN_EXCEPTION');
}

function exception(code: number, message: string, name: string): { code: number; text: string } {
  return { code, text: `Code: ${code}. DB::Exception: ${message}. (${name})` };
}
