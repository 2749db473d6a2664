/** Notification channels of an organisation in the store. Their destinations are sealed, and shown masked. */
import type { AuditEntry, ChannelRow, channelDocument } from '@obsiac/api';
import type { z } from 'zod';
import { notFound, Refusal } from '../refusal.ts';
import { unmask, unmaskValues } from '../secrets/mask.ts';
import type { Vault } from '../secrets/vault.ts';
import { detachRow } from './attachments.ts';
import { type ChannelProperty, toChannel, usersByChannel } from './channel-rows.ts';
import type { Change } from './store.ts';
import type { NotificationSettingRow } from './tables.ts';

export type ChannelInput = z.output<typeof channelDocument>;

/** @throws Refusal `duplicate_name` */
export async function createChannel(change: Change, document: ChannelInput): Promise<ChannelRow> {
  await requireFreeName(change, document, undefined);
  const row = await change.tx
    .insertInto('notification_settings')
    .values({
      organization_id: change.organizationId,
      parent_id: null,
      entity_id: null,
      severity: '',
      mention: '[]',
      snooze_until: 0,
      ...columnsOf(change.vault, document),
      created_at: change.now,
      updated_at: change.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const channel = toChannel(row, change.vault, []);
  record(change, 'create', channel, { after: channel });
  return channel;
}

/** Replaces the channel; a secret sent as its mask stays as it is. @throws Refusal `not_found`, `duplicate_name` */
export async function updateChannel(change: Change, id: number, document: ChannelInput): Promise<ChannelRow> {
  const old = await requireRow(change, id);
  if (old.parent_id !== null) throw notFound('notification channel', id);
  await requireFreeName(change, document, id);
  const columns = {
    ...columnsOf(change.vault, keepMasked(change.vault, document, old)),
    updated_at: change.now,
  };
  await change.tx.updateTable('notification_settings').set(columns).where('id', '=', id).execute();
  const users = (await usersByChannel(change.tx, change.organizationId, id)).get(id) ?? [];
  const before = toChannel(old, change.vault, users);
  const after = toChannel({ ...old, ...columns }, change.vault, users);
  record(change, 'update', after, { before, after });
  return after;
}

/**
 * Deletes a channel that no entity uses; an id of an attachment detaches it.
 * @throws Refusal `not_found`, `in_use`
 */
export async function deleteChannel(change: Change, id: number): Promise<void> {
  const old = await requireRow(change, id);
  if (old.parent_id !== null) return detachRow(change, id);
  const users = (await usersByChannel(change.tx, change.organizationId, id)).get(id) ?? [];
  if (users.length > 0) {
    const more = users.length > 3 ? ` and ${users.length - 3} more` : '';
    const names = users.slice(0, 3).map((entity) => `"${entity.name}"`);
    throw new Refusal(
      'in_use',
      `The channel "${old.name}" is attached to ${names.join(', ')}${more}; detach it first.`,
    );
  }
  await change.tx.deleteFrom('notification_settings').where('id', '=', id).execute();
  const before = toChannel(old, change.vault, []);
  record(change, 'delete', before, { before });
}

async function requireRow(change: Change, id: number): Promise<NotificationSettingRow> {
  const row = await change.tx
    .selectFrom('notification_settings')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', change.organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('notification channel', id);
  return row;
}

async function requireFreeName(change: Change, document: ChannelInput, except: number | undefined): Promise<void> {
  const other = await change.tx
    .selectFrom('notification_settings')
    .select('id')
    .where('organization_id', '=', change.organizationId)
    .where('parent_id', 'is', null)
    .where('name', '=', document.name)
    .where('type', '=', document.type)
    .executeTakeFirst();
  if (!other || other.id === except) return;
  throw new Refusal('duplicate_name', `There is a ${document.type} channel named "${document.name}" (${other.id}).`, {
    details: [{ path: 'body.name', message: 'is taken by a channel of this type' }],
  });
}

function keepMasked(vault: Vault, document: ChannelInput, old: NotificationSettingRow): ChannelInput {
  const property = document.property ?? {};
  const stored = JSON.parse(vault.open(old.property)) as ChannelProperty;
  const headers = property.webhook_headers && unmaskValues(property.webhook_headers, stored.webhook_headers ?? {});
  return {
    ...document,
    destination: unmask(document.destination, vault.open(old.destination)),
    property: headers ? { ...property, webhook_headers: headers } : property,
  };
}

function columnsOf(vault: Vault, document: ChannelInput) {
  return {
    name: document.name,
    type: document.type,
    destination: vault.seal(document.destination),
    property: vault.seal(JSON.stringify(document.property ?? {})),
    send_resolved: document.send_resolved ? 1 : 0,
  };
}

function record(
  change: Change,
  action: AuditEntry['action'],
  channel: ChannelRow,
  documents: { before?: ChannelRow; after?: ChannelRow },
): void {
  change.record({
    action,
    kind: 'notification_setting',
    object_id: channel.id,
    object_name: channel.name,
    ...documents,
  });
}
