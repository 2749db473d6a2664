/**
 * What a model file declares, with every default filled in.
 * Field names are those of the YAML: one word per thing in the file, the types, the API and the documentation.
 */
import type { Source } from './diagnostic.ts';

export const SEVERITIES = ['breach', 'threat'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const CHANNEL_TYPES = ['slack', 'pagerduty', 'opsgenie'] as const;
/** Channel types that a model may name, in the wire's lower case. */
export type ChannelType = (typeof CHANNEL_TYPES)[number];

export const THRESHOLD_OPERATORS = [
  'greater_than',
  'greater_than_eq',
  'less_than',
  'less_than_eq',
  'equal_to',
  'not_equal',
] as const;
export type ThresholdOperator = (typeof THRESHOLD_OPERATORS)[number];

/** A minute is bad when `value <operator> threshold.value`. */
export interface Threshold {
  readonly operator: ThresholdOperator;
  readonly value: number;
}

export const MACROS = [
  'low_spike',
  'high_spike',
  'decreasing_changepoint',
  'increasing_changepoint',
  'increasing_trend',
  'decreasing_trend',
] as const;
export type Macro = (typeof MACROS)[number];

/** `macro(tolerance, indicator)`: the expression of a pattern rule. `tolerance` is in [0, 10]. */
export interface PatternExpression {
  readonly macro: Macro;
  readonly tolerance: number;
  readonly indicator: string;
}

export interface Indicator {
  readonly name: string;
  readonly query: string;
  readonly unit: string;
  readonly description: string;
  /** Empty: the entity's data source. */
  readonly data_source: string;
  readonly source?: Source;
}

export interface AlertRule {
  readonly name: string;
  readonly indicator: string;
  /** Absent for a static rule. */
  readonly pattern?: PatternExpression;
  readonly threshold: Threshold;
  readonly bad_minutes: number;
  readonly total_minutes: number;
  readonly severity: Severity;
  readonly description: string;
  readonly group_timeseries_notifications: boolean;
  readonly is_disabled: boolean;
  readonly mute: boolean;
  /** Variable of the indicator's query to value. */
  readonly label_filter: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Link in the alert payload; empty when there is none. */
  readonly runbook: string;
  readonly source?: Source;
}

/** One channel attached to an entity for one severity. A channel without `severity` in the YAML becomes two of these. */
export interface ChannelBinding {
  readonly name: string;
  /** Null when the YAML names the channel by a bare string. */
  readonly type: ChannelType | null;
  readonly severity: Severity;
  readonly mention: readonly string[];
  readonly source?: Source;
}

export interface AdhocFilter {
  readonly data_source: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface Link {
  readonly name: string;
  readonly url: string;
}

/** An alert manager. Optional texts are empty strings when the YAML leaves them out. */
export interface Entity {
  readonly name: string;
  readonly type: string;
  readonly external_ref: string;
  readonly description: string;
  readonly data_source: string;
  readonly data_source_id: string;
  readonly entity_class: string;
  readonly namespace: string;
  readonly workspace: string;
  readonly tier: string;
  readonly team: string;
  readonly ui_readonly: boolean;
  readonly tags: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly links: readonly Link[];
  readonly adhoc_filter: AdhocFilter | null;
  readonly indicators: readonly Indicator[];
  readonly alert_rules: readonly AlertRule[];
  readonly notification_channels: readonly ChannelBinding[];
  readonly source?: Source;
}

/**
 * A rename the user has confirmed: the object at `from` keeps its id and its history under the address `to`.
 * Addresses: `external_ref`, `external_ref/indicators/NAME`, `external_ref/alert_rules/NAME`.
 */
export interface Moved {
  readonly from: string;
  readonly to: string;
  readonly source?: Source;
}

export interface Model {
  readonly entities: readonly Entity[];
  readonly moved: readonly Moved[];
}

/** Values that stand for an absent field, in the model and on the wire alike. */
export const DEFAULTS = {
  entity_class: 'alert-manager',
  team: 'default',
  unit: 'count',
  severity: 'breach',
  group_timeseries_notifications: true,
} as const;
