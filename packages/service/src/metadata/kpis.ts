/** Indicators (KPIs on the wire) in the store. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { inlineIndicator, Kpi, KpiDocument } from '@obsiac/api';
import { DEFAULTS } from '@obsiac/model';
import type { Kysely } from 'kysely';
import type { z } from 'zod';
import { notFound, Refusal } from '../refusal.ts';
import { batchesOf } from './batches.ts';
import { newId } from './ids.ts';
import { renameIndicatorInRules } from './rule-references.ts';
import type { Change } from './store.ts';
import type { KpiRow, Tables } from './tables.ts';
import { requireEditableId } from './ui-readonly.ts';

const DEFAULT_SOURCE = 'levitate';
const DEFAULT_TYPE = 'custom';

/** The entity must exist: callers check. @throws Refusal `duplicate_name` */
export async function createKpi(change: Change, entityId: string, document: KpiDocument): Promise<Kpi> {
  await requireEditableId(change, entityId);
  await requireFreeName(change, entityId, document.name, undefined);
  const row = newRow(change, entityId, document);
  await change.tx.insertInto('kpis').values(row).execute();
  const kpi = toKpi(row);
  recordCreated(change, kpi);
  return kpi;
}

function newRow(change: Change, entityId: string, document: KpiDocument): KpiRow {
  return {
    id: newId(),
    organization_id: change.organizationId,
    entity_id: entityId,
    ...columnsOf(document),
    created_at: change.now,
    updated_at: change.now,
  };
}

function recordCreated(change: Change, kpi: Kpi): void {
  change.record({ action: 'create', kind: 'kpi', object_id: kpi.id, object_name: kpi.name, after: kpi });
}

/** Indicators that came inside the document of a new entity. @throws Refusal `duplicate_name` */
export async function insertIndicators(
  change: Change,
  entityId: string,
  indicators: readonly z.infer<typeof inlineIndicator>[],
): Promise<void> {
  const names = new Set<string>();
  for (const [index, { name }] of indicators.entries()) {
    if (names.has(name)) throw duplicate(`There are two indicators named "${name}".`, `body.indicators.${index}.name`);
    names.add(name);
  }
  const rows = indicators.map(({ name, query, unit }) =>
    newRow(change, entityId, { name, definition: unit === undefined ? { query } : { query, unit } }),
  );
  for (const batch of batchesOf(rows)) {
    await change.tx.insertInto('kpis').values(batch).execute();
    for (const row of batch) recordCreated(change, toKpi(row));
    if (rows.length > batch.length) await breathe();
  }
}

/** Replaces the indicator; when its name changes, the rules that name it follow. @throws Refusal `not_found`, `duplicate_name` */
export async function updateKpi(change: Change, entityId: string, id: string, document: KpiDocument): Promise<Kpi> {
  const old = await requireKpi(change.tx, change.organizationId, entityId, id);
  await requireEditableId(change, entityId);
  const columns = { ...columnsOf(document), updated_at: change.now };
  if (columns.name !== old.name) {
    await requireFreeName(change, entityId, columns.name, id);
    await renameIndicatorInRules(change, entityId, old.name, columns.name);
  }
  await change.tx.updateTable('kpis').set(columns).where('id', '=', id).execute();
  const kpi = toKpi({ ...old, ...columns });
  change.record({
    action: 'update',
    kind: 'kpi',
    object_id: id,
    object_name: kpi.name,
    before: toKpi(old),
    after: kpi,
  });
  return kpi;
}

/** @throws Refusal `not_found`, `in_use` when a rule of the entity needs it */
export async function deleteKpi(change: Change, entityId: string, id: string): Promise<void> {
  const old = await requireKpi(change.tx, change.organizationId, entityId, id);
  await requireEditableId(change, entityId);
  const rule = await change.tx
    .selectFrom('alert_rules')
    .select(['id', 'rule_name'])
    .where('entity_id', '=', entityId)
    .where((row) => row.or([row('primary_indicator', '=', old.name), row('pattern_indicator', '=', old.name)]))
    .executeTakeFirst();
  if (rule) {
    throw new Refusal(
      'in_use',
      `The indicator "${old.name}" is used by the alert rule "${rule.rule_name}" (${rule.id}); delete or change the rule first.`,
    );
  }
  await change.tx.deleteFrom('kpis').where('id', '=', id).execute();
  change.record({ action: 'delete', kind: 'kpi', object_id: id, object_name: old.name, before: toKpi(old) });
}

export async function requireKpi(
  db: Kysely<Tables>,
  organizationId: string,
  entityId: string,
  id: string,
): Promise<KpiRow> {
  const row = await db
    .selectFrom('kpis')
    .selectAll()
    .where('id', '=', id)
    .where('entity_id', '=', entityId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('KPI', id);
  return row;
}

/** One page of the indicators of an entity, or of the whole organisation, after the id `after`. */
export async function pageOfKpis(
  db: Kysely<Tables>,
  organizationId: string,
  entityId: string | undefined,
  after: string | undefined,
  limit: number,
): Promise<Kpi[]> {
  let select = db.selectFrom('kpis').selectAll().where('organization_id', '=', organizationId);
  if (entityId !== undefined) select = select.where('entity_id', '=', entityId);
  const rows = await select
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toKpi);
}

async function requireFreeName(
  change: Change,
  entityId: string,
  name: string,
  except: string | undefined,
): Promise<void> {
  const other = await change.tx
    .selectFrom('kpis')
    .select('id')
    .where('entity_id', '=', entityId)
    .where('name', '=', name)
    .executeTakeFirst();
  if (!other || other.id === except) return;
  throw duplicate(`The entity already has an indicator named "${name}" (${other.id}).`, 'body.name');
}

function duplicate(message: string, path: string): Refusal {
  return new Refusal('duplicate_name', message, { details: [{ path, message: 'is taken in this entity' }] });
}

function columnsOf(document: KpiDocument) {
  return {
    name: document.name,
    query: document.definition.query,
    source: document.definition.source || DEFAULT_SOURCE,
    unit: document.definition.unit ?? DEFAULTS.unit,
    data_source: document.definition.data_source ?? '',
    kpi_type: document.kpi_type || DEFAULT_TYPE,
    description: document.description ?? '',
  };
}

export function toKpi(row: KpiRow): Kpi {
  return {
    id: row.id,
    organization_id: row.organization_id,
    entity_id: row.entity_id,
    name: row.name,
    definition: { query: row.query, source: row.source, unit: row.unit, data_source: row.data_source },
    kpi_type: row.kpi_type,
    description: row.description,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
