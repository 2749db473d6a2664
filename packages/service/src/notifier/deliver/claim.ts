/** Takes messages that are due for this process, for a while: when it dies or stands still, others take them over. */
import { type Kysely, sql } from 'kysely';
import type { Store } from '../../metadata/store.ts';
import type { AlertNotificationRow, Tables } from '../../metadata/tables.ts';
import type { Pace } from './pace.ts';

/** Milliseconds for which a message is this process' alone; an attempt ends long before. */
export const CLAIM_FOR = 60_000;

/**
 * A trigger waits for earlier ends of its rule on the same channel: whoever reads "resolved" last believes that nothing fires. But not
 * for one that was refused so often, nor for longer than so many milliseconds: an end that is not taken must keep no alert from anybody.
 */
const TRIES_OF_AN_END = 3;
const LONGEST_TURN = 3_600_000;

/** Rows looked at in one query. */
const WINDOW = 64;

export type ClaimedRow = Pick<
  AlertNotificationRow,
  | 'id'
  | 'organization_id'
  | 'rule_id'
  | 'unit_id'
  | 'event'
  | 'channel_id'
  | 'channel_name'
  | 'channel_type'
  | 'dedup_key'
  | 'message'
  | 'attempts'
  | 'created_at'
  | 'retry_until'
  | 'claimed_by'
  | 'claimed_until'
>;

const COLUMNS = [
  'id',
  'organization_id',
  'rule_id',
  'unit_id',
  'event',
  'channel_id',
  'channel_name',
  'channel_type',
  'dedup_key',
  'message',
  'attempts',
  'created_at',
  'retry_until',
] as const;

/**
 * Claims up to `most` messages, none out of turn: what a channel is told of one unit is told in order.
 * @param claim a name that no other claim has
 */
export async function claimDue(
  store: Store,
  pace: Pace,
  { claim, most, nowMs }: { readonly claim: string; readonly most: number; readonly nowMs: number },
): Promise<ClaimedRow[]> {
  if (!(await isAnyDue(store.db, nowMs))) return [];
  const leave: number[] = [];
  try {
    return await claimWithin(store, pace, { claim, most, nowMs, leave });
  } catch (error) {
    for (const channelId of leave) pace.giveBack(channelId);
    throw error;
  }
}

interface ClaimRequest {
  readonly claim: string;
  readonly most: number;
  readonly nowMs: number;
  /** Channels for which leave was taken, once for each message. */
  readonly leave: number[];
}

function claimWithin(store: Store, pace: Pace, { claim, most, nowMs, leave }: ClaimRequest): Promise<ClaimedRow[]> {
  return store.db.transaction().execute(async (tx) => {
    const claimed: ClaimedRow[] = [];
    const held = new Set<number>();
    for (;;) {
      const rows = await dueRows(tx, store.backend.name === 'postgresql', [...held], nowMs);
      const taken = [];
      for (const row of rows) {
        if (claimed.length + taken.length >= most) break;
        if (held.has(row.channel_id) || !pace.take(row.channel_id, row.channel_type, nowMs)) {
          held.add(row.channel_id);
          continue;
        }
        leave.push(row.channel_id);
        taken.push(row);
      }
      claimed.push(...(await mark(tx, taken, claim, nowMs)));
      if (rows.length < WINDOW || claimed.length >= most) return claimed;
      // All were of channels that must wait, or were taken: look behind them.
    }
  });
}

/** Most of the time nothing is due, and nobody's writes need to be held up to learn that. */
async function isAnyDue(db: Kysely<Tables>, nowMs: number): Promise<boolean> {
  const row = await db
    .selectFrom('alert_notifications')
    .select('id')
    // In the words of the index, so that the engines take it.
    .where('status', '=', sql.lit('pending' as const))
    .where('next_attempt_at', '<=', nowMs)
    .where('claimed_until', '<=', nowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function dueRows(tx: Kysely<Tables>, isPostgresql: boolean, without: readonly number[], nowMs: number) {
  let select = tx
    .selectFrom('alert_notifications as due')
    .select(COLUMNS.map((column) => `due.${column}` as const))
    .where('due.status', '=', sql.lit('pending' as const))
    .where('due.next_attempt_at', '<=', nowMs)
    .where('due.claimed_until', '<=', nowMs)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('alert_notifications as earlier')
            .select('earlier.id')
            .whereRef('earlier.unit_id', '=', 'due.unit_id')
            .whereRef('earlier.channel_id', '=', 'due.channel_id')
            .whereRef('earlier.id', '<', 'due.id')
            .where('earlier.status', '=', 'pending'),
        ),
      ),
    )
    .where(({ eb, or, not, exists, selectFrom }) =>
      or([
        eb('due.event', '<>', 'trigger'),
        not(
          exists(
            selectFrom('alert_notifications as end')
              .select('end.id')
              .whereRef('end.rule_id', '=', 'due.rule_id')
              .whereRef('end.channel_id', '=', 'due.channel_id')
              .whereRef('end.id', '<', 'due.id')
              .where('end.status', '=', sql.lit('pending' as const))
              .where('end.event', '=', 'resolve')
              .where('end.attempts', '<', TRIES_OF_AN_END)
              .where('end.created_at', '>', nowMs - LONGEST_TURN),
          ),
        ),
      ]),
    )
    .orderBy('due.next_attempt_at')
    .orderBy('due.id')
    .limit(WINDOW);
  if (without.length > 0) select = select.where('due.channel_id', 'not in', [...without]);
  // SQLite has one writer at a time: the transaction itself is the lock.
  return (isPostgresql ? select.forUpdate('due').skipLocked() : select).execute();
}

async function mark(
  tx: Kysely<Tables>,
  rows: readonly Omit<ClaimedRow, 'claimed_by' | 'claimed_until'>[],
  claim: string,
  nowMs: number,
): Promise<ClaimedRow[]> {
  if (rows.length === 0) return [];
  const claimed = { claimed_by: claim, claimed_until: nowMs + CLAIM_FOR };
  await tx
    .updateTable('alert_notifications')
    .set((row) => ({ ...claimed, attempts: row('attempts', '+', 1) }))
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .execute();
  return rows.map((row) => ({ ...row, ...claimed, attempts: row.attempts + 1 }));
}
