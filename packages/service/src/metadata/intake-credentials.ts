/** Credentials of log senders in the store: user names and hashes of passwords, never the passwords. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Refusal } from '../refusal.ts';
import { insertAuditEntries } from './audit.ts';
import { newId } from './ids.ts';
import type { IntakeCredentialRow, Tables } from './tables.ts';

const PASSWORD_BYTES = 32;

/** A new password: 256 random bits, without a character that an address would have to encode. */
export function generatePassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('base64url');
}

/** A password has 256 random bits, so a plain hash of it cannot be guessed back. */
function hashOf(password: string): Buffer {
  return createHash('sha256').update(password, 'utf8').digest();
}

export interface CredentialRequest {
  readonly organizationId: string;
  readonly username: string;
  readonly password: string;
  /** Who makes it, for the audit trail. */
  readonly actor: string;
  /** Unix seconds. */
  readonly now: number;
}

/** What may be shown of a credential. */
export type CredentialSummary = Omit<IntakeCredentialRow, 'hash' | 'organization_id'>;

/** @throws Refusal `duplicate_name` when the user name is in force already, in whichever organisation */
export async function insertIntakeCredential(
  tx: Kysely<Tables>,
  request: CredentialRequest,
): Promise<CredentialSummary> {
  const row: IntakeCredentialRow = {
    id: newId(),
    organization_id: request.organizationId,
    username: request.username,
    hash: hashOf(request.password).toString('hex'),
    created_at: request.now,
    last_used_at: null,
    revoked_at: null,
  };
  const other = await tx
    .selectFrom('intake_credentials')
    .select('id')
    .where('username', '=', request.username)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  if (other) throw new Refusal('duplicate_name', `The user name "${request.username}" is in use already.`);
  await tx.insertInto('intake_credentials').values(row).execute();
  await recordCredential(tx, request, 'create', row);
  return summaryOf(row);
}

/** Newest last. */
export async function listIntakeCredentials(db: Kysely<Tables>, organizationId: string): Promise<CredentialSummary[]> {
  const rows = await db
    .selectFrom('intake_credentials')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute();
  return rows.map(summaryOf);
}

/** Revokes a credential by its user name or id. @throws Refusal `not_found` when none in force is called so */
export async function revokeIntakeCredential(
  tx: Kysely<Tables>,
  request: Pick<CredentialRequest, 'organizationId' | 'actor' | 'now'>,
  usernameOrId: string,
): Promise<CredentialSummary> {
  const row = await tx
    .updateTable('intake_credentials')
    .set({ revoked_at: request.now })
    .where('organization_id', '=', request.organizationId)
    .where('revoked_at', 'is', null)
    .where((each) => each.or([each('username', '=', usernameOrId), each('id', '=', usernameOrId)]))
    .returningAll()
    .executeTakeFirst();
  if (!row) throw new Refusal('not_found', `No intake credential in force has the user name or id "${usernameOrId}".`);
  await recordCredential(tx, request, 'revoke', row);
  return summaryOf(row);
}

/** Whose credential it is; undefined when user name and password are none in force. Takes as long for a wrong password as for a right one. */
export async function findByPassword(
  db: Kysely<Tables>,
  username: string,
  password: string,
): Promise<{ id: string; organizationId: string } | undefined> {
  const candidates = await db
    .selectFrom('intake_credentials')
    .select(['id', 'organization_id', 'hash'])
    .where('username', '=', username)
    .where('revoked_at', 'is', null)
    .execute();
  const given = hashOf(password);
  let found: { id: string; organizationId: string } | undefined;
  for (const { id, organization_id, hash } of candidates) {
    if (timingSafeEqual(given, Buffer.from(hash, 'hex'))) found = { id, organizationId: organization_id };
  }
  return found;
}

/** Notes that the credential was used. */
export async function touchIntakeCredential(db: Kysely<Tables>, id: string, now: number): Promise<void> {
  await db.updateTable('intake_credentials').set({ last_used_at: now }).where('id', '=', id).execute();
}

async function recordCredential(
  tx: Kysely<Tables>,
  request: Pick<CredentialRequest, 'organizationId' | 'actor' | 'now'>,
  action: 'create' | 'revoke',
  row: IntakeCredentialRow,
): Promise<void> {
  const { revision } = await tx
    .selectFrom('organizations')
    .select('revision')
    .where('id', '=', request.organizationId)
    .executeTakeFirstOrThrow();
  const stamp = { organizationId: request.organizationId, actor: request.actor, at: request.now, revision };
  const object = { kind: 'intake_credential', object_id: row.id, object_name: row.username } as const;
  await insertAuditEntries(tx, stamp, [{ action, ...object, after: summaryOf(row) }]);
}

function summaryOf({
  hash: _hash,
  organization_id: _organization,
  ...summary
}: IntakeCredentialRow): CredentialSummary {
  return summary;
}
