/** Entities (alert managers) and their metadata documents in the store. */
import type { Entity, EntityDocument, EntityUpdate, Metadata, MetadataDocument } from '@obsiac/api';
import { DEFAULTS } from '@obsiac/model';
import type { Kysely } from 'kysely';
import { notFound, Refusal } from '../refusal.ts';
import { newId } from './ids.ts';
import { insertIndicators } from './kpis.ts';
import type { Change } from './store.ts';
import type { EntityRow, Tables } from './tables.ts';
import { requireEditable } from './ui-readonly.ts';

/** @throws Refusal `duplicate_external_ref`, `duplicate_name` (of an inline indicator) */
export async function createEntity(change: Change, document: EntityDocument): Promise<Entity> {
  await requireFreeReference(change, document.external_ref, undefined);
  const row: EntityRow = {
    id: newId(),
    organization_id: change.organizationId,
    ...columnsOf(document),
    external_ref: document.external_ref,
    snoozed_until: 0,
    metadata_id: newId(),
    metadata: JSON.stringify(normaliseMetadata({})),
    created_at: change.now,
    updated_at: change.now,
  };
  await change.tx.insertInto('entities').values(row).execute();
  const entity = toEntity(row);
  change.record({ action: 'create', kind: 'entity', object_id: row.id, object_name: row.name, after: entity });
  await insertIndicators(change, row.id, document.indicators ?? []);
  return entity;
}

/**
 * Replaces the entity's own fields; id, metadata, indicators and rules stay. A missing `external_ref` keeps the one it has.
 * @throws Refusal `not_found`, `duplicate_external_ref`
 */
export async function updateEntity(change: Change, id: string, document: EntityUpdate): Promise<Entity> {
  const old = await requireEntity(change.tx, change.organizationId, id);
  requireEditable(change, old);
  const externalRef = document.external_ref ?? old.external_ref;
  if (externalRef !== old.external_ref) await requireFreeReference(change, externalRef, id);
  const columns = { ...columnsOf(document), external_ref: externalRef, updated_at: change.now };
  await change.tx.updateTable('entities').set(columns).where('id', '=', id).execute();
  const entity = toEntity({ ...old, ...columns });
  const before = toEntity(old);
  change.record({ action: 'update', kind: 'entity', object_id: id, object_name: entity.name, before, after: entity });
  return entity;
}

/** Replaces the metadata document. @throws Refusal `not_found` */
export async function putMetadata(change: Change, id: string, document: MetadataDocument): Promise<Metadata> {
  const old = await requireEntity(change.tx, change.organizationId, id);
  requireEditable(change, old);
  const metadata = JSON.stringify(normaliseMetadata(document));
  await change.tx.updateTable('entities').set({ metadata, updated_at: change.now }).where('id', '=', id).execute();
  const [before, after] = [toMetadata(old), toMetadata({ ...old, metadata })];
  change.record({ action: 'update', kind: 'metadata', object_id: id, object_name: old.name, before, after });
  return after;
}

/** Deletes the entity with its indicators, rules and attachments. @throws Refusal `not_found` */
export async function deleteEntity(change: Change, id: string): Promise<void> {
  const old = await requireEntity(change.tx, change.organizationId, id);
  requireEditable(change, old);
  await change.tx.deleteFrom('entities').where('id', '=', id).execute();
  change.record({ action: 'delete', kind: 'entity', object_id: id, object_name: old.name, before: toEntity(old) });
}

/** Mutes every rule of the entity until a time in unix seconds; 0 ends it. @throws Refusal `not_found` */
export async function snoozeEntity(change: Change, id: string, until: number): Promise<void> {
  const old = await requireEntity(change.tx, change.organizationId, id);
  await change.tx.updateTable('entities').set({ snoozed_until: until }).where('id', '=', id).execute();
  change.record({
    action: 'snooze',
    kind: 'entity',
    object_id: id,
    object_name: old.name,
    before: { alert_snoozed_until: old.snoozed_until },
    after: { alert_snoozed_until: until },
  });
}

/** @throws Refusal `not_found` */
export async function requireEntity(db: Kysely<Tables>, organizationId: string, id: string): Promise<EntityRow> {
  const row = await db
    .selectFrom('entities')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  if (!row) throw notFound('entity', id);
  return row;
}

export interface EntityFilter {
  readonly external_ref?: string | undefined;
  readonly entity_class?: string | undefined;
}

/** One page of entities in the order of their creation, after the id `after`. */
export async function pageOfEntities(
  db: Kysely<Tables>,
  organizationId: string,
  filter: EntityFilter,
  after: string | undefined,
  limit: number,
): Promise<Entity[]> {
  let select = db.selectFrom('entities').selectAll().where('organization_id', '=', organizationId);
  if (filter.external_ref !== undefined) select = select.where('external_ref', '=', filter.external_ref);
  if (filter.entity_class !== undefined) select = select.where('entity_class', '=', filter.entity_class);
  const rows = await select
    .where('id', '>', after ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toEntity);
}

async function requireFreeReference(change: Change, externalRef: string, except: string | undefined): Promise<void> {
  const other = await change.tx
    .selectFrom('entities')
    .select(['id', 'name'])
    .where('organization_id', '=', change.organizationId)
    .where('external_ref', '=', externalRef)
    .executeTakeFirst();
  if (!other || other.id === except) return;
  throw new Refusal(
    'duplicate_external_ref',
    `The external_ref "${externalRef}" is taken by the entity "${other.name}" (${other.id}).`,
    { details: [{ path: 'body.external_ref', message: 'is taken in this organisation' }] },
  );
}

function columnsOf(document: EntityUpdate) {
  return {
    name: document.name,
    type: document.type,
    description: document.description ?? '',
    data_source: document.data_source ?? '',
    data_source_id: document.data_source_id ?? '',
    namespace: document.namespace ?? '',
    tier: document.tier ?? '',
    workspace: document.workspace ?? '',
    entity_class: document.entity_class ?? '',
    ui_readonly: document.ui_readonly ? 1 : 0,
  };
}

type MetadataFields = Omit<Metadata, 'id' | 'entity_id'>;

function normaliseMetadata(document: MetadataDocument): MetadataFields {
  return {
    ...document,
    team: document.team || DEFAULTS.team,
    tags: document.tags ?? [],
    labels: document.labels ?? {},
    links: document.links ?? [],
    adhoc_filter: document.adhoc_filter ?? null,
  };
}

function toMetadata(row: EntityRow): Metadata {
  return { id: row.metadata_id, entity_id: row.id, ...(JSON.parse(row.metadata) as MetadataFields) };
}

export function toEntity(row: EntityRow): Entity {
  return {
    id: row.id,
    organization_id: row.organization_id,
    name: row.name,
    type: row.type,
    external_ref: row.external_ref,
    description: row.description,
    data_source: row.data_source,
    data_source_id: row.data_source_id,
    namespace: row.namespace,
    tier: row.tier,
    workspace: row.workspace,
    entity_class: row.entity_class,
    ui_readonly: row.ui_readonly === 1,
    metadata: toMetadata(row),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
