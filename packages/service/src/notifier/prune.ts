/** Forgets what was said long ago. */
import type { Kysely } from 'kysely';
import type { Tables } from '../metadata/tables.ts';

/** Milliseconds that a message which is done stays readable. */
const KEPT_FOR = 30 * 86_400_000;
const BATCH = 1000;

/**
 * Deletes messages that were done a month ago, unless what they tell of goes on: its end is told to those who heard of its beginning.
 * @returns how many
 */
export async function pruneOutbox(db: Kysely<Tables>, nowMs: number): Promise<number> {
  let count = 0;
  for (;;) {
    const rows = await db
      .selectFrom('alert_notifications as old')
      .select('old.id')
      .where('old.finished_at', '<', nowMs - KEPT_FOR)
      .where('old.closed', '=', 1)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('alert_notifications as told')
              .select('told.id')
              .whereRef('told.unit_id', '=', 'old.unit_id')
              .where('told.closed', '=', 0),
          ),
        ),
      )
      .limit(BATCH)
      .execute();
    if (rows.length === 0) return count;
    const ids = rows.map(({ id }) => id);
    await db.deleteFrom('alert_notifications').where('id', 'in', ids).execute();
    count += ids.length;
  }
}
