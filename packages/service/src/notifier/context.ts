/** What the evaluator hands to the notifier: all that a message may tell of one rule at one minute. */
import type { AlertEvent, Episode } from '@obsiac/model';
import type { AlertRuleRow, DataSourceOutageRow, EntityRow, KpiRow } from '../metadata/tables.ts';

/** A channel that is attached to an entity for a severity. */
export interface ChannelBinding {
  /** Of the organisation's channel, not of the attachment. */
  readonly channelId: number;
  readonly entityId: string;
  readonly severity: 'breach' | 'threat';
  readonly name: string;
  readonly type: string;
  readonly sendResolved: boolean;
  /** Unix seconds; 0 when it is not snoozed. */
  readonly snoozeUntil: number;
  /** Who is mentioned. */
  readonly mention: readonly string[];
}

/** An episode that has not ended after the minute. */
export interface OpenEpisode {
  readonly episode: Episode;
  /** The series' newest value; NaN when it has none. */
  readonly value: number;
  /** A pattern in a sentence: baseline, band, score, since when. Empty for a static rule. */
  readonly explanation: string;
}

/** The rule as it stands in the store. */
export interface RuleDefinition {
  readonly rule: AlertRuleRow;
  readonly entity: EntityRow;
  readonly indicator: KpiRow;
  /** As it was sent to the data source. */
  readonly query: string;
  /** The name of the data source. */
  readonly dataSource: string;
  /** All of the entity's, whatever their severity; see `listBindings`. */
  readonly bindings: readonly ChannelBinding[];
}

export interface OrganizationName {
  readonly id: string;
  readonly slug: string;
}

export interface NotifyContext {
  readonly organization: OrganizationName;
  readonly ruleId: string;
  readonly entityId: string;
  /** Undefined when the rule or its entity is gone: then only ends of what was told before are told. */
  readonly definition: RuleDefinition | undefined;
  /** Every open episode of the rule after the minute. */
  readonly open: readonly OpenEpisode[];
  /** What fired and ended at the minute; also of the minutes before it, when they were evaluated together. */
  readonly events: readonly AlertEvent[];
  /** Patterns by episode id, for those in `events` that are not in `open`. */
  readonly explanations?: ReadonlyMap<string, string>;
  /** Address of the dashboard, without a slash at its end. */
  readonly publicUrl: string;
}

/** The minute that was evaluated, since 1970, and the clock, in unix milliseconds. */
export interface NotifyMoment {
  readonly minute: number;
  readonly nowMs: number;
}

export interface OutageContext {
  readonly organization: OrganizationName;
  /** As it is in the store; the end is told once `ended_minute` is set. */
  readonly outage: DataSourceOutageRow;
  readonly publicUrl: string;
}
