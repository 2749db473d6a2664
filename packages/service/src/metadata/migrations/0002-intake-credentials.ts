/** User names and passwords of log senders. */
import type { Kysely } from 'kysely';

export async function createIntakeCredentials(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('intake_credentials')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', (column) =>
      column.notNull().references('organizations.id').onDelete('cascade'),
    )
    .addColumn('username', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
  await db.schema
    .createIndex('intake_credentials_username_key')
    .unique()
    .on('intake_credentials')
    .columns(['username'])
    .where('revoked_at' as never, 'is', null)
    .execute();
}
