/** Alert rules on the wire. */
import { z } from 'zod';

const weekday = z.enum(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']);
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

export const recurringMuteSchedule = z.object({
  enabled: z.boolean(),
  timezone: z.string().max(64),
  windows: z.array(z.object({ weekdays: z.array(weekday), start_time: clock, end_time: clock })).max(20),
});

/** Indicator name to the KPI it is and the values of its query's variables. */
export const expressionArgs = z.record(
  z.string(),
  z.object({ id: z.string().optional(), variables: z.record(z.string(), z.string()).nullish() }),
);

export const ruleProperties = z.object({
  description: z.string().max(65_536).optional(),
  runbook: z.object({ link: z.string().max(65_536).optional() }).nullish(),
  annotations: z.record(z.string().max(1024), z.string().max(65_536)).nullish(),
});

/** Body of `POST` and `PUT /entities/{entity}/alert-rules[/{rule}]`; a PUT carries the whole document. */
export const alertRuleDocument = z.object({
  rule_name: z.string().min(1).max(1024),
  primary_indicator: z.string().min(1).max(1024),
  /** `macro(tolerance, indicator)` for a pattern rule, else the indicator's name. */
  expression: z.string().max(65_536).optional(),
  /** `expr > 100.000000`; operators `>` `>=` `<` `<=` `==` `!=`. */
  condition: z.string().min(1).max(256),
  /** `count_true(result) >= 5`: bad minutes. */
  alert_condition: z.string().min(1).max(256),
  /** Total minutes. */
  eval_window: z.int().min(1).max(1440),
  severity: z.enum(['breach', 'threat']).default('breach'),
  is_disabled: z.boolean().default(false),
  /** 0 not muted, -1 for ever, else unix seconds. */
  mute_until: z.int().min(-1).default(0),
  group_timeseries_notifications: z.boolean().default(true),
  properties: ruleProperties.nullish(),
  expression_args: expressionArgs.nullish(),
  recurring_mute_schedule: recurringMuteSchedule.nullish(),
  notification_channels: z.array(z.unknown()).nullish(),
});
export type AlertRuleDocument = z.input<typeof alertRuleDocument>;

export const ALGORITHMS = [
  'static_threshold',
  'low_spike',
  'high_spike',
  'dec_changepoint',
  'inc_changepoint',
  'inc_trend',
  'dec_trend',
] as const;

export const alertRule = z.object({
  id: z.string(),
  organization_id: z.string(),
  entity_id: z.string(),
  rule_name: z.string(),
  primary_indicator: z.string(),
  expression: z.string(),
  condition: z.string(),
  alert_condition: z.string(),
  eval_window: z.int(),
  severity: z.enum(['breach', 'threat']),
  is_disabled: z.boolean(),
  mute_until: z.int(),
  group_timeseries_notifications: z.boolean(),
  properties: ruleProperties,
  expression_args: expressionArgs,
  recurring_mute_schedule: recurringMuteSchedule.nullish(),
  /** `active`, `inactive`, `muted` or `disabled`. */
  state: z.string(),
  /** Unix seconds since when its evaluation fails, or null. */
  error_since: z.int().nullable(),
  external_ref: z.string(),
  algorithm: z.string(),
  created_at: z.int(),
  updated_at: z.int(),
  deleted_at: z.int().nullable(),
});
export type AlertRule = z.infer<typeof alertRule>;

/** `GET /entities/{entity}/alert-rules`. */
export const entityAlertRules = z.object({ rules: z.array(alertRule), snoozed_until: z.int() });
/** `GET /alert-rules`: a bare array over the whole organisation. */
export const alertRuleList = z.array(alertRule);
