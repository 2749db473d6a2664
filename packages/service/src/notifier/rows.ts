/** The outbox: messages that wait in the store, and what of them is still to be said. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { NotificationEvent, NotificationMessage } from '@obsiac/api';
import { type Kysely, sql, type Transaction } from 'kysely';
import { batchesOf } from '../metadata/batches.ts';
import type { Tables } from '../metadata/tables.ts';
import type { NotifyMoment } from './context.ts';

/** A message to be put into the outbox. */
export interface Draft {
  readonly organizationId: string;
  readonly entityId: string;
  readonly ruleId: string;
  readonly unitId: string;
  readonly grouped: boolean;
  readonly event: NotificationEvent;
  readonly sequence: number;
  readonly channel: { readonly id: number; readonly name: string; readonly type: string };
  readonly message: NotificationMessage;
  /** The end of the unit is told too, or there is nothing to tell. */
  readonly closed: boolean;
  /** Why it is kept but not sent. */
  readonly suppressed?: string | undefined;
  /** Unix milliseconds before which it is not sent. */
  readonly notBefore?: number;
}

/** Puts messages into the outbox; one that is there already stays as it is. @returns how many are new */
export async function insertDrafts(
  tx: Transaction<Tables>,
  drafts: readonly Draft[],
  { minute, nowMs }: NotifyMoment,
): Promise<number> {
  let count = 0;
  for (const batch of batchesOf(drafts)) {
    const results = await tx
      .insertInto('alert_notifications')
      .values(batch.map((draft) => toRow(draft, minute, nowMs)))
      .onConflict((conflict) => conflict.columns(['unit_id', 'event', 'sequence', 'channel_id']).doNothing())
      .execute();
    count += results.reduce((sum, { numInsertedOrUpdatedRows }) => sum + Number(numInsertedOrUpdatedRows ?? 0), 0);
    if (drafts.length > batch.length) await breathe();
  }
  return count;
}

/** Milliseconds for which a message that does not arrive is tried again. */
export const RETRY_FOR = 24 * 3_600_000;

function toRow(draft: Draft, minute: number, nowMs: number) {
  const isSuppressed = draft.suppressed !== undefined;
  const from = Math.max(draft.notBefore ?? 0, nowMs);
  return {
    organization_id: draft.organizationId,
    entity_id: draft.entityId,
    rule_id: draft.ruleId,
    unit_id: draft.unitId,
    event: draft.event,
    sequence: draft.sequence,
    channel_id: draft.channel.id,
    channel_name: draft.channel.name,
    channel_type: draft.channel.type,
    dedup_key: draft.unitId,
    message: JSON.stringify(draft.message),
    minute,
    grouped: draft.grouped ? 1 : 0,
    closed: draft.closed ? 1 : 0,
    status: isSuppressed ? ('suppressed' as const) : ('pending' as const),
    attempts: 0,
    created_at: nowMs,
    next_attempt_at: from,
    retry_until: from + RETRY_FOR,
    claimed_by: '',
    claimed_until: 0,
    finished_at: isSuppressed ? nowMs : null,
    last_error: draft.suppressed ?? '',
  };
}

/** A trigger whose end has not been told to its channel. */
export interface OpenTrigger {
  readonly id: number;
  readonly entity_id: string;
  readonly unit_id: string;
  readonly grouped: number;
  readonly channel_id: number;
  readonly minute: number;
}

/** Of one rule, or of one data source's outages. */
export function openTriggers(tx: Kysely<Tables>, organizationId: string, ruleId: string): Promise<OpenTrigger[]> {
  return (
    tx
      .selectFrom('alert_notifications')
      .select(['id', 'entity_id', 'unit_id', 'grouped', 'channel_id', 'minute'])
      .where('rule_id', '=', ruleId)
      .where('organization_id', '=', organizationId)
      // In the words of the index, so that the engines take it.
      .where('closed', '=', sql.lit(0))
      .orderBy('id')
      .execute()
  );
}

/** The last repeat of a trigger. */
export interface LastRepeat {
  readonly unit_id: string;
  readonly channel_id: number;
  readonly sequence: number;
  readonly minute: number;
}

export async function lastRepeats(tx: Kysely<Tables>, unitIds: readonly string[]): Promise<LastRepeat[]> {
  const found: LastRepeat[] = [];
  for (const batch of batchesOf(unitIds)) {
    const rows = await tx
      .selectFrom('alert_notifications')
      .select((row) => [
        'unit_id',
        'channel_id',
        row.fn.max('sequence').as('sequence'),
        row.fn.max('minute').as('minute'),
      ])
      .where('unit_id', 'in', batch)
      .where('event', '=', 'repeat')
      .groupBy(['unit_id', 'channel_id'])
      .execute();
    found.push(...rows);
  }
  return found;
}

/** The messages of triggers, by id. */
export async function readMessages(
  tx: Kysely<Tables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, NotificationMessage>> {
  const found = new Map<number, NotificationMessage>();
  for (const batch of batchesOf(ids)) {
    const rows = await tx
      .selectFrom('alert_notifications')
      .select(['id', 'message'])
      .where('id', 'in', batch)
      .execute();
    for (const row of rows) found.set(row.id, JSON.parse(row.message) as NotificationMessage);
  }
  return found;
}

export async function closeTriggers(tx: Kysely<Tables>, ids: readonly number[]): Promise<void> {
  for (const batch of batchesOf(ids)) {
    await tx.updateTable('alert_notifications').set({ closed: 1 }).where('id', 'in', batch).execute();
  }
}

/** What is needed of a channel to tell it of an end. */
export interface KnownChannel {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly send_resolved: number;
  readonly snooze_until: number;
}

export async function channelsOf(tx: Kysely<Tables>, organizationId: string): Promise<KnownChannel[]> {
  return tx
    .selectFrom('notification_settings')
    .select(['id', 'name', 'type', 'send_resolved', 'snooze_until'])
    .where('organization_id', '=', organizationId)
    .where('parent_id', 'is', null)
    .orderBy('id')
    .execute();
}
