/** The log table's definition, for one engine and for a cluster, in SQL. */
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import { COLUMN_TYPES, COLUMNS } from './columns.ts';

/** A cluster of servers. Tables are made on each of its hosts, replicated, and read through a distributed table. */
export interface ClusterOptions {
  /** Name of the cluster in the servers' configuration. */
  readonly name: string;
  /** Path of the replicated tables in Keeper. Default `/clickhouse/tables/{shard}/{database}/{table}`. */
  readonly keeperPath?: string;
  /** Name of the replica. Default `{replica}`. */
  readonly replica?: string;
}

export interface TableOptions {
  readonly database: string;
  readonly cluster?: ClusterOptions;
}

/** Inserts that a table remembers for deduplication. Retries come long before this many others have passed. */
const DEDUPLICATION_WINDOW = 10_000;
/** Smaller parts keep all columns in one file: hundreds of files for each insert would cost more than the insert itself. */
const WIDE_PART_BYTES = 256 * 1024 * 1024;
/**
 * Bytes compressed at once. A wide part is written through buffers of about four times this for each of its hundreds of streams: with the engine's
 * default of 1 MiB a large insert or merge would need more memory than all else together. The lines are worth it.
 */
const COMPRESSED_BYTES = 128 * 1024;
const RAW_COMPRESSED_BYTES = 1024 * 1024;
/** Parts of one engine grow no bigger than this by merging: a day's data read in a few parts is as fast, and each merge writes all again. */
const MERGED_PART_BYTES = 1024 ** 3;
/** Parts are merged when there are about this many of one size: each record is written again fewer times than with the default of 5. */
const MERGE_BASE = 10;
/** JSON paths of a part that get a stream of their own; what goes beyond is kept together. */
export const ATTRIBUTES_TYPE = 'JSON(max_dynamic_paths=512)';

/**
 * Columns that every record has. Times are UTC with nanoseconds.
 * - `observed_timestamp`: when its batch came in, or what an OTLP sender says. `stored`: when its batch was on disk.
 * - `id`: hash of dataset and line. `part`: 0, or the number of a record that was taken out of its line (a console line of a worker).
 * - `body`: the text that words are searched in. `attributes`: texts and lists of texts, by dotted path: what has no column.
 * - `raw`: the line as it was delivered, byte for byte.
 */
const RECORD_COLUMNS = `
  org LowCardinality(String) CODEC(ZSTD(1)),
  dataset LowCardinality(String) CODEC(ZSTD(1)),
  timestamp DateTime64(9, 'UTC') CODEC(T64, LZ4),
  observed_timestamp DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  stored DateTime64(9, 'UTC') CODEC(Delta, ZSTD(1)),
  id UInt64 CODEC(NONE),
  part UInt16 CODEC(ZSTD(1)),
  severity_number UInt8 CODEC(ZSTD(1)),
  severity_text LowCardinality(String) CODEC(ZSTD(1)),
  service LowCardinality(String) CODEC(ZSTD(1)),
  trace_id String CODEC(ZSTD(1)),
  span_id String CODEC(ZSTD(1)),
  body String CODEC(LZ4),
  attributes ${ATTRIBUTES_TYPE} CODEC(ZSTD(1)),
  raw String CODEC(ZSTD(1)) SETTINGS (max_compress_block_size = ${RAW_COMPRESSED_BYTES}),`;

const INDEXES = `
  INDEX by_ray_id lower(RayID) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_id id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_trace_id lower(trace_id) TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX by_stored stored TYPE minmax GRANULARITY 1`;

function fieldColumns(): string {
  return [...COLUMNS]
    .map(([name, kind]) => `\n  ${quoteIdentifier(name)} ${COLUMN_TYPES[kind]} CODEC(ZSTD(1)),`)
    .join('');
}

/** The table that records are read from and inserted into. */
export function logsTable(options: TableOptions): string {
  return `${quoteIdentifier(options.database)}.logs`;
}

/** The table that holds the parts: the same, or in a cluster the one on each host. */
export function storedLogsTable(options: TableOptions): string {
  return options.cluster === undefined ? logsTable(options) : `${quoteIdentifier(options.database)}.logs_stored`;
}

/** ` ON CLUSTER …`, or nothing. */
export function onCluster(options: TableOptions): string {
  return options.cluster === undefined ? '' : ` ON CLUSTER ${quoteIdentifier(options.cluster.name)}`;
}

export function createDatabase(options: TableOptions): string {
  return `CREATE DATABASE IF NOT EXISTS ${quoteIdentifier(options.database)}${onCluster(options)}`;
}

function engine(options: TableOptions, table: string): string {
  const { cluster } = options;
  if (cluster === undefined) return 'MergeTree';
  const path = cluster.keeperPath ?? `/clickhouse/tables/{shard}/${options.database}/${table}`;
  return `ReplicatedMergeTree(${quoteString(path)}, ${quoteString(cluster.replica ?? '{replica}')})`;
}

const PART_SETTINGS = `min_bytes_for_wide_part = ${WIDE_PART_BYTES}, max_compress_block_size = ${COMPRESSED_BYTES},
  fsync_after_insert = 1, fsync_part_directory = 1`;

function tableSettings(options: TableOptions): string {
  return options.cluster === undefined
    ? `non_replicated_deduplication_window = ${DEDUPLICATION_WINDOW}, max_bytes_to_merge_at_max_space_in_pool = ${MERGED_PART_BYTES},
  merge_selector_base = ${MERGE_BASE}`
    : `replicated_deduplication_window = ${DEDUPLICATION_WINDOW}, replicated_deduplication_window_seconds = 604800`;
}

/** Records of one minute are counted together by these; the fields have few values, and a histogram is filtered or coloured by them. */
export const COUNTED_FIELDS: readonly string[] = ['dataset', 'severity_number', 'severity_text', 'EdgeResponseStatus'];

/** Minutes since the Unix epoch. The counts of a part are used where a statement has exactly this expression. */
export const MINUTE = 'intDiv(toUnixTimestamp64Nano(timestamp), 60000000000)';

/**
 * Bytes, hash functions and seed of each granule's filter of the body's words. A granule of requests has about 8,000 words that no other
 * has (rays, addresses, numbers in paths), which makes one false find in a hundred.
 */
const WORD_FILTER = 'tokenbf_v1(16384, 4, 0)';

/**
 * Statements that let searches read less: counts by minute, and a filter of the body's words. Both belong to the parts, so that they are
 * stored once and dropped with their records; parts that are there already get them in the background.
 */
export function addSearchAids(options: TableOptions): string[] {
  const alter = `ALTER TABLE ${storedLogsTable(options)}${onCluster(options)}`;
  const keys = COUNTED_FIELDS.join(', ');
  return [
    `${alter} ADD PROJECTION IF NOT EXISTS by_minute
  (SELECT org, ${MINUTE} AS minute, ${keys}, count() GROUP BY org, minute, ${keys})`,
    `${alter} ADD INDEX IF NOT EXISTS by_word lower(body) TYPE ${WORD_FILTER} GRANULARITY 1`,
    `${alter} MATERIALIZE PROJECTION by_minute`,
    `${alter} MATERIALIZE INDEX by_word`,
  ];
}

/** Statements that give a table of an earlier version what `createLogsTable` says today and can still be changed. */
export function renewStorage(options: TableOptions): string[] {
  const alter = `ALTER TABLE ${storedLogsTable(options)}${onCluster(options)}`;
  return [
    `${alter} MODIFY SETTING ${tableSettings(options)}, ${PART_SETTINGS}`,
    `${alter} MODIFY COLUMN raw MODIFY SETTING max_compress_block_size = ${RAW_COMPRESSED_BYTES}`,
    `${alter} MODIFY COLUMN timestamp CODEC(T64, LZ4)`,
  ];
}

/**
 * Statements that make the log table. Partitions are days of a dataset, so that retention drops them whole. The id is part of the order, so
 * that records of one instant have an order too and the newest are read without sorting.
 */
export function createLogsTable(options: TableOptions): string[] {
  const stored = `CREATE TABLE IF NOT EXISTS ${storedLogsTable(options)}${onCluster(options)} (${RECORD_COLUMNS}${fieldColumns()}${INDEXES}
)
ENGINE = ${engine(options, 'logs_stored')}
PARTITION BY (dataset, toDate(timestamp))
PRIMARY KEY (org, timestamp)
ORDER BY (org, timestamp, id)
SETTINGS ${tableSettings(options)}, ${PART_SETTINGS}`;
  if (options.cluster === undefined) return [stored];
  const { database, cluster } = options;
  return [
    stored,
    `CREATE TABLE IF NOT EXISTS ${logsTable(options)}${onCluster(options)} AS ${storedLogsTable(options)}
ENGINE = Distributed(${quoteString(cluster.name)}, ${quoteString(database)}, 'logs_stored', id)`,
  ];
}
