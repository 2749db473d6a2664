/** Brings the log store's tables to the form this version of the service uses, one numbered step after another. */
import type { ClickHouseClient } from '@clickhouse/client';
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import { createMetricTables } from '../metric-store/table.ts';
import { StoreError } from './store-error.ts';
import { addSearchAids, createDatabase, createLogsTable, onCluster, renewStorage, type TableOptions } from './table.ts';

interface Migration {
  readonly version: number;
  readonly name: string;
  /** Each statement can be repeated: a step that was cut off is run again from its first one. */
  readonly statements: (options: TableOptions) => string[];
}

/** Steps are added at the end and never changed. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'logs', statements: createLogsTable },
  { version: 2, name: 'metrics', statements: createMetricTables },
  { version: 3, name: 'storage settings of logs', statements: renewStorage },
  { version: 4, name: 'search aids of logs', statements: addSearchAids },
];

function versionsTable(options: TableOptions): string {
  return `${quoteIdentifier(options.database)}.schema_versions`;
}

/** The table that says which steps were taken. */
export function createVersionsTable(options: TableOptions): string {
  const { cluster, database } = options;
  const path = `/clickhouse/tables/{shard}/${database}/schema_versions`;
  const engine =
    cluster === undefined
      ? 'MergeTree'
      : `ReplicatedMergeTree(${quoteString(cluster.keeperPath ?? path)}, ${quoteString(cluster.replica ?? '{replica}')})`;
  return `CREATE TABLE IF NOT EXISTS ${versionsTable(options)}${onCluster(options)} (version UInt32, name String, applied DateTime)
ENGINE = ${engine} ORDER BY version SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`;
}

/** Parts that a step gives something new are rewritten while they are used. The embedded engine would wait for that. */
const IN_BACKGROUND = { mutations_sync: '0' } as const;

/** Takes the steps that were not taken yet. Throws `schema_too_new` when the tables are of a later version of the service. */
export async function migrate(client: ClickHouseClient, options: TableOptions): Promise<number[]> {
  await client.command({ query: createDatabase(options) });
  await client.command({ query: createVersionsTable(options) });
  const answer = await client.query({
    query: `SELECT max(version) AS version FROM ${versionsTable(options)}`,
    format: 'JSONEachRow',
  });
  const current = (await answer.json<{ version: number }>())[0]?.version ?? 0;
  const newest = MIGRATIONS.at(-1)?.version ?? 0;
  if (current > newest) {
    throw new StoreError(
      'schema_too_new',
      `The log store's tables have version ${current}, this service knows ${newest}: use the newer service`,
    );
  }
  const taken: number[] = [];
  for (const { version, name, statements } of MIGRATIONS) {
    if (version <= current) continue;
    for (const query of statements(options)) await client.command({ query, clickhouse_settings: IN_BACKGROUND });
    await client.command({
      query: `INSERT INTO ${versionsTable(options)} SELECT {version:UInt32}, {name:String}, now()`,
      query_params: { version, name },
    });
    taken.push(version);
  }
  return taken;
}
