/** Rules with messages whose end has not been told: they fire, or a mute holds the end back. */
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../metadata/tables.ts';

/** @returns ids of the rules of an organisation, or of those given */
export async function untoldRules(
  db: Kysely<Tables>,
  organizationId: string,
  ruleIds?: readonly string[],
): Promise<Set<string>> {
  let select = db
    .selectFrom('alert_notifications')
    .select('rule_id')
    .distinct()
    .where('organization_id', '=', organizationId)
    // As a literal: SQLite uses the partial index for nothing else.
    .where('closed', '=', sql.lit(0));
  if (ruleIds) select = select.where('rule_id', 'in', ruleIds);
  const rows = await select.execute();
  return new Set(rows.map(({ rule_id }) => rule_id));
}
