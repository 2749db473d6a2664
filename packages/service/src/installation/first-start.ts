/** What the first start makes: the organisation, its three tokens, its data source, and the key check of the database. */
import { SCOPES, type Scope } from '@obsiac/api';
import { newId } from '../metadata/ids.ts';
import { findOrganization } from '../metadata/organizations.ts';
import { generateRefreshToken, insertRefreshToken } from '../metadata/refresh-tokens.ts';
import type { Store } from '../metadata/store.ts';
import { SecretKeyError } from '../secrets/vault.ts';

/** Name of the data source that every organisation begins with. */
export const EMBEDDED_DATA_SOURCE = 'embedded';

/**
 * Creates the organisation unless it is there.
 * @param keep is given the tokens before anything is committed: what it does not keep is lost
 * @returns whether it was created
 */
export async function ensureOrganization(
  store: Store,
  slug: string,
  keep: (tokens: Record<Scope, string>) => void,
): Promise<boolean> {
  if (await findOrganization(store.db, slug)) return false;
  return store.db.transaction().execute(async (tx) => {
    const now = Math.floor(store.now() / 1000);
    const id = newId();
    const inserted = await tx
      .insertInto('organizations')
      .values({ id, slug, name: slug, revision: 1, created_at: now })
      .onConflict((conflict) => conflict.column('slug').doNothing())
      .returning('id')
      .executeTakeFirst();
    // Another process of the same installation was first.
    if (!inserted) return false;
    const tokens = Object.fromEntries(SCOPES.map((scope) => [scope, generateRefreshToken(scope)]));
    for (const [scope, token] of Object.entries(tokens) as [Scope, string][]) {
      const name = `first-start-${scope}`;
      await insertRefreshToken(tx, { organizationId: id, scope, name, token, actor: 'first start', now });
    }
    await tx
      .insertInto('data_sources')
      .values({
        id: newId(),
        organization_id: id,
        name: EMBEDDED_DATA_SOURCE,
        url: '',
        is_default: 1,
        properties: JSON.stringify({ flavour: 'embedded' }),
        secrets: store.vault.seal('{}'),
        created_at: now,
        updated_at: now,
      })
      .execute();
    keep(tokens as Record<Scope, string>);
    return true;
  });
}

/** Refuses a secret key that is not the one the database was written with. @throws SecretKeyError */
export async function requireSameKey(store: Store): Promise<void> {
  await store.db
    .insertInto('installation')
    .values({ name: 'secret_key_fingerprint', value: store.vault.fingerprint })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const { value } = await store.db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', 'secret_key_fingerprint')
    .executeTakeFirstOrThrow();
  if (value === store.vault.fingerprint) return;
  throw new SecretKeyError(
    'The secret key is not the one this metadata store was written with. ' +
      'Give the same OBSIAC_SECRET_KEY, or the same secret.key in the data directory, as before.',
  );
}
