/** Rules with messages whose end has not been told: they fire, or a mute holds the end back. */
import type { Kysely } from 'kysely';
import type { Tables } from '../metadata/tables.ts';

/** @returns the entities of such rules of an organisation, or of those given, by rule id */
export async function untoldRules(
  db: Kysely<Tables>,
  organizationId: string,
  ruleIds?: readonly string[],
): Promise<Map<string, string>> {
  let select = db
    .selectFrom('alert_notifications')
    .select(['rule_id', 'entity_id'])
    .distinct()
    .where('organization_id', '=', organizationId)
    .where('closed', '=', 0)
    // An outage of a data source has none.
    .where('entity_id', '<>', '');
  if (ruleIds) select = select.where('rule_id', 'in', ruleIds);
  const rows = await select.execute();
  return new Map(rows.map(({ rule_id, entity_id }) => [rule_id, entity_id]));
}
