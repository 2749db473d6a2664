/** Runs the statements that queries are made of, each with its deadline and its limit of memory. */
import type { ClickHouseSettings } from '@clickhouse/client';
import { type EngineAccess, type QueryLimits, toStoreError } from '../../log-store/index.ts';
import { RowReader } from './row-reader.ts';

/** Collects the values of a statement, so that none of them ever stands in its text. */
export class Values {
  readonly all: Record<string, unknown> = {};
  #count = 0;

  text(value: string): string {
    return this.#add(value, 'String');
  }

  texts(values: readonly string[]): string {
    return this.#add(values, 'Array(String)');
  }

  integer(value: number): string {
    return this.#add(String(Math.trunc(value)), 'Int64');
  }

  #add(value: unknown, type: string): string {
    const name = `v${this.#count}`;
    this.#count += 1;
    this.all[name] = value;
    return `{${name}:${type}}`;
  }
}

export interface Asking {
  readonly engine: EngineAccess;
  readonly limits: QueryLimits;
}

/** The rows of a SELECT in RowBinary. @throws StoreError, and the signal's reason */
export async function selectBinary(
  { engine, limits }: Asking,
  sql: string,
  values: Values,
  signal: AbortSignal | undefined,
): Promise<RowReader> {
  signal?.throwIfAborted();
  engine.requireReady();
  try {
    const { stream } = await engine.client.exec({
      query: `${sql} FORMAT RowBinary`,
      query_params: values.all,
      clickhouse_settings: settings(limits),
      ...(signal === undefined ? {} : { abort_signal: signal }),
    });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return new RowReader(Buffer.concat(chunks));
  } catch (error) {
    signal?.throwIfAborted();
    throw toStoreError(error);
  }
}

function settings({ timeout, memory }: QueryLimits): ClickHouseSettings {
  return {
    max_execution_time: Math.max(1, Math.ceil(timeout / 1000)),
    timeout_overflow_mode: 'throw',
    max_memory_usage: String(memory),
    // One that fails has a status of its own then, instead of a body that breaks off.
    wait_end_of_query: 1,
  };
}
