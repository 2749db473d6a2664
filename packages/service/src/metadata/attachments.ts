/** Attachments: a channel, an entity and a severity make one. Rules of that severity notify the channel. */
import type { AttachRequest, ChannelRow } from '@obsiac/api';
import { notFound } from '../refusal.ts';
import { toAttachment } from './channel-rows.ts';
import { requireEntity } from './entities.ts';
import type { Change } from './store.ts';
import type { NotificationSettingRow } from './tables.ts';
import { requireEditable } from './ui-readonly.ts';

/**
 * Attaches a channel to an entity for a severity. Doing it again changes who is mentioned and keeps the row.
 * @throws Refusal `not_found` for the channel or the entity
 */
export async function attachChannel(change: Change, channelId: number, request: AttachRequest): Promise<ChannelRow> {
  const channel = await selectRows(change)
    .where('id', '=', channelId)
    .where('parent_id', 'is', null)
    .executeTakeFirst();
  if (!channel) throw notFound('notification channel', channelId);
  const entity = await requireEntity(change.tx, change.organizationId, request.entity_id);
  requireEditable(change, entity);
  const old = await selectRows(change)
    .where('parent_id', '=', channelId)
    .where('entity_id', '=', request.entity_id)
    .where('severity', '=', request.severity)
    .executeTakeFirst();
  const mention = JSON.stringify(request.mention ?? []);
  const row = old
    ? await updateMention(change, old.id, mention)
    : await insertAttachment(change, channelId, request, mention);
  const after = toAttachment(row, channel, entity, change.vault);
  change.record({
    action: 'attach',
    kind: 'notification_setting',
    object_id: row.id,
    object_name: channel.name,
    before: old && toAttachment(old, channel, entity, change.vault),
    after,
  });
  return after;
}

/** Detaches one attachment by its own id. @throws Refusal `not_found` */
export async function detachRow(change: Change, id: number): Promise<void> {
  const row = await selectRows(change).where('id', '=', id).where('parent_id', 'is not', null).executeTakeFirst();
  if (!row) throw notFound('attachment', id);
  await detach(change, [row]);
}

/** Detaches a channel from an entity, for every severity. @throws Refusal `not_found` when it is not attached */
export async function detachEntity(change: Change, channelId: number, entityId: string): Promise<void> {
  const rows = await selectRows(change)
    .where('parent_id', '=', channelId)
    .where('entity_id', '=', entityId)
    .orderBy('id')
    .execute();
  if (rows.length === 0) throw notFound(`attachment to the entity ${entityId} of the channel`, channelId);
  await detach(change, rows);
}

async function detach(change: Change, rows: readonly NotificationSettingRow[]): Promise<void> {
  for (const row of rows) {
    const channel = await selectRows(change).where('id', '=', row.parent_id).executeTakeFirstOrThrow();
    const entity = await requireEntity(change.tx, change.organizationId, row.entity_id!);
    requireEditable(change, entity);
    await change.tx.deleteFrom('notification_settings').where('id', '=', row.id).execute();
    change.record({
      action: 'detach',
      kind: 'notification_setting',
      object_id: row.id,
      object_name: channel.name,
      before: toAttachment(row, channel, entity, change.vault),
    });
  }
}

function insertAttachment(
  change: Change,
  channelId: number,
  request: AttachRequest,
  mention: string,
): Promise<NotificationSettingRow> {
  return change.tx
    .insertInto('notification_settings')
    .values({
      organization_id: change.organizationId,
      parent_id: channelId,
      entity_id: request.entity_id,
      severity: request.severity,
      mention,
      name: '',
      type: '',
      destination: '',
      property: '',
      send_resolved: 0,
      snooze_until: 0,
      created_at: change.now,
      updated_at: change.now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

function updateMention(change: Change, id: number, mention: string): Promise<NotificationSettingRow> {
  return change.tx
    .updateTable('notification_settings')
    .set({ mention, updated_at: change.now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

function selectRows(change: Change) {
  return change.tx.selectFrom('notification_settings').selectAll().where('organization_id', '=', change.organizationId);
}
