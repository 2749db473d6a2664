/** Reads notification settings as the wire has them: an organisation's channels, and their attachments to entities. */
import type { ChannelRow } from '@obsiac/api';
import type { Kysely } from 'kysely';
import { maskSecret, maskValues } from '../secrets/mask.ts';
import type { Vault } from '../secrets/vault.ts';
import type { NotificationSettingRow, Tables } from './tables.ts';

export type ChannelProperty = ChannelRow['property'];

/** The entity at the other end of an attachment. */
export interface AttachedEntity {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
}

/** The organisation's channels with the entities that use each. */
export async function listChannels(db: Kysely<Tables>, organizationId: string, vault: Vault): Promise<ChannelRow[]> {
  const rows = await db
    .selectFrom('notification_settings')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('parent_id', 'is', null)
    .orderBy('id')
    .execute();
  const users = await usersByChannel(db, organizationId, undefined);
  return rows.map((row) => toChannel(row, vault, users.get(row.id) ?? []));
}

/** The entities that use a channel, or each channel of the organisation, by the channel's id; an entity once. */
export async function usersByChannel(
  db: Kysely<Tables>,
  organizationId: string,
  channelId: number | undefined,
): Promise<Map<number, AttachedEntity[]>> {
  let select = db
    .selectFrom('notification_settings as attachment')
    .innerJoin('entities as entity', 'entity.id', 'attachment.entity_id')
    .select(['attachment.parent_id', 'entity.id', 'entity.name', 'entity.namespace'])
    .distinct()
    .where('attachment.organization_id', '=', organizationId);
  if (channelId !== undefined) select = select.where('attachment.parent_id', '=', channelId);
  const rows = await select.orderBy('entity.id').execute();
  return Map.groupBy(rows, (row) => row.parent_id!);
}

/** One page of attachments, of one entity or of all, after the id `after`. */
export async function pageOfAttachments(
  db: Kysely<Tables>,
  organizationId: string,
  entityId: string | undefined,
  vault: Vault,
  after: number | undefined,
  limit: number,
): Promise<ChannelRow[]> {
  let select = db
    .selectFrom('notification_settings as attachment')
    .innerJoin('entities as entity', 'entity.id', 'attachment.entity_id')
    .innerJoin('notification_settings as channel', 'channel.id', 'attachment.parent_id')
    .selectAll('attachment')
    .select(['entity.name as entity_name', 'entity.namespace as entity_namespace'])
    .select(['channel.name', 'channel.type', 'channel.destination', 'channel.property', 'channel.send_resolved'])
    .where('attachment.organization_id', '=', organizationId);
  if (entityId !== undefined) select = select.where('attachment.entity_id', '=', entityId);
  if (after !== undefined) select = select.where('attachment.id', '>', after);
  const rows = await select.orderBy('attachment.id').limit(limit).execute();
  // Many entities share few channels: each is opened and masked once.
  const channels = new Map<number, ShownChannel>();
  return rows.map((row) => {
    const channel = channels.get(row.parent_id!) ?? shown(row, vault);
    channels.set(row.parent_id!, channel);
    return rowOf(row, channel, { id: row.entity_id!, name: row.entity_name, namespace: row.entity_namespace });
  });
}

export function toChannel(row: NotificationSettingRow, vault: Vault, users: readonly AttachedEntity[]): ChannelRow {
  return {
    ...shown(row, vault),
    id: row.id,
    namespace: '',
    service: '',
    snooze_until: row.snooze_until,
    global: true,
    in_use: users.length > 0,
    usage: { entities: users.length },
    service_fqid: '',
    severity: '',
    services: users.map(({ name, namespace }) => ({ name, namespace })),
    parent_id: null,
    mention: [],
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** @param channel the row that the attachment attaches: name, type and destination are its */
export function toAttachment(
  row: NotificationSettingRow,
  channel: Pick<NotificationSettingRow, 'name' | 'type' | 'destination' | 'property' | 'send_resolved'>,
  entity: AttachedEntity,
  vault: Vault,
): ChannelRow {
  return rowOf(row, shown({ ...channel, organization_id: row.organization_id }, vault), entity);
}

type AttachmentColumns = Pick<
  NotificationSettingRow,
  'id' | 'parent_id' | 'severity' | 'mention' | 'snooze_until' | 'created_at' | 'updated_at'
>;

function rowOf(row: AttachmentColumns, channel: ShownChannel, entity: AttachedEntity): ChannelRow {
  return {
    ...channel,
    id: row.id,
    namespace: entity.namespace,
    service: entity.name,
    snooze_until: row.snooze_until,
    global: false,
    in_use: true,
    usage: { entities: 1 },
    service_fqid: entity.id,
    severity: row.severity,
    services: [{ name: entity.name, namespace: entity.namespace }],
    parent_id: row.parent_id,
    mention: JSON.parse(row.mention),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

type ShownChannel = ReturnType<typeof shown>;

function shown(
  channel: Pick<
    NotificationSettingRow,
    'organization_id' | 'name' | 'type' | 'destination' | 'property' | 'send_resolved'
  >,
  vault: Vault,
) {
  const property = JSON.parse(vault.open(channel.property)) as ChannelProperty;
  const headers = property.webhook_headers;
  return {
    organization_id: channel.organization_id,
    name: channel.name,
    type: channel.type as ChannelRow['type'],
    destination: maskSecret(vault.open(channel.destination)),
    property: headers ? { ...property, webhook_headers: maskValues(headers) } : property,
    send_resolved: channel.send_resolved === 1,
    priority: 0,
  };
}
