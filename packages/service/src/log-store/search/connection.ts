/** Runs the statements of searches, each with its deadline and its limit of memory, and stops them when nobody waits any more. */
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { QueryLimits } from '../options.ts';
import { toStoreError } from '../store-error.ts';
import type { Statement } from './statement.ts';

export interface SearchConnection {
  readonly client: ClickHouseClient;
  /** The log table, quoted. */
  readonly table: string;
  readonly limits: QueryLimits;
}

/** A value as the engine writes it in JSON: 64-bit integers are texts, absent numbers null, absent texts empty. */
export type Cell = string | number | boolean | null | readonly Cell[] | { readonly [name: string]: Cell };
export type ResultRow = readonly Cell[];

function settings(limits: QueryLimits): ClickHouseSettings {
  return {
    max_execution_time: Math.max(1, Math.ceil(limits.timeout / 1000)),
    timeout_overflow_mode: 'throw',
    max_memory_usage: String(limits.memory),
    output_format_json_quote_64bit_integers: 1,
    output_format_json_escape_forward_slashes: 0,
    // Fails for some columns when several threads read, and has mixed up JSON columns (ClickHouse issue 87875).
    query_plan_optimize_lazy_materialization: 0,
  };
}

/** All rows of a result. @throws StoreError */
export async function selectRows(
  { client, limits }: SearchConnection,
  { sql, parameters }: Statement,
  signal?: AbortSignal,
): Promise<ResultRow[]> {
  // The client sends a request whose signal was aborted before.
  signal?.throwIfAborted();
  try {
    const answer = await client.query({
      query: sql,
      query_params: parameters,
      format: 'JSONCompactEachRow',
      clickhouse_settings: { ...settings(limits), wait_end_of_query: 1 },
      ...(signal === undefined ? {} : { abort_signal: signal }),
    });
    return (await answer.json()) as unknown as ResultRow[];
  } catch (error) {
    signal?.throwIfAborted();
    throw toStoreError(error);
  }
}

/** Rows as they are found, for results of any length. @throws StoreError */
export async function* streamRows(
  { client, limits }: SearchConnection,
  { sql, parameters }: Statement,
  signal?: AbortSignal,
): AsyncGenerator<ResultRow[]> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const answer = await client.query({
      query: sql,
      query_params: parameters,
      format: 'JSONCompactEachRow',
      clickhouse_settings: settings(limits),
      abort_signal: stop.signal,
    });
    for await (const batch of answer.stream()) yield batch.map((row) => row.json() as unknown as ResultRow);
  } catch (error) {
    signal?.throwIfAborted();
    throw toStoreError(error);
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort();
  }
}

/** The single column of a result, each value followed by a line feed, byte for byte. @throws StoreError */
export async function* streamLines(
  { client, limits }: SearchConnection,
  { sql, parameters }: Statement,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const { stream } = await client.exec({
      query: `${sql} FORMAT TabSeparatedRaw`,
      query_params: parameters,
      clickhouse_settings: settings(limits),
      abort_signal: stop.signal,
    });
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    signal?.throwIfAborted();
    throw toStoreError(error);
  } finally {
    signal?.removeEventListener('abort', abort);
    stop.abort();
  }
}
