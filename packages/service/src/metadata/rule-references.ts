/** Keeps alert rules pointing at an indicator whose name changes. */
import { setImmediate as breathe } from 'node:timers/promises';
import { renameIndicator } from '../rules/expression.ts';
import { toAlertRule } from './alert-rules.ts';
import type { Change } from './store.ts';
import type { AlertRuleRow } from './tables.ts';

/** Rules changed between two breaths of the event loop. */
const BREATH = 200;

/** Rules name indicators, so a new name is written into every rule of the entity that uses the old one. */
export async function renameIndicatorInRules(
  change: Change,
  entityId: string,
  from: string,
  to: string,
): Promise<void> {
  const rows = await change.tx.selectFrom('alert_rules').selectAll().where('entity_id', '=', entityId).execute();
  let changed = 0;
  for (const row of rows) {
    const renamed = rename(row, from, to);
    if (!renamed) continue;
    changed += 1;
    if (changed % BREATH === 0) await breathe();
    const columns = { ...renamed, updated_at: change.now };
    await change.tx.updateTable('alert_rules').set(columns).where('id', '=', row.id).execute();
    change.record({
      action: 'update',
      kind: 'alert_rule',
      object_id: row.id,
      object_name: row.rule_name,
      before: toAlertRule(row, change.now),
      after: toAlertRule({ ...row, ...columns }, change.now),
    });
  }
}

function rename(row: AlertRuleRow, from: string, to: string): Partial<AlertRuleRow> | undefined {
  const args = Object.entries(JSON.parse(row.expression_args) as Record<string, unknown>);
  const named = [row.primary_indicator, row.pattern_indicator, ...args.map(([name]) => name)];
  if (!named.includes(from)) return undefined;
  const swap = (name: string) => (name === from ? to : name);
  return {
    primary_indicator: swap(row.primary_indicator),
    pattern_indicator: swap(row.pattern_indicator),
    expression: renameIndicator(row.expression, from, to),
    expression_args: JSON.stringify(Object.fromEntries(args.map(([name, value]) => [swap(name), value]))),
  };
}
