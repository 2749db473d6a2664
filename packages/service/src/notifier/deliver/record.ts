/** The record stage: how an attempt ended, unless another process has taken the message over since. */
import type { Kysely } from 'kysely';
import type { Tables } from '../../metadata/tables.ts';
import type { ClaimedRow } from './claim.ts';
import type { SendResult } from './send.ts';

export type Recorded = 'delivered' | 'retried' | 'dead' | 'taken_over';

/** @param wait milliseconds until the next attempt, should there be one */
export async function recordResult(
  db: Kysely<Tables>,
  row: ClaimedRow,
  result: SendResult,
  { nowMs, wait }: { readonly nowMs: number; readonly wait: number },
): Promise<Recorded> {
  const recorded = outcomeOf(row, result, nowMs);
  const isDone = recorded !== 'retried';
  const reason = result.kind === 'delivered' ? '' : result.reason;
  const { numUpdatedRows } = await db
    .updateTable('alert_notifications')
    .set({
      status: recorded === 'retried' ? 'pending' : recorded,
      last_error: recorded === 'dead' && result.kind === 'retry' ? `${reason} Given up after a day.` : reason,
      finished_at: isDone ? nowMs : null,
      // What is done keeps the name of who did it.
      ...(isDone ? {} : { next_attempt_at: nowMs + wait, claimed_by: '', claimed_until: 0 }),
    })
    .where('id', '=', row.id)
    .where('claimed_by', '=', row.claimed_by)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  return Number(numUpdatedRows) === 0 ? 'taken_over' : recorded;
}

function outcomeOf(row: ClaimedRow, result: SendResult, nowMs: number): 'delivered' | 'retried' | 'dead' {
  if (result.kind === 'delivered') return 'delivered';
  return result.kind === 'dead' || nowMs >= row.retry_until ? 'dead' : 'retried';
}
