/** Reads a request of ClickHouse's HTTP interface: the statement, its parameters and settings, and where its data is. */
import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { SqlTextError } from './sql-text.ts';

export interface EngineRequest {
  /** The statement as sent, parameters not yet bound. */
  readonly sql: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly database: string;
  readonly defaultFormat: string;
  readonly queryId: string | undefined;
  /** Answer only when the statement is done, so that an error is always a status. */
  readonly waitEndOfQuery: boolean;
  readonly compressResponse: boolean;
  /** The data of an INSERT, when it came apart from the statement. */
  readonly data: { readonly path: string; readonly compression: 'none' | 'gzip' } | undefined;
}

/** URL parameters that are neither settings nor bound parameters. */
const OWN_PARAMETERS = new Set([
  'query',
  'database',
  'default_format',
  'query_id',
  'session_id',
  'session_timeout',
  'session_check',
  'role',
  'user',
  'password',
  'quota_key',
  'compress',
  'decompress',
  'buffer_size',
  'wait_end_of_query',
  'enable_http_compression',
  'http_zlib_compression_level',
]);

const MAX_STATEMENT_BYTES = 64 * 1024 * 1024;
const NOT_IMPLEMENTED = 48;
const TOO_LARGE = 62;

/** Reads the request whole. A body that is data goes to a file of `bodyDirectory`, which the caller removes. */
export async function readEngineRequest(
  request: IncomingMessage,
  bodyDirectory: string,
  requestId: string,
): Promise<EngineRequest> {
  const url = new URL(request.url ?? '/', 'http://engine');
  const query = url.searchParams.get('query') ?? '';
  if (/^multipart\//.test(request.headers['content-type'] ?? '')) {
    throw new SqlTextError(NOT_IMPLEMENTED, 'Send parameters in the URL: multipart bodies are not read');
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') {
    throw new SqlTextError(NOT_IMPLEMENTED, `Content-Encoding ${encoding} is not read`);
  }
  const bodyIsData = query !== '' && request.method === 'POST' && /^\s*INSERT\b/i.test(query);
  const data = bodyIsData ? await saveBody(request, join(bodyDirectory, requestId), encoding) : undefined;
  const sql = bodyIsData ? query : query + (await readText(request, encoding));
  return { sql, data, ...readParameters(url.searchParams, request) };
}

function readParameters(search: URLSearchParams, request: IncomingMessage): Omit<EngineRequest, 'sql' | 'data'> {
  const parameters = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of search) {
    if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value);
    else if (!OWN_PARAMETERS.has(name)) settings.set(name, value);
  }
  const header = (name: string) => request.headers[name] as string | undefined;
  return {
    parameters,
    settings,
    database: search.get('database') ?? header('x-clickhouse-database') ?? 'default',
    defaultFormat: search.get('default_format') ?? header('x-clickhouse-format') ?? 'TabSeparated',
    queryId: search.get('query_id') ?? undefined,
    waitEndOfQuery: search.get('wait_end_of_query') === '1',
    compressResponse:
      search.get('enable_http_compression') === '1' && /\bgzip\b/.test(request.headers['accept-encoding'] ?? ''),
  };
}

async function saveBody(
  request: IncomingMessage,
  path: string,
  encoding: 'identity' | 'gzip',
): Promise<{ path: string; compression: 'none' | 'gzip' }> {
  await pipeline(request, createWriteStream(path, { mode: 0o600 }));
  return { path, compression: encoding === 'gzip' ? 'gzip' : 'none' };
}

async function readText(request: IncomingMessage, encoding: 'identity' | 'gzip'): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  const source = encoding === 'gzip' ? request.pipe(createGunzip()) : request;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_STATEMENT_BYTES) throw new SqlTextError(TOO_LARGE, 'The statement is longer than 64 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
