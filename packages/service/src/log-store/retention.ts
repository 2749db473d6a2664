/** Deletes records that are older than their dataset is kept, by dropping whole partitions: days of a dataset. */
import type { ClickHouseClient } from '@clickhouse/client';
import { quoteString, unescapeTabSeparated } from '../engine/index.ts';
import type { Retention } from './options.ts';
import { onCluster, storedLogsTable, type TableOptions } from './table.ts';

export interface DroppedPartition {
  readonly dataset: string;
  /** `2026-11-21`. */
  readonly day: string;
  readonly rows: number;
}

interface PartitionRow {
  readonly id: string;
  /** The partition key as a literal: `('http_requests','2026-11-21')`. */
  readonly key: string;
  readonly rows: string;
}

const DAY_MS = 86_400_000;

/** The last day, as `2026-11-21`, whose records are dropped at `now`: a day goes when its last record is older than is kept. */
export function lastDroppedDay(now: number, days: number): string {
  return new Date(now - (days + 1) * DAY_MS).toISOString().slice(0, 10);
}

/** With the parameters `database` and `table`, of the table that holds the parts. */
export function selectPartitions({ cluster }: TableOptions): string {
  const source =
    cluster === undefined ? 'system.parts' : `clusterAllReplicas(${quoteString(cluster.name)}, system.parts)`;
  return `SELECT partition_id AS id, any(partition) AS key, toString(sum(rows)) AS rows
FROM ${source} WHERE active AND database = {database:String} AND table = {table:String} GROUP BY id ORDER BY id`;
}

export function dropPartition(tables: TableOptions, id: string): string {
  return `ALTER TABLE ${storedLogsTable(tables)}${onCluster(tables)} DROP PARTITION ID ${quoteString(id)}`;
}

/** @param now milliseconds since the Unix epoch. */
export async function dropExpired(
  client: ClickHouseClient,
  tables: TableOptions,
  retention: Retention,
  now: number,
): Promise<DroppedPartition[]> {
  const answer = await client.query({
    query: selectPartitions(tables),
    query_params: { database: tables.database, table: tables.cluster === undefined ? 'logs' : 'logs_stored' },
    format: 'JSONEachRow',
  });
  const dropped: DroppedPartition[] = [];
  for (const { id, key, rows } of await answer.json<PartitionRow>()) {
    const { dataset, day } = readPartitionKey(key);
    const days = retention.datasets?.[dataset] ?? retention.days;
    if (day > lastDroppedDay(now, days)) continue;
    await client.command({ query: dropPartition(tables, id) });
    dropped.push({ dataset, day, rows: Number(rows) });
  }
  return dropped;
}

function readPartitionKey(key: string): { dataset: string; day: string } {
  const match = /^\('((?:[^'\\]|\\.)*)',\s*'(\d{4}-\d\d-\d\d)'\)$/s.exec(key);
  if (match === null) throw new Error(`${key} is not a partition of the log table`);
  return { dataset: unescapeTabSeparated(match[1] as string), day: match[2] as string };
}
