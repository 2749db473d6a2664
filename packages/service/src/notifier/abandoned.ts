/**
 * Tells ends that nobody else tells any more: of rules that were deleted or disabled after an end was held back by a mute. While a rule is
 * evaluated, the evaluator sees to its ends.
 */
import { type Kysely, sql } from 'kysely';
import type { Store } from '../metadata/store.ts';
import type { Tables } from '../metadata/tables.ts';
import { enqueueNotifications } from './enqueue.ts';

/** @returns how many messages are new */
export async function tellAbandonedEnds(store: Store): Promise<number> {
  const nowMs = store.now();
  let count = 0;
  for (const rule of await abandonedRules(store.db)) {
    const organization = { id: rule.organization_id, slug: '' };
    const names = { organization, ruleId: rule.rule_id, entityId: rule.entity_id };
    const context = { ...names, definition: undefined, open: [], events: [], publicUrl: '' };
    const moment = { minute: Math.floor(nowMs / 60_000), nowMs };
    count += await store.db.transaction().execute((tx) => enqueueNotifications(tx, context, moment));
  }
  return count;
}

/** Rules that are not evaluated, without an open episode, of which an end has not been told to all who heard of the beginning. */
function abandonedRules(db: Kysely<Tables>) {
  return (
    db
      .selectFrom('alert_notifications as told')
      .select(['told.organization_id', 'told.entity_id', 'told.rule_id'])
      .distinct()
      // In the words of the index, so that the engines take it.
      .where('told.closed', '=', sql.lit(0))
      .where('told.entity_id', '<>', '')
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('alert_rules as rule')
              .select('rule.id')
              .whereRef('rule.id', '=', 'told.rule_id')
              .where('rule.is_disabled', '=', 0),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('alert_episodes as episode')
              .select('episode.id')
              .whereRef('episode.entity_id', '=', 'told.entity_id')
              .whereRef('episode.rule_id', '=', 'told.rule_id')
              .where('episode.resolved_minute', 'is', null),
          ),
        ),
      )
      .execute()
  );
}
