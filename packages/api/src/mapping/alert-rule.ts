/** Alert rules between the model and the wire. */
import { type AlertRule, DEFAULTS, type Severity } from '@obsiac/model';
import type { AlertRuleDocument } from '../alert-rules.ts';
import type { ReadAlertRule } from '../client/answers.ts';
import { formatAlertCondition, formatCondition, parseAlertCondition, parseCondition } from './condition.ts';
import { formatExpression, parseExpression } from './expression.ts';

/** `mute_until` of a rule that is muted for good. */
const MUTED_FOREVER = -1;

/** Variables of the primary indicator's query, beside the ids of the KPIs that the expression uses. */
function expressionArgs(
  rule: AlertRule,
  kpiId: (indicator: string) => string | undefined,
): AlertRuleDocument['expression_args'] {
  const idOf = (indicator: string): { id?: string } => {
    const id = kpiId(indicator);
    return id === undefined ? {} : { id };
  };
  const other = rule.pattern === undefined || rule.pattern.indicator === rule.indicator ? [] : [rule.pattern.indicator];
  return Object.fromEntries([
    [rule.indicator, { ...idOf(rule.indicator), variables: { ...rule.label_filter } }],
    ...other.map((indicator) => [indicator, { ...idOf(indicator), variables: {} }] as const),
  ]);
}

/**
 * Body of `POST` and `PUT` of a rule. `existing` is what the service holds: a snooze until a time and a recurring mute, which a
 * model does not declare, are carried over, since the PUT replaces the whole document.
 */
export function alertRuleToWire(
  rule: AlertRule,
  kpiId: (indicator: string) => string | undefined,
  existing?: ReadAlertRule,
): AlertRuleDocument {
  const snoozedUntil = Math.max(0, existing?.mute_until ?? 0);
  const schedule = existing?.recurring_mute_schedule as AlertRuleDocument['recurring_mute_schedule'];
  return {
    rule_name: rule.name,
    primary_indicator: rule.indicator,
    expression: formatExpression(rule),
    condition: formatCondition(rule.threshold),
    alert_condition: formatAlertCondition(rule.bad_minutes),
    eval_window: rule.total_minutes,
    severity: rule.severity,
    is_disabled: rule.is_disabled,
    mute_until: rule.mute ? MUTED_FOREVER : snoozedUntil,
    group_timeseries_notifications: rule.group_timeseries_notifications,
    properties: {
      description: rule.description,
      annotations: { ...rule.annotations },
      ...(rule.runbook === '' ? {} : { runbook: { link: rule.runbook } }),
    },
    expression_args: expressionArgs(rule, kpiId),
    ...(schedule == null ? {} : { recurring_mute_schedule: schedule }),
  };
}

/**
 * A rule as the model has it. A snooze until a time (`mute_until` above 0) is not `mute`: somebody's passing silence is
 * neither declared nor drift. What the wire's texts say in no form known here (a condition written by hand) becomes a
 * threshold or window that no model can declare, so that a plan shows it as different instead of hiding it.
 */
export function alertRuleFromWire(rule: ReadAlertRule): AlertRule {
  const indicator = rule.primary_indicator || rule.expression || '';
  const pattern = parseExpression(rule.expression ?? '', indicator);
  const { properties } = rule;
  return {
    name: rule.rule_name,
    indicator,
    ...(pattern && { pattern }),
    threshold: parseCondition(rule.condition ?? '') ?? { operator: 'not_equal', value: Number.NaN },
    bad_minutes: parseAlertCondition(rule.alert_condition ?? '') ?? 0,
    total_minutes: rule.eval_window ?? 0,
    severity: (rule.severity || DEFAULTS.severity) as Severity,
    description: properties?.description ?? '',
    group_timeseries_notifications: rule.group_timeseries_notifications ?? DEFAULTS.group_timeseries_notifications,
    is_disabled: rule.is_disabled ?? false,
    mute: rule.mute_until === MUTED_FOREVER,
    label_filter: rule.expression_args?.[indicator]?.variables ?? {},
    annotations: properties?.annotations ?? {},
    runbook: properties?.runbook?.link ?? '',
  };
}
