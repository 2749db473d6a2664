/** Alerting: episodes, notifications to deliver, outages of data sources, and which process evaluates what. */
import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Backend } from '../backend.ts';
import { index, inOrganization, required, withTexts } from './columns.ts';

export async function createAlertingTables(db: Kysely<unknown>, backend: Backend): Promise<void> {
  await createEpisodes(db);
  await createNotifications(db, backend);
  await createOutages(db);
  await createEvaluators(db);
}

/** No reference to the rule: an episode outlives it, so that its end can be told. */
async function createEpisodes(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('alert_episodes')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('first_bad_minute', 'bigint', required)
    .addColumn('fired_minute', 'bigint', required)
    .addColumn('resolved_minute', 'bigint')
    .addColumn('value', 'double precision')
    .addColumn('late', 'integer', required) as CreateTableBuilder<string>;
  await withTexts(table, ['entity_id', 'rule_id', 'group_id', 'series_key', 'definition', 'reason', 'facts']).execute();
  await index(db, 'alert_episodes', ['rule_id', 'fired_minute']);
  await index(db, 'alert_episodes', ['organization_id', 'fired_minute']);
  await index(db, 'alert_episodes', ['organization_id', 'resolved_minute']);
  await db.schema
    .createIndex('alert_episodes_open_idx')
    .on('alert_episodes')
    .columns(['entity_id'])
    .where('resolved_minute' as never, 'is', null)
    .execute();
}

async function createNotifications(db: Kysely<unknown>, backend: Backend): Promise<void> {
  const table = backend
    .addSerialId(db.schema.createTable('alert_notifications'))
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('channel_id', 'integer', required)
    .addColumn('sequence', 'integer', required)
    .addColumn('attempts', 'integer', required)
    .addColumn('closed', 'integer', required)
    .addColumn('grouped', 'integer', required)
    .addColumn('minute', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('next_attempt_at', 'bigint', required)
    .addColumn('retry_until', 'bigint', required)
    .addColumn('claimed_until', 'bigint', required)
    .addColumn('finished_at', 'bigint') as CreateTableBuilder<string>;
  const texts = [
    'entity_id',
    'rule_id',
    'unit_id',
    'event',
    'dedup_key',
    'channel_name',
    'channel_type',
    'message',
    'status',
  ];
  await withTexts(table, [...texts, 'claimed_by', 'last_error']).execute();
  await db.schema
    .createIndex('alert_notifications_once_key')
    .unique()
    .on('alert_notifications')
    .columns(['unit_id', 'event', 'sequence', 'channel_id'])
    .execute();
  await db.schema
    .createIndex('alert_notifications_due_idx')
    .on('alert_notifications')
    .columns(['next_attempt_at'])
    .where('status' as never, '=', 'pending')
    .execute();
  await db.schema
    .createIndex('alert_notifications_turn_idx')
    .on('alert_notifications')
    .columns(['rule_id', 'channel_id'])
    .where('status' as never, '=', 'pending')
    .execute();
  await db.schema
    .createIndex('alert_notifications_untold_idx')
    .on('alert_notifications')
    .columns(['rule_id'])
    .where('closed' as never, '=', 0)
    .execute();
  await index(db, 'alert_notifications', ['organization_id', 'id']);
  await index(db, 'alert_notifications', ['rule_id', 'id']);
}

async function createOutages(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('data_source_outages')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organization_id', 'text', inOrganization)
    .addColumn('first_minute', 'bigint', required)
    .addColumn('ended_minute', 'bigint') as CreateTableBuilder<string>;
  await withTexts(table, ['data_source_id', 'data_source_name', 'error', 'opened_by']).execute();
  await db.schema
    .createIndex('data_source_outages_open_key')
    .unique()
    .on('data_source_outages')
    .columns(['organization_id', 'data_source_id'])
    .where('ended_minute' as never, 'is', null)
    .execute();
}

async function createEvaluators(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('evaluators')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('address', 'text', required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('seen_at', 'bigint', required)
    .execute();
  await db.schema
    .createTable('evaluator_shards')
    .addColumn('shard', 'integer', (column) => column.primaryKey())
    .addColumn('owner', 'text', required)
    .addColumn('epoch', 'integer', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('evaluated_minute', 'bigint', required)
    .execute();
}
