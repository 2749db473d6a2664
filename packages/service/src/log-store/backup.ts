/** Backups of the embedded log store: a folder for each, written and restored by the engine itself. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { quoteIdentifier, quoteString } from '../engine/index.ts';
import { StoreError } from './store-error.ts';
import type { TableOptions } from './table.ts';

export interface Backup {
  readonly name: string;
  /** Milliseconds since the Unix epoch. */
  readonly created: number;
}

function pathOf(directory: string, name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) {
    throw new StoreError(
      'query_invalid',
      `A backup's name has letters, digits, dots, dashes and underscores: ${name} does not`,
    );
  }
  return join(directory, name);
}

/** Writes what is loaded at this moment. A backup of that name must not exist. */
export async function writeBackup(
  client: ClickHouseClient,
  tables: TableOptions,
  directory: string,
  name: string,
): Promise<void> {
  const path = pathOf(directory, name);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await client.command({
    query: `BACKUP DATABASE ${quoteIdentifier(tables.database)} TO File(${quoteString(path)})`,
    clickhouse_settings: { max_execution_time: 0 },
  });
}

/** Puts the store back to what it was when the backup was written: everything stored since is gone. */
export async function restoreBackup(
  client: ClickHouseClient,
  tables: TableOptions,
  directory: string,
  name: string,
): Promise<void> {
  const path = pathOf(directory, name);
  const complete = await stat(join(path, '.backup')).then(
    () => true,
    () => false,
  );
  if (!complete) throw new StoreError('query_invalid', `There is no whole backup named ${name}`);
  const database = quoteIdentifier(tables.database);
  const clickhouse_settings = { max_execution_time: 0 } as const;
  await client.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC`, clickhouse_settings });
  await client.command({ query: `RESTORE DATABASE ${database} FROM File(${quoteString(path)})`, clickhouse_settings });
}

/** Whole backups, newest first. */
export async function listBackups(directory: string): Promise<Backup[]> {
  const names = await readdir(directory).catch(() => []);
  const backups: Backup[] = [];
  for (const name of names) {
    const info = await stat(join(directory, name, '.backup')).catch(() => undefined);
    if (info !== undefined) backups.push({ name, created: info.mtimeMs });
  }
  return backups.sort((left, right) => right.created - left.created);
}

export async function deleteBackup(directory: string, name: string): Promise<void> {
  await rm(pathOf(directory, name), { recursive: true, force: true });
}
