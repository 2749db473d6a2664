/** Organisations in the store. */
import type { Organization } from '@obsiac/api';
import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

export async function findOrganization(db: Kysely<Tables>, slug: string): Promise<Organization | undefined> {
  return db.selectFrom('organizations').selectAll().where('slug', '=', slug).executeTakeFirst();
}

export async function listOrganizationSlugs(db: Kysely<Tables>): Promise<string[]> {
  const rows = await db.selectFrom('organizations').select('slug').orderBy('slug').execute();
  return rows.map((row) => row.slug);
}
