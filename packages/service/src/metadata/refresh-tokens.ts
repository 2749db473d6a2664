/** Refresh tokens in the store: their hashes, never the tokens. */
import { createHash, randomBytes } from 'node:crypto';
import type { Scope } from '@obsiac/api';
import type { Kysely } from 'kysely';
import { Refusal } from '../refusal.ts';
import { insertAuditEntries } from './audit.ts';
import { newId } from './ids.ts';
import type { RefreshTokenRow, Tables } from './tables.ts';

const TOKEN_BYTES = 32;

/** A new refresh token: `obs_<scope>_` and 256 random bits. */
export function generateRefreshToken(scope: Scope): string {
  return `obs_${scope}_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
}

/** A token has 256 random bits, so a plain hash of it cannot be guessed back. */
function hashOf(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

export interface TokenRequest {
  readonly organizationId: string;
  readonly scope: Scope;
  readonly name: string;
  readonly token: string;
  /** Who makes it, for the audit trail. */
  readonly actor: string;
  /** Unix seconds. */
  readonly now: number;
}

/** What may be shown of a token. */
export type TokenSummary = Omit<RefreshTokenRow, 'hash' | 'organization_id'>;

/** @throws Refusal `duplicate_name` when a token of that name is in force */
export async function insertRefreshToken(tx: Kysely<Tables>, request: TokenRequest): Promise<TokenSummary> {
  const other = await tx
    .selectFrom('refresh_tokens')
    .select('id')
    .where('organization_id', '=', request.organizationId)
    .where('name', '=', request.name)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (other) throw new Refusal('duplicate_name', `There is a token named "${request.name}" (${other.id}) already.`);
  const row: RefreshTokenRow = {
    id: newId(),
    organization_id: request.organizationId,
    name: request.name,
    scope: request.scope,
    hash: hashOf(request.token),
    created_at: request.now,
    last_used_at: null,
    revoked_at: null,
  };
  await tx.insertInto('refresh_tokens').values(row).execute();
  await recordToken(tx, request, 'create', row);
  return summaryOf(row);
}

/** Newest last. */
export async function listRefreshTokens(db: Kysely<Tables>, organizationId: string): Promise<TokenSummary[]> {
  const rows = await db
    .selectFrom('refresh_tokens')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map(summaryOf);
}

/** Revokes a token by its name or id. @throws Refusal `not_found` when no token in force is called so */
export async function revokeRefreshToken(
  tx: Kysely<Tables>,
  request: Pick<TokenRequest, 'organizationId' | 'actor' | 'now'>,
  nameOrId: string,
): Promise<TokenSummary> {
  const row = await tx
    .updateTable('refresh_tokens')
    .set({ revoked_at: request.now })
    .where('organization_id', '=', request.organizationId)
    .where('revoked_at', 'is', null)
    .where((token) => token.or([token('name', '=', nameOrId), token('id', '=', nameOrId)]))
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Refusal('not_found', `No token in force has the name or id "${nameOrId}".`);
  await recordToken(tx, request, 'revoke', row);
  return summaryOf(row);
}

async function recordToken(
  tx: Kysely<Tables>,
  request: Pick<TokenRequest, 'organizationId' | 'actor' | 'now'>,
  action: 'create' | 'revoke',
  row: RefreshTokenRow,
): Promise<void> {
  const { revision } = await tx
    .selectFrom('organizations')
    .select('revision')
    .where('id', '=', request.organizationId)
    .executeTakeFirstOrThrow();
  const entry = { action, kind: 'token', object_id: row.id, object_name: row.name, after: summaryOf(row) } as const;
  await insertAuditEntries(
    tx,
    { organizationId: request.organizationId, actor: request.actor, at: request.now, revision },
    [entry],
  );
}

function summaryOf({ hash: _hash, organization_id: _organization, ...summary }: RefreshTokenRow): TokenSummary {
  return summary;
}

/** The token and its organisation, as the token exchange needs them. */
export async function findByToken(db: Kysely<Tables>, token: string) {
  return db
    .selectFrom('refresh_tokens as token')
    .innerJoin('organizations as organization', 'organization.id', 'token.organization_id')
    .select(['token.id', 'token.name', 'token.scope', 'token.revoked_at', 'organization.slug'])
    .where('token.hash', '=', hashOf(token))
    .executeTakeFirst();
}

/** What every request asks: is the token behind this access token in force, and where does its organisation stand? */
export async function findStanding(db: Kysely<Tables>, tokenId: string) {
  return db
    .selectFrom('refresh_tokens as token')
    .innerJoin('organizations as organization', 'organization.id', 'token.organization_id')
    .select([
      'token.name',
      'token.scope',
      'token.revoked_at',
      'organization.id as organization_id',
      'organization.slug',
      'organization.revision',
    ])
    .where('token.id', '=', tokenId)
    .executeTakeFirst();
}

/** Notes that the token was exchanged. */
export async function touch(db: Kysely<Tables>, tokenId: string, now: number): Promise<void> {
  await db.updateTable('refresh_tokens').set({ last_used_at: now }).where('id', '=', tokenId).execute();
}
