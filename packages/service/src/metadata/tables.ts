/** The tables of the metadata store as Kysely sees them; the same in SQLite and PostgreSQL. */
import type { Scope } from '@obsiac/api';
import type { Generated, Selectable } from 'kysely';

/** 0 or 1: SQLite has no other truth, and one store should not differ from the other. */
type Flag = number;
/** Unix seconds. */
type Seconds = number;
/** JSON as text. */
type Json = string;

interface OrganizationTable {
  id: string;
  slug: string;
  name: string;
  revision: number;
  created_at: Seconds;
}

interface RefreshTokenTable {
  id: string;
  organization_id: string;
  name: string;
  scope: Scope;
  /** SHA-256 of the token, in hex: the token itself is nowhere. */
  hash: string;
  created_at: Seconds;
  last_used_at: Seconds | null;
  revoked_at: Seconds | null;
}

/** User name and password by which senders of logs prove who they are. */
interface IntakeCredentialTable {
  id: string;
  organization_id: string;
  username: string;
  /** SHA-256 of the password, which has 256 random bits, in hex. */
  hash: string;
  created_at: Seconds;
  last_used_at: Seconds | null;
  revoked_at: Seconds | null;
}

interface EntityTable {
  id: string;
  organization_id: string;
  name: string;
  type: string;
  external_ref: string;
  description: string;
  data_source: string;
  data_source_id: string;
  namespace: string;
  tier: string;
  workspace: string;
  entity_class: string;
  ui_readonly: Flag;
  /** Whole-group mute; 0 when there is none. */
  snoozed_until: Seconds;
  metadata_id: string;
  metadata: Json;
  created_at: Seconds;
  updated_at: Seconds;
}

interface KpiTable {
  id: string;
  organization_id: string;
  entity_id: string;
  name: string;
  query: string;
  source: string;
  unit: string;
  data_source: string;
  kpi_type: string;
  description: string;
  created_at: Seconds;
  updated_at: Seconds;
}

interface AlertRuleTable {
  id: string;
  organization_id: string;
  entity_id: string;
  rule_name: string;
  primary_indicator: string;
  /** The indicator named inside a pattern expression; empty for a static rule. */
  pattern_indicator: string;
  algorithm: string;
  expression: string;
  condition: string;
  bad_minutes: number;
  eval_window: number;
  severity: 'breach' | 'threat';
  is_disabled: Flag;
  mute_until: number;
  group_timeseries_notifications: Flag;
  properties: Json;
  expression_args: Json;
  recurring_mute_schedule: Json | null;
  external_ref: string;
  error_since: Seconds | null;
  created_at: Seconds;
  updated_at: Seconds;
}

/** A channel (`parent_id` null), or its attachment to an entity for a severity. */
interface NotificationSettingTable {
  id: Generated<number>;
  organization_id: string;
  parent_id: number | null;
  entity_id: string | null;
  severity: string;
  mention: Json;
  name: string;
  type: string;
  /** Sealed by the vault; empty on attachments. */
  destination: string;
  /** Sealed JSON: it may hold webhook headers with credentials; empty on attachments. */
  property: string;
  send_resolved: Flag;
  snooze_until: Seconds;
  created_at: Seconds;
  updated_at: Seconds;
}

interface DataSourceTable {
  id: string;
  organization_id: string;
  name: string;
  url: string;
  is_default: Flag;
  /** What may be shown. */
  properties: Json;
  /** Sealed JSON: password, bearer token, header values. */
  secrets: string;
  created_at: Seconds;
  updated_at: Seconds;
}

interface AuditEntryTable {
  id: Generated<number>;
  organization_id: string;
  at: Seconds;
  actor: string;
  action: string;
  kind: string;
  object_id: string;
  object_name: string;
  revision: number;
  before: Json | null;
  after: Json | null;
}

/** Minutes since 1970. */
type Minute = number;
/** Unix milliseconds. */
type Milliseconds = number;

/** One continuous firing of one series of one rule. */
interface AlertEpisodeTable {
  /** Made from rule, series and first bad minute: the same whichever process finds it. */
  id: string;
  organization_id: string;
  entity_id: string;
  rule_id: string;
  group_id: string;
  series_key: string;
  definition: string;
  first_bad_minute: Minute;
  fired_minute: Minute;
  resolved_minute: Minute | null;
  /** Empty while it fires. */
  reason: string;
  value: number | null;
  late: Flag;
  /** What is needed to speak of it when its rule is gone: labels, names, explanation of a pattern. */
  facts: Json;
}

/** A message to one channel, until it is delivered, and afterwards as a record of it. */
interface AlertNotificationTable {
  id: Generated<number>;
  organization_id: string;
  /** Empty for an outage. */
  entity_id: string;
  /** The rule, or the data source of an outage. */
  rule_id: string;
  /** The episode, the group of episodes, or the outage that it tells of. */
  unit_id: string;
  event: 'trigger' | 'repeat' | 'resolve' | 'test';
  /** Counts the repeats; 0 for other events. */
  sequence: number;
  channel_id: number;
  channel_name: string;
  channel_type: string;
  dedup_key: string;
  message: Json;
  /** The minute that was evaluated. */
  minute: Minute;
  /** 1: `unit_id` is a group of episodes. */
  grouped: Flag;
  /** 0 on a trigger whose end has not been told to its channel; 1 on everything else. */
  closed: Flag;
  /** `suppressed`: the end of what a channel was told, which it does not hear of; `last_error` says why. */
  status: 'pending' | 'delivered' | 'dead' | 'suppressed';
  attempts: number;
  created_at: Milliseconds;
  next_attempt_at: Milliseconds;
  /** An attempt that fails after this is the last. */
  retry_until: Milliseconds;
  claimed_by: string;
  claimed_until: Milliseconds;
  finished_at: Milliseconds | null;
  last_error: string;
}

interface DataSourceOutageTable {
  id: string;
  organization_id: string;
  data_source_id: string;
  data_source_name: string;
  first_minute: Minute;
  ended_minute: Minute | null;
  error: string;
  opened_by: string;
}

/** A process that evaluates rules. */
interface EvaluatorTable {
  id: string;
  /** Where its API answers, for what only it knows; empty when it has none. */
  address: string;
  started_at: Milliseconds;
  seen_at: Milliseconds;
}

/** Rules are dealt out by shards: entities whose ids hash alike. A shard has one owner; each new owner has a greater epoch. */
interface EvaluatorShardTable {
  shard: number;
  owner: string;
  epoch: number;
  expires_at: Milliseconds;
  evaluated_minute: Minute;
}

/** Facts about the database itself, for example which key seals its secrets. */
interface InstallationTable {
  name: string;
  value: string;
}

export interface Tables {
  organizations: OrganizationTable;
  refresh_tokens: RefreshTokenTable;
  intake_credentials: IntakeCredentialTable;
  entities: EntityTable;
  kpis: KpiTable;
  alert_rules: AlertRuleTable;
  notification_settings: NotificationSettingTable;
  data_sources: DataSourceTable;
  audit_entries: AuditEntryTable;
  installation: InstallationTable;
  alert_episodes: AlertEpisodeTable;
  alert_notifications: AlertNotificationTable;
  data_source_outages: DataSourceOutageTable;
  evaluators: EvaluatorTable;
  evaluator_shards: EvaluatorShardTable;
}

export type RefreshTokenRow = Selectable<RefreshTokenTable>;
export type IntakeCredentialRow = Selectable<IntakeCredentialTable>;
export type EntityRow = Selectable<EntityTable>;
export type KpiRow = Selectable<KpiTable>;
export type AlertRuleRow = Selectable<AlertRuleTable>;
export type NotificationSettingRow = Selectable<NotificationSettingTable>;
export type DataSourceRow = Selectable<DataSourceTable>;
export type AuditEntryRow = Selectable<AuditEntryTable>;
export type AlertEpisodeRow = Selectable<AlertEpisodeTable>;
export type AlertNotificationRow = Selectable<AlertNotificationTable>;
export type DataSourceOutageRow = Selectable<DataSourceOutageTable>;
