/** Which channels hear of which entity: attachments, with what they attach. */
import type { Kysely } from 'kysely';
import type { Tables } from '../metadata/tables.ts';
import type { ChannelBinding } from './context.ts';

/** The bindings of an organisation's entities, by entity id; those without any are absent. Destinations stay sealed in the store. */
export async function listBindings(
  db: Kysely<Tables>,
  organizationId: string,
): Promise<ReadonlyMap<string, readonly ChannelBinding[]>> {
  const rows = await db
    .selectFrom('notification_settings as attachment')
    .innerJoin('notification_settings as channel', 'channel.id', 'attachment.parent_id')
    .select(['attachment.entity_id', 'attachment.severity', 'attachment.mention'])
    .select(['attachment.snooze_until as attachment_snooze_until', 'channel.snooze_until'])
    .select(['channel.id', 'channel.name', 'channel.type', 'channel.send_resolved'])
    .where('attachment.organization_id', '=', organizationId)
    .orderBy('attachment.id')
    .execute();
  const bindings = rows.map(
    (row): ChannelBinding => ({
      channelId: row.id,
      entityId: row.entity_id!,
      severity: row.severity as ChannelBinding['severity'],
      name: row.name,
      type: row.type,
      sendResolved: row.send_resolved === 1,
      snoozeUntil: Math.max(row.snooze_until, row.attachment_snooze_until),
      mention: JSON.parse(row.mention) as string[],
    }),
  );
  return Map.groupBy(bindings, ({ entityId }) => entityId);
}
