/** Hands batches from the spool to the engine, each under its token, so that it is stored once however often it is sent. */
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import type { LoadRequest } from '../spool/index.ts';
import { INSERT_SETTINGS, insertLines, insertRecords } from './insert.ts';
import { logsTable, type TableOptions } from './table.ts';

const LINE_FEED = Buffer.from('\n');
/** Between gzip members, so that a batch without a line feed at its end does not run into the next. */
const GZIPPED_LINE_FEED = gzipSync(LINE_FEED);

/** The insert is done when every shard and a majority of its replicas have it. */
export const CLUSTER_SETTINGS = { distributed_foreground_insert: 1, insert_quorum: 'auto' };

async function* separated(request: LoadRequest): AsyncGenerator<Buffer> {
  const separator = request.contentEncoding === 'gzip' ? GZIPPED_LINE_FEED : LINE_FEED;
  for (const body of request.bodies()) {
    yield* body;
    yield separator;
  }
}

const MIB = 1024 ** 2;

/** How much is inserted at once. */
export interface InsertSizes {
  /** Decompressed bytes of the batches that are inserted together. Bigger ones cost memory, smaller ones cost merges. */
  readonly groupBytes: number;
  /**
   * Rows, or bytes in the engine's memory, that make one part: the lines with their columns, so that a group fits. A change makes retries that span
   * it unrecognisable for batches that are longer than this.
   */
  readonly blockRows: number;
  readonly blockBytes: number;
}

/** @param engineMemory in bytes; an engine of 2 GiB or more inserts as much at once as is of use */
export function insertSizes(engineMemory: number): InsertSizes {
  const share = Math.min(1, engineMemory / (2048 * MIB));
  return {
    groupBytes: Math.floor(share * 128 * MIB),
    blockRows: Math.floor(share * 262_144),
    blockBytes: Math.floor(share * 256 * MIB),
  };
}

/** Sizes for a server, where a batch always goes alone. */
export const SERVER_SIZES: InsertSizes = { ...insertSizes(Number.POSITIVE_INFINITY), groupBytes: 0 };

/**
 * Inserts a group of batches. The same request again stores nothing more: the engine makes the same blocks of the same bytes, and knows
 * each by the token and its number.
 */
export async function insertBatches(
  client: ClickHouseClient,
  tables: TableOptions,
  request: LoadRequest,
  signal: AbortSignal,
  { blockRows, blockBytes }: Pick<InsertSizes, 'blockRows' | 'blockBytes'> = SERVER_SIZES,
): Promise<void> {
  const { org, dataset, receivedAt, storedAt } = request;
  const context = { table: logsTable(tables), org, dataset, receivedAt, storedAt };
  const query = request.form === 'lines' ? insertLines(context, request.fields) : insertRecords(context);
  const { stream } = await client.exec({
    query,
    values: Readable.from(separated(request), { objectMode: false }),
    abort_signal: signal,
    http_headers: request.contentEncoding === 'gzip' ? { 'Content-Encoding': 'gzip' } : {},
    // Some of them are younger than the client's list of settings.
    clickhouse_settings: {
      ...INSERT_SETTINGS,
      ...(tables.cluster === undefined ? {} : CLUSTER_SETTINGS),
      min_insert_block_size_rows: String(blockRows),
      min_insert_block_size_bytes: String(blockBytes),
      insert_deduplication_token: request.token,
    } as ClickHouseSettings,
  });
  stream.resume();
  await new Promise<void>((resolve, reject) => stream.once('end', resolve).once('error', reject));
}
