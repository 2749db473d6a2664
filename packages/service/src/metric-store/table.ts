/** The metric tables' definitions, for one engine and for a cluster, in SQL. */
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import { onCluster, type TableOptions } from '../log-store/table.ts';

export type MetricTable = 'metric_samples' | 'metric_series' | 'metric_metadata';

interface Definition {
  readonly name: MetricTable;
  readonly columns: string;
  /** Of rows with equal keys the one with the highest stays. */
  readonly version: string;
  readonly partition: string;
  readonly order: string;
  /** Which shard a row goes to: the same for rows that replace each other. */
  readonly shard: string;
  /** Rows between two marks of the primary key. */
  readonly granularity: number;
}

/**
 * - `metric_samples`: `id` is the number of the series (see series-id.ts), `time` UTC with milliseconds. A sample with `stale` set is a
 *   staleness marker. `version` rises from write to write, so that of samples of one series and time the last one written is taken.
 *   Ordered by series, with marks so close that some minutes of many series are read without the rest of their day.
 * - `metric_series`: one row for each series and day with samples, so that a query finds the series of its own days only, and so that
 *   series go with their samples. `names` is sorted, and has no `__name__`; `values` is parallel to it.
 * - `metric_metadata`: what senders tell of a metric, the last one counts.
 */
const DEFINITIONS: readonly Definition[] = [
  {
    name: 'metric_samples',
    columns: `
  org LowCardinality(String) CODEC(ZSTD(1)),
  id UInt128 CODEC(ZSTD(1)),
  time DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  value Float64 CODEC(Gorilla, ZSTD(1)),
  stale UInt8 CODEC(ZSTD(1)),
  version UInt64 CODEC(Delta, ZSTD(1))`,
    version: 'version',
    partition: 'toDate(time)',
    order: 'org, id, time',
    shard: 'id',
    granularity: 1024,
  },
  {
    name: 'metric_series',
    columns: `
  org LowCardinality(String) CODEC(ZSTD(1)),
  day Date CODEC(ZSTD(1)),
  name LowCardinality(String) CODEC(ZSTD(1)),
  id UInt128 CODEC(ZSTD(1)),
  names Array(LowCardinality(String)) CODEC(ZSTD(1)),
  values Array(String) CODEC(ZSTD(1)),
  version UInt64 CODEC(Delta, ZSTD(1))`,
    version: 'version',
    partition: 'day',
    order: 'org, name, id',
    shard: 'id',
    granularity: 1024,
  },
  {
    name: 'metric_metadata',
    columns: `
  org LowCardinality(String) CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  type LowCardinality(String) CODEC(ZSTD(1)),
  help String CODEC(ZSTD(1)),
  unit LowCardinality(String) CODEC(ZSTD(1)),
  version UInt64 CODEC(Delta, ZSTD(1))`,
    version: 'version',
    partition: 'tuple()',
    order: 'org, name',
    shard: 'sipHash64(org, name)',
    granularity: 1024,
  },
];

/** The table that is read from and inserted into, quoted. */
export function metricTable({ database }: TableOptions, table: MetricTable): string {
  return `${quoteIdentifier(database)}.${quoteIdentifier(table)}`;
}

/** Name of the table that holds the parts: the same, or in a cluster the one on each host. */
export function storedMetricTable({ cluster }: TableOptions, table: MetricTable): string {
  return cluster === undefined ? table : `${table}_stored`;
}

/** Statements that make the metric tables. */
export function createMetricTables(options: TableOptions): string[] {
  return DEFINITIONS.flatMap((definition) => createTable(options, definition));
}

function createTable(options: TableOptions, definition: Definition): string[] {
  const { database, cluster } = options;
  const { name, columns, partition, order, granularity, shard } = definition;
  const storedName = storedMetricTable(options, name);
  const stored = `CREATE TABLE IF NOT EXISTS ${quoteIdentifier(database)}.${quoteIdentifier(storedName)}${onCluster(options)} (${columns}
)
ENGINE = ${engine(options, definition, storedName)}
PARTITION BY ${partition}
ORDER BY (${order})
SETTINGS index_granularity = ${granularity}, fsync_after_insert = 1, fsync_part_directory = 1`;
  if (cluster === undefined) return [stored];
  return [
    stored,
    `CREATE TABLE IF NOT EXISTS ${metricTable(options, name)}${onCluster(options)} AS ${quoteIdentifier(database)}.${quoteIdentifier(storedName)}
ENGINE = Distributed(${quoteString(cluster.name)}, ${quoteString(database)}, ${quoteString(storedName)}, ${shard})`,
  ];
}

function engine({ database, cluster }: TableOptions, { version }: Definition, stored: string): string {
  if (cluster === undefined) return `ReplacingMergeTree(${version})`;
  const path = cluster.keeperPath ?? `/clickhouse/tables/{shard}/${database}/${stored}`;
  return `ReplicatedReplacingMergeTree(${quoteString(path)}, ${quoteString(cluster.replica ?? '{replica}')}, ${version})`;
}
