/** A channel as it must be to send to it: unsealed. */
import type { Kysely } from 'kysely';
import type { Tables } from '../../metadata/tables.ts';
import type { Vault } from '../../secrets/vault.ts';

export interface SendableChannel {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly destination: string;
  readonly webhookHeaders: Readonly<Record<string, string>>;
}

/** Undefined when the organisation has no such channel. @throws SecretKeyError */
export async function readChannel(
  db: Kysely<Tables>,
  vault: Vault,
  organizationId: string,
  id: number,
): Promise<SendableChannel | undefined> {
  const row = await db
    .selectFrom('notification_settings')
    .select(['id', 'name', 'type', 'destination', 'property'])
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .where('parent_id', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const property = JSON.parse(vault.open(row.property)) as { webhook_headers?: Record<string, string> };
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    destination: vault.open(row.destination),
    webhookHeaders: property.webhook_headers ?? {},
  };
}
