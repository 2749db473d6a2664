/** Entities between the model and the wire, where the fields are split over the entity and its metadata document. */
import { type AdhocFilter, DEFAULTS, type Entity } from '@obsiac/model';
import type { ReadEntity, ReadMetadata } from '../client/answers.ts';
import type { EntityDocument, MetadataDocument } from '../entities.ts';

/** The entity's own fields; indicators, rules and channels are objects of their own on the wire. */
export type EntityFields = Omit<Entity, 'indicators' | 'alert_rules' | 'notification_channels' | 'source'>;

/** Body of `POST` and `PUT` of the entity. Every field is sent, so that a PUT also clears. */
export function entityToWire(entity: EntityFields): EntityDocument {
  return {
    name: entity.name,
    type: entity.type,
    external_ref: entity.external_ref,
    description: entity.description,
    data_source: entity.data_source,
    data_source_id: entity.data_source_id,
    namespace: entity.namespace,
    tier: entity.tier,
    workspace: entity.workspace,
    entity_class: entity.entity_class,
    ui_readonly: entity.ui_readonly,
  };
}

/**
 * Body of `PUT …/metadata`. `existing` is what the service holds: the fields that a model does not declare (when to notify
 * again) are carried over, since the PUT replaces the whole document.
 */
export function metadataToWire(entity: EntityFields, existing?: ReadMetadata | null): MetadataDocument {
  const { renotify_enabled, renotify_interval_seconds, renotify_occurrences } = existing ?? {};
  return {
    team: entity.team,
    tags: [...entity.tags],
    labels: { ...entity.labels },
    links: entity.links.map(({ name, url }) => ({ name, url })),
    adhoc_filter:
      entity.adhoc_filter === null ? null : { ...entity.adhoc_filter, labels: { ...entity.adhoc_filter.labels } },
    ...(renotify_enabled == null ? {} : { renotify_enabled }),
    ...(renotify_interval_seconds == null ? {} : { renotify_interval_seconds }),
    ...(renotify_occurrences == null ? {} : { renotify_occurrences }),
  };
}

function adhocFilterFromWire(filter: ReadMetadata['adhoc_filter']): AdhocFilter | null {
  // The hosted service sends an object with nothing in it where there is no filter.
  if (filter == null || (filter.labels == null && !filter.data_source)) return null;
  return { data_source: filter.data_source ?? '', labels: filter.labels ?? {} };
}

/** `metadata` stands in the entity, or was asked for alone; null when the entity has none. */
export function entityFromWire(
  entity: ReadEntity,
  metadata: ReadMetadata | null = entity.metadata ?? null,
): EntityFields {
  return {
    name: entity.name,
    type: entity.type ?? '',
    external_ref: entity.external_ref ?? '',
    description: entity.description ?? '',
    data_source: entity.data_source ?? '',
    data_source_id: entity.data_source_id ?? '',
    entity_class: entity.entity_class ?? '',
    namespace: entity.namespace ?? '',
    workspace: entity.workspace ?? '',
    tier: entity.tier ?? '',
    team: metadata?.team || DEFAULTS.team,
    ui_readonly: entity.ui_readonly ?? false,
    tags: metadata?.tags ?? [],
    labels: metadata?.labels ?? {},
    links: (metadata?.links ?? []).map((link) => ({ name: link.name ?? '', url: link.url ?? '' })),
    adhoc_filter: adhocFilterFromWire(metadata?.adhoc_filter),
  };
}
