/** Deletes samples that are older than they are kept, and their series, by dropping whole days. */
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import type { EngineAccess } from '../log-store/index.ts';
import { onCluster } from '../log-store/table.ts';
import { DAY_MS } from './intake/batch.ts';
import { storedMetricTable } from './table.ts';

export interface DroppedDay {
  readonly table: string;
  /** `2026-11-21`. */
  readonly day: string;
  readonly rows: number;
}

/** The oldest time of a sample that is kept at `now`, both in milliseconds. */
export function oldestKept(now: number, days: number): number {
  return Math.max(0, now - days * DAY_MS);
}

/** @param now milliseconds since 1970 */
export async function dropExpiredDays(
  { client, tables }: EngineAccess,
  days: number,
  now: number,
): Promise<DroppedDay[]> {
  const stored = (['metric_samples', 'metric_series'] as const).map((table) => storedMetricTable(tables, table));
  const source =
    tables.cluster === undefined
      ? 'system.parts'
      : `clusterAllReplicas(${quoteString(tables.cluster.name)}, system.parts)`;
  const answer = await client.query({
    query: `SELECT table, partition_id AS id, any(partition) AS day, toString(sum(rows)) AS rows FROM ${source}
WHERE active AND database = {database:String} AND table IN (${stored.map(quoteString).join(', ')}) GROUP BY table, id ORDER BY id, table`,
    query_params: { database: tables.database },
    format: 'JSONEachRow',
  });
  const dropped: DroppedDay[] = [];
  const first = new Date(oldestKept(now, days)).toISOString().slice(0, 10);
  const found = await answer.json<{ table: string; id: string; day: string; rows: string }>();
  for (const { table, id, day: literal, rows } of found) {
    const day = literal.replaceAll("'", '');
    if (day >= first) continue;
    const name = `${quoteIdentifier(tables.database)}.${quoteIdentifier(table)}`;
    await client.command({ query: `ALTER TABLE ${name}${onCluster(tables)} DROP PARTITION ID ${quoteString(id)}` });
    dropped.push({ table, day, rows: Number(rows) });
  }
  return dropped;
}
