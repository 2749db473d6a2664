/** Alert states on the wire: what fires now and what fired before, history and evaluations of a rule. */
import { z } from 'zod';

/** `resolved`: an alert that ended within the window that was asked for. */
export const ALERT_STATES = ['normal', 'pending', 'firing', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** `unknown`: not evaluated yet, or nobody who knows answers. */
export const RULE_HEALTH = ['ok', 'err', 'unknown'] as const;
export type RuleHealth = (typeof RULE_HEALTH)[number];

/** Why an episode ended. */
export const END_REASONS = ['recovered', 'no_data', 'rule_changed', 'rule_disabled', 'rule_deleted'] as const;

/** Null: not known, or not a finite number. */
const value = z.number().nullable();
const labels = z.record(z.string(), z.string());
/** Unix seconds. */
const seconds = z.int();
const id = z.string().min(1).max(256);
const unixSeconds = z.coerce.number().min(0).max(253_402_300_799);

/** What an answer leaves out, and of which alert managers: nobody who knows it answered. Empty: the answer is whole. */
const incomplete = z.array(z.object({ message: z.string(), alert_group_ids: z.array(z.string()) }));
export type Incomplete = z.infer<typeof incomplete>;

const stateList = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(ALERT_STATES)).min(1));

/** Query of `GET /alerts/monitor`. */
export const alertMonitorQuery = z.object({
  /** Unix seconds; default now. For a past moment: what fired then. Pending alerts are known for now alone. */
  timestamp: unixSeconds.optional(),
  /** Seconds before `timestamp` in which an alert that ended counts as resolved. */
  window: z.coerce.number().int().min(1).max(3600).default(900),
  alert_group_id: id.optional(),
  /** RE2 that must match the whole name. */
  rule_name: z.string().max(4096).optional(),
  /** RE2 that must match the whole name. */
  alert_group_name: z.string().max(4096).optional(),
  /** `k=v,k2=v2`: only alerts that have all these labels, and rules with such an alert. */
  label_filters: z.string().max(8192).optional(),
  /** One state or several with commas: only alerts in these states and rules that have one; `normal`: rules without any alert. */
  state: stateList.optional(),
});
export type AlertMonitorQuery = z.input<typeof alertMonitorQuery>;

/** One series of a rule that is pending, firing or resolved. */
export const monitoredAlert = z.object({
  state: z.enum(ALERT_STATES),
  /** The same for the same labels. */
  label_hash: z.string(),
  /** Rendered; `description` and `runbook` of the rule stand beside its annotations. */
  annotations: labels,
  group_labels: labels,
  /** How far the value is beyond the threshold, in percent of the threshold; null when the threshold is 0 or the value unknown. */
  metric_degradation: value,
  current_value: value,
  /** Unix seconds; 0: never. */
  last_fired_at: seconds,
  /** Unix seconds since when it is in its state. */
  since: seconds,
  /** Bad minutes among the last `total_minutes`; null when not known. This member and those below are not in the hosted service's answer. */
  bad_minutes: z.int().nullable().default(null),
  /** 0: not known. */
  total_minutes: z.int().default(0),
  /** The worst bad value when it fired; null while pending. */
  worst_value: value.default(null),
  /** Empty while pending. */
  episode_id: z.string().default(''),
  /** Why it ended; empty unless resolved. */
  reason: z.string().default(''),
});
export type MonitoredAlert = z.infer<typeof monitoredAlert>;

export const monitoredRule = z.object({
  alert_group_id: z.string(),
  alert_group_name: z.string(),
  rule_id: z.string(),
  rule_name: z.string(),
  /** The worst of its alerts. */
  state: z.enum(ALERT_STATES),
  severity: z.string(),
  rule_type: z.enum(['static', 'anomaly']),
  /** Unix seconds; 0: never. */
  last_fired_at: seconds,
  /** Unix seconds since when it is in its state; 0 when it is not known. */
  since: seconds,
  /** Description, runbook and annotations as written, and what the rule evaluates. */
  rule_properties: z.record(z.string(), z.unknown()),
  /** Not in the hosted service's answer, as `last_error` and `incomplete`. */
  health: z.enum(RULE_HEALTH).default('unknown'),
  /** Empty unless `health` is `err`. */
  last_error: z.string().default(''),
  alerts: z.array(monitoredAlert),
});
export type MonitoredRule = z.infer<typeof monitoredRule>;

export const alertMonitor = z.object({
  timestamp: seconds,
  window: z.int(),
  alert_rules: z.array(monitoredRule),
  incomplete: incomplete.default([]),
});
export type AlertMonitor = z.infer<typeof alertMonitor>;

/** Query of `GET /entities/{entity}/alert-rules/{rule}/history`: episodes that overlap `[from, to)`. */
export const alertHistoryQuery = z.object({
  /** Unix seconds; default 30 days before `to`. */
  from: unixSeconds.optional(),
  /** Unix seconds; default now. */
  to: unixSeconds.optional(),
  limit: z.coerce.number().int().min(0).max(1000).default(100),
  /** Id of an episode: those that fired before it. */
  before: id.optional(),
});
export type AlertHistoryQuery = z.input<typeof alertHistoryQuery>;

export const alertEpisode = z.object({
  id: z.string(),
  /** Episodes that fire together share it. */
  group_id: z.string(),
  state: z.enum(['firing', 'resolved']),
  severity: z.string(),
  labels,
  label_hash: z.string(),
  /** Unix seconds of the first bad minute, of the minute in which it fired, and of that in which it ended. */
  first_bad_at: seconds,
  fired_at: seconds,
  resolved_at: seconds.nullable(),
  /** Seconds from firing to the end, or to now. */
  duration: z.int(),
  reason: z.enum(END_REASONS).nullable(),
  /** The worst bad value when it fired. */
  value,
  /** It was found after its minute had passed, since samples or evaluations came late. */
  late: z.boolean(),
  /** A pattern: what it saw when it fired. */
  explanation: z.unknown().optional(),
});
export type AlertEpisode = z.infer<typeof alertEpisode>;

/** Newest first. */
export const alertHistory = z.object({
  from: seconds,
  to: seconds,
  /** Episodes in the range, not only in this page, and for how many seconds of the range one of them at least was firing. */
  total: z.int(),
  firing_seconds: z.int(),
  /** Unix seconds of the last firing, whatever the range; null: never. */
  last_fired_at: seconds.nullable(),
  episodes: z.array(alertEpisode),
  /** The `before` of the next page; null: this is the last. */
  next: z.string().nullable(),
});
export type AlertHistory = z.infer<typeof alertHistory>;

export const ruleEvaluation = z.object({
  /** Unix seconds with fraction: when it was asked. */
  at: z.number(),
  /** Unix seconds of the minute that was evaluated, and of the first of those that were evaluated late with it. */
  minute: seconds,
  first_minute: seconds,
  /** First and last step that was asked for, unix seconds. */
  start: seconds,
  end: seconds,
  /** Seconds until the data source had answered and the rule was judged. */
  duration: z.number(),
  series: z.int(),
  samples: z.int(),
  firing: z.int(),
  pending: z.int(),
  /** Null when it went well. */
  error: z.string().nullable(),
  warnings: z.array(z.string()),
  /** Asks the data source the same, from a shell; secrets are left out. */
  curl: z.string(),
});
export type RuleEvaluation = z.infer<typeof ruleEvaluation>;

/** `GET /entities/{entity}/alert-rules/{rule}/evaluations`: the last 20 of the process that evaluates the rule, newest first. */
export const ruleEvaluations = z.object({
  /** As it goes to the data source; empty when it is not known. */
  query: z.string(),
  data_source: z.string(),
  evaluations: z.array(ruleEvaluation),
  /** Milliseconds that queries of this rule took, of all that its data source was asked in the same process; null when not known. */
  source_share: z.number().nullable(),
  /** Rules that share each answer with it, itself counted. */
  shared_by: z.int(),
  incomplete,
});
export type RuleEvaluations = z.infer<typeof ruleEvaluations>;

/** Query of `GET /entities/{entity}/alert-rules/{rule}/state`. */
export const ruleStateQuery = z.object({
  state: z.enum(['normal', 'pending', 'firing']).optional(),
  /** Series at most: first those that fire, then pending ones. */
  limit: z.coerce.number().int().min(0).max(10_000).default(1000),
});
export type RuleStateQuery = z.input<typeof ruleStateQuery>;

export const SERIES_STATES = ['normal', 'pending', 'firing'] as const;

export const ruleSeries = z.object({
  labels,
  label_hash: z.string(),
  state: z.enum(SERIES_STATES),
  /** Of the last minute; `unknown` when only the store was asked. */
  minute: z.enum(['good', 'bad', 'missing', 'unknown']),
  bad_minutes: z.int().nullable(),
  /** The newest value of the window. */
  value,
  /** Unix seconds: pending since the first bad minute, firing since it fired; null when normal. */
  since: seconds.nullable(),
  episode_id: z.string().nullable(),
});
export type RuleSeries = z.infer<typeof ruleSeries>;

const counts = z.object({ normal: z.int(), pending: z.int(), firing: z.int() });
export type SeriesCounts = z.infer<typeof counts>;

export const ruleStateAnswer = z.object({
  state: z.enum(SERIES_STATES),
  health: z.enum(RULE_HEALTH),
  last_error: z.string(),
  /** Unix seconds since when it cannot be evaluated; null: it can. */
  error_since: seconds.nullable(),
  /** Unix seconds of the last minute that was evaluated; null when not known. */
  last_minute: seconds.nullable(),
  /** Unix seconds since when its query has had no series; null: it has some. */
  empty_since: seconds.nullable(),
  bad_minutes: z.int(),
  total_minutes: z.int(),
  /** Minutes in a row that it must not be met before it resolves; null when not known. */
  recover_minutes: z.int().nullable(),
  query: z.string(),
  data_source: z.string(),
  counts,
  /** All in the state that was asked for, of which `series` has the first. */
  total: z.int(),
  series: z.array(ruleSeries),
  incomplete,
});
export type RuleStateAnswer = z.infer<typeof ruleStateAnswer>;

/** `GET /alert-states/summary`: how many rules and series of each alert manager are in which state. */
export const alertSummary = z.object({
  alert_groups: z.array(
    z.object({
      alert_group_id: z.string(),
      alert_group_name: z.string(),
      state: z.enum(SERIES_STATES),
      /** Rules by their state; `disabled` ones and those with errors (`err`, counted by state as well) apart. */
      rules: counts.extend({ disabled: z.int(), err: z.int() }),
      series: counts,
      /** Unix seconds: since when the longest alert fires; null when none does. */
      firing_since: seconds.nullable(),
    }),
  ),
  rules: counts.extend({ disabled: z.int(), err: z.int() }),
  series: counts,
  /** Data sources that do not answer. */
  outages: z.array(
    z.object({ data_source_id: z.string(), data_source_name: z.string(), since: seconds, error: z.string() }),
  ),
  incomplete,
});
export type AlertSummary = z.infer<typeof alertSummary>;
