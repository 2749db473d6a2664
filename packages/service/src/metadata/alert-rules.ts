/** Alert rules in the store, with the checks that a schema alone cannot make. */
import type { AlertRule, alertRuleDocument } from '@obsiac/api';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { notFound, Refusal, refuseField } from '../refusal.ts';
import { formatAlertCondition, formatCondition, parseAlertCondition, parseCondition } from '../rules/condition.ts';
import { parseExpression } from '../rules/expression.ts';
import { newId } from './ids.ts';
import type { Change } from './store.ts';
import type { AlertRuleRow, EntityRow, Tables } from './tables.ts';
import { requireEditable, requireEditableId } from './ui-readonly.ts';

export type RuleDocument = z.output<typeof alertRuleDocument>;

/** @throws Refusal `bad_request` with the field, `duplicate_name` */
export async function createRule(change: Change, entity: EntityRow, document: RuleDocument): Promise<AlertRule> {
  requireEditable(change, entity);
  const columns = columnsOf(document);
  await requireIndicators(change, entity.id, columns);
  await requireFreeName(change, entity.id, columns.rule_name, undefined);
  const row: AlertRuleRow = {
    id: newId(),
    organization_id: change.organizationId,
    entity_id: entity.id,
    ...columns,
    external_ref: `${entity.external_ref}-${slug(columns.rule_name)}`,
    error_since: null,
    created_at: change.now,
    updated_at: change.now,
  };
  await change.tx.insertInto('alert_rules').values(row).execute();
  const rule = toAlertRule(row, change.now);
  change.record({ action: 'create', kind: 'alert_rule', object_id: row.id, object_name: row.rule_name, after: rule });
  return rule;
}

/** Replaces the rule; its id stays. @throws Refusal `not_found`, `bad_request` with the field, `duplicate_name` */
export async function updateRule(
  change: Change,
  entityId: string,
  id: string,
  document: RuleDocument,
): Promise<AlertRule> {
  const old = await requireRule(change.tx, change.organizationId, entityId, id);
  await requireEditableId(change, entityId);
  const columns = { ...columnsOf(document), updated_at: change.now };
  await requireIndicators(change, entityId, columns);
  if (columns.rule_name !== old.rule_name) await requireFreeName(change, entityId, columns.rule_name, id);
  await change.tx.updateTable('alert_rules').set(columns).where('id', '=', id).execute();
  const rule = toAlertRule({ ...old, ...columns }, change.now);
  change.record({
    action: 'update',
    kind: 'alert_rule',
    object_id: id,
    object_name: rule.rule_name,
    before: toAlertRule(old, change.now),
    after: rule,
  });
  return rule;
}

/** @throws Refusal `not_found` */
export async function deleteRule(change: Change, entityId: string, id: string): Promise<void> {
  const old = await requireRule(change.tx, change.organizationId, entityId, id);
  await requireEditableId(change, entityId);
  await change.tx.deleteFrom('alert_rules').where('id', '=', id).execute();
  change.record({
    action: 'delete',
    kind: 'alert_rule',
    object_id: id,
    object_name: old.rule_name,
    before: toAlertRule(old, change.now),
  });
}

/** @throws Refusal `not_found` */
export async function requireRule(
  db: Kysely<Tables>,
  organizationId: string,
  entityId: string,
  id: string,
): Promise<AlertRuleRow> {
  const row = await db
    .selectFrom('alert_rules')
    .selectAll()
    .where('id', '=', id)
    .where('entity_id', '=', entityId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('alert rule', id);
  return row;
}

/**
 * One page of the rules of an entity, or of the whole organisation, after the id `after`.
 * @param now unix seconds: whether a mute has ended
 */
export async function pageOfRules(
  db: Kysely<Tables>,
  organizationId: string,
  entityId: string | undefined,
  now: number,
  after: string | undefined,
  limit: number,
): Promise<AlertRule[]> {
  let select = db.selectFrom('alert_rules').selectAll().where('organization_id', '=', organizationId);
  if (entityId !== undefined) select = select.where('entity_id', '=', entityId);
  const rows = await select
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map((row) => toAlertRule(row, now));
}

function columnsOf(document: RuleDocument) {
  const condition = parseCondition(document.condition);
  if (!condition) {
    throw refuseField('body.condition', 'must be like "expr > 100.000000", with one of > >= < <= == != and a number');
  }
  const expression = parseExpression(document.expression, document.primary_indicator);
  if ('problem' in expression) throw refuseField('body.expression', expression.problem);
  requireTimezone(document.recurring_mute_schedule?.timezone);
  return {
    rule_name: document.rule_name,
    primary_indicator: document.primary_indicator,
    pattern_indicator: expression.indicator,
    algorithm: expression.algorithm,
    expression: expression.text,
    condition: formatCondition(condition),
    bad_minutes: badMinutesOf(document),
    eval_window: document.eval_window,
    severity: document.severity,
    is_disabled: document.is_disabled ? 1 : 0,
    mute_until: document.mute_until,
    group_timeseries_notifications: document.group_timeseries_notifications ? 1 : 0,
    properties: JSON.stringify(document.properties ?? {}),
    expression_args: JSON.stringify(document.expression_args ?? {}),
    recurring_mute_schedule: document.recurring_mute_schedule ? JSON.stringify(document.recurring_mute_schedule) : null,
  };
}

function requireTimezone(timezone: string | undefined): void {
  if (timezone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    throw refuseField('body.recurring_mute_schedule.timezone', 'must be a name like Europe/Berlin');
  }
}

function badMinutesOf(document: RuleDocument): number {
  const badMinutes = parseAlertCondition(document.alert_condition);
  if (badMinutes === undefined || badMinutes < 1) {
    throw refuseField('body.alert_condition', 'must be like "count_true(result) >= 5", with 1 or more bad minutes');
  }
  if (badMinutes > document.eval_window) {
    throw refuseField(
      'body.alert_condition',
      `asks for ${badMinutes} bad minutes in an eval_window of ${document.eval_window}: that can never be`,
    );
  }
  return badMinutes;
}

async function requireIndicators(
  change: Change,
  entityId: string,
  rule: Pick<AlertRuleRow, 'primary_indicator' | 'pattern_indicator'>,
): Promise<void> {
  const names = [...new Set([rule.primary_indicator, rule.pattern_indicator].filter((name) => name !== ''))];
  const found = await change.tx
    .selectFrom('kpis')
    .select('name')
    .where('entity_id', '=', entityId)
    .where('name', 'in', names)
    .execute();
  const missing = names.find((name) => !found.some((kpi) => kpi.name === name));
  if (missing === undefined) return;
  const path = missing === rule.primary_indicator ? 'body.primary_indicator' : 'body.expression';
  throw refuseField(path, `the entity has no indicator named "${missing}"; create the KPI first`);
}

async function requireFreeName(
  change: Change,
  entityId: string,
  name: string,
  except: string | undefined,
): Promise<void> {
  const other = await change.tx
    .selectFrom('alert_rules')
    .select('id')
    .where('entity_id', '=', entityId)
    .where('rule_name', '=', name)
    .executeTakeFirst();
  if (!other || other.id === except) return;
  throw new Refusal('duplicate_name', `The entity already has an alert rule named "${name}" (${other.id}).`, {
    details: [{ path: 'body.rule_name', message: 'is taken in this entity' }],
  });
}

function slug(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '');
}

function stateOf(row: AlertRuleRow, now: number): string {
  if (row.is_disabled === 1) return 'disabled';
  return row.mute_until === -1 || row.mute_until > now ? 'muted' : 'active';
}

/** @param now unix seconds */
export function toAlertRule(row: AlertRuleRow, now: number): AlertRule {
  return {
    id: row.id,
    organization_id: row.organization_id,
    entity_id: row.entity_id,
    rule_name: row.rule_name,
    primary_indicator: row.primary_indicator,
    expression: row.expression,
    condition: row.condition,
    alert_condition: formatAlertCondition(row.bad_minutes),
    eval_window: row.eval_window,
    severity: row.severity,
    is_disabled: row.is_disabled === 1,
    mute_until: row.mute_until,
    group_timeseries_notifications: row.group_timeseries_notifications === 1,
    properties: JSON.parse(row.properties),
    expression_args: JSON.parse(row.expression_args),
    recurring_mute_schedule: row.recurring_mute_schedule === null ? null : JSON.parse(row.recurring_mute_schedule),
    state: stateOf(row, now),
    error_since: row.error_since,
    external_ref: row.external_ref,
    algorithm: row.algorithm,
    created_at: row.created_at,
    updated_at: row.updated_at,
    deleted_at: null,
  };
}
