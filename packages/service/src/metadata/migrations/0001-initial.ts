/** First version of the metadata store: organisations, tokens, alert managers, channels, data sources, audit trail. */
import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Backend } from '../backend.ts';
import { type Column, index, inOrganization, required, withTexts } from './columns.ts';

export async function createInitialTables(db: Kysely<unknown>, backend: Backend): Promise<void> {
  await createOrganizations(db);
  await createEntities(db);
  await createKpis(db);
  await createAlertRules(db);
  await createNotificationSettings(db, backend);
  await createDataSources(db);
  await createAuditEntries(db, backend);
  await db.schema
    .createTable('installation')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', required)
    .execute();
}

async function createOrganizations(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('organizations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('slug', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', required)
    .addColumn('revision', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .execute();
  await db.schema
    .createTable('refresh_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('name', 'text', required)
    .addColumn('scope', 'text', required)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', required)
    .addColumn('last_used_at', 'bigint')
    .addColumn('revoked_at', 'bigint')
    .execute();
}

const inEntity: Column = (column) => column.notNull().references('entities.id').onDelete('cascade');

function withTimes<T extends string>(table: CreateTableBuilder<T>): CreateTableBuilder<T> {
  return table
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required) as CreateTableBuilder<T>;
}

async function createEntities(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('entities')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('ui_readonly', 'integer', required)
    .addColumn('snoozed_until', 'bigint', required) as CreateTableBuilder<string>;
  const texts = ['name', 'type', 'external_ref', 'description', 'data_source', 'data_source_id', 'namespace'];
  await withTimes(
    withTexts(table, [...texts, 'tier', 'workspace', 'entity_class', 'metadata_id', 'metadata']),
  ).execute();
  await unique(db, 'entities', ['organization_id', 'external_ref']);
  await index(db, 'entities', ['organization_id', 'id']);
}

async function createKpis(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('kpis')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('entity_id', 'text', inEntity) as CreateTableBuilder<string>;
  const texts = ['name', 'query', 'source', 'unit', 'data_source', 'kpi_type', 'description'];
  await withTimes(withTexts(table, texts)).execute();
  await unique(db, 'kpis', ['entity_id', 'name']);
  await index(db, 'kpis', ['organization_id', 'id']);
}

async function createAlertRules(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('alert_rules')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('entity_id', 'text', inEntity)
    .addColumn('bad_minutes', 'integer', required)
    .addColumn('eval_window', 'integer', required)
    .addColumn('is_disabled', 'integer', required)
    .addColumn('mute_until', 'bigint', required)
    .addColumn('group_timeseries_notifications', 'integer', required)
    .addColumn('recurring_mute_schedule', 'text')
    .addColumn('error_since', 'bigint') as CreateTableBuilder<string>;
  const names = ['rule_name', 'primary_indicator', 'pattern_indicator', 'algorithm', 'expression', 'condition'];
  await withTimes(withTexts(table, [...names, 'severity', 'properties', 'expression_args', 'external_ref'])).execute();
  await unique(db, 'alert_rules', ['entity_id', 'rule_name']);
  await index(db, 'alert_rules', ['organization_id', 'id']);
}

async function createNotificationSettings(db: Kysely<unknown>, backend: Backend): Promise<void> {
  const table = backend
    .addSerialId(db.schema.createTable('notification_settings'))
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('parent_id', 'integer', (column) => column.references('notification_settings.id').onDelete('cascade'))
    .addColumn('entity_id', 'text', (column) => column.references('entities.id').onDelete('cascade'))
    .addColumn('send_resolved', 'integer', required)
    .addColumn('snooze_until', 'bigint', required) as CreateTableBuilder<string>;
  const texts = ['severity', 'mention', 'name', 'type', 'destination', 'property'];
  await withTimes(withTexts(table, texts)).execute();
  await db.schema
    .createIndex('notification_settings_channel')
    .unique()
    .on('notification_settings')
    .columns(['organization_id', 'name', 'type'])
    .where('parent_id' as never, 'is', null)
    .execute();
  await db.schema
    .createIndex('notification_settings_attachment')
    .unique()
    .on('notification_settings')
    .columns(['parent_id', 'entity_id', 'severity'])
    .where('parent_id' as never, 'is not', null)
    .execute();
  await index(db, 'notification_settings', ['entity_id']);
}

async function createDataSources(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('data_sources')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('is_default', 'integer', required) as CreateTableBuilder<string>;
  await withTimes(withTexts(table, ['name', 'url', 'properties', 'secrets'])).execute();
  await unique(db, 'data_sources', ['organization_id', 'name']);
}

async function createAuditEntries(db: Kysely<unknown>, backend: Backend): Promise<void> {
  const table = backend
    .addSerialId(db.schema.createTable('audit_entries'))
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('at', 'bigint', required)
    .addColumn('revision', 'bigint', required)
    .addColumn('before', 'text')
    .addColumn('after', 'text') as CreateTableBuilder<string>;
  await withTexts(table, ['actor', 'action', 'kind', 'object_id', 'object_name']).execute();
  await index(db, 'audit_entries', ['organization_id', 'id']);
  await index(db, 'audit_entries', ['organization_id', 'object_id', 'id']);
}

function unique(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  return db.schema
    .createIndex(`${table}_${columns.join('_')}_key`)
    .unique()
    .on(table)
    .columns(columns)
    .execute();
}
