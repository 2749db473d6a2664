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
}

export type RefreshTokenRow = Selectable<RefreshTokenTable>;
export type IntakeCredentialRow = Selectable<IntakeCredentialTable>;
export type EntityRow = Selectable<EntityTable>;
export type KpiRow = Selectable<KpiTable>;
export type AlertRuleRow = Selectable<AlertRuleTable>;
export type NotificationSettingRow = Selectable<NotificationSettingTable>;
export type DataSourceRow = Selectable<DataSourceTable>;
export type AuditEntryRow = Selectable<AuditEntryTable>;
