/** Brings the database to the version of this program, and refuses one that a newer program has written. */
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Backend } from './backend.ts';
import { createInitialTables } from './migrations/0001-initial.ts';
import { createIntakeCredentials } from './migrations/0002-intake-credentials.ts';
import { createAlertingTables } from './migrations/0003-alerting.ts';

type Step = (db: Kysely<unknown>, backend: Backend) => Promise<void>;

/** In order; a step that has been released never changes, a new one is added below. */
const STEPS: Readonly<Record<string, Step>> = {
  '0001-initial': createInitialTables,
  '0002-intake-credentials': createIntakeCredentials,
  '0003-alerting': createAlertingTables,
};

/** The database cannot be used by this program. */
export class MigrationError extends Error {
  readonly code = 'newer_database';
}

export async function migrate(db: Kysely<unknown>, backend: Backend): Promise<void> {
  await refuseNewer(db);
  const migrations = Object.fromEntries(
    Object.entries(STEPS).map(([name, step]): [string, Migration] => [name, { up: (on) => step(on, backend) }]),
  );
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

async function refuseNewer(db: Kysely<unknown>): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === 'kysely_migration')) return;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const unknown = rows.map((row) => row.name).filter((name) => !(name in STEPS));
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database was written by a newer version of obsiac-service (it has had the step ${unknown.join(', ')}). ` +
      'Start that version, or restore a backup made before the upgrade.',
  );
}
