/** The outbox as people see it: what was said, and saying it again. */
import type { Notification, NotificationMessage, notificationQuery } from '@obsiac/api';
import type { Kysely, Transaction } from 'kysely';
import type { z } from 'zod';
import type { AlertNotificationRow, Tables } from '../metadata/tables.ts';
import { notFound, Refusal } from '../refusal.ts';
import { RETRY_FOR } from './rows.ts';

/** Newest first. */
export async function listNotifications(
  db: Kysely<Tables>,
  organizationId: string,
  query: z.output<typeof notificationQuery>,
): Promise<Notification[]> {
  let select = db.selectFrom('alert_notifications').selectAll().where('organization_id', '=', organizationId);
  if (query.before !== undefined) select = select.where('id', '<', query.before);
  if (query.status !== undefined) select = select.where('status', '=', query.status);
  if (query.channel !== undefined) select = select.where('channel_id', '=', query.channel);
  if (query.rule !== undefined) select = select.where('rule_id', '=', query.rule);
  const rows = await select.orderBy('id', 'desc').limit(query.limit).execute();
  return rows.map(toNotification);
}

/**
 * Makes a message that was given up, or that arrived, due again now. One that is waiting for its next attempt no longer waits.
 * @throws Refusal `not_found`, `bad_request` when it is one that is not sent
 */
export async function resendNotification(
  tx: Transaction<Tables>,
  organizationId: string,
  id: number,
  nowMs: number,
): Promise<{ before: Notification; after: Notification }> {
  const before = await tx
    .selectFrom('alert_notifications')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (before === undefined) throw notFound('notification', id);
  if (before.status === 'suppressed') {
    throw new Refusal('bad_request', `The notification ${id} is not sent: ${before.last_error}`);
  }
  if (before.event === 'test') {
    throw new Refusal('bad_request', `The notification ${id} was a test; test the channel again.`);
  }
  const renewed = {
    status: 'pending',
    finished_at: null,
    next_attempt_at: nowMs,
    retry_until: nowMs + RETRY_FOR,
  } as const;
  // A message that is on its way now stays so: it is tried again only if that fails.
  const released = before.status === 'pending' ? {} : { attempts: 0, last_error: '', claimed_by: '', claimed_until: 0 };
  const after = await tx
    .updateTable('alert_notifications')
    .set({ ...renewed, ...released })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return { before: toNotification(before), after: toNotification(after) };
}

export function toNotification(row: AlertNotificationRow): Notification {
  return {
    id: row.id,
    organization_id: row.organization_id,
    entity_id: row.entity_id,
    rule_id: row.rule_id,
    dedup_key: row.dedup_key,
    event: row.event,
    sequence: row.sequence,
    channel_id: row.channel_id,
    channel_name: row.channel_name,
    channel_type: row.channel_type as Notification['channel_type'],
    status: row.status,
    attempts: row.attempts,
    created_at: row.created_at / 1000,
    next_attempt_at: row.status === 'pending' ? row.next_attempt_at / 1000 : null,
    finished_at: row.finished_at === null ? null : row.finished_at / 1000,
    last_error: row.last_error,
    message: JSON.parse(row.message) as NotificationMessage,
  };
}
