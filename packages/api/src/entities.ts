/** Entities (alert managers) on the wire, and the metadata document that goes with each. */
import { z } from 'zod';

const text = z.string().max(4096);
const unixSeconds = z.int();

export const adhocFilter = z.object({
  data_source: text.optional(),
  labels: z.record(z.string(), z.string()).optional(),
});

export const link = z.object({ name: text, url: text });

/** Body of `PUT /entities/{id}/metadata`. */
export const metadataDocument = z.object({
  team: text.optional(),
  tags: z.array(text).max(1000).nullish(),
  labels: z.record(z.string().max(1024), text).nullish(),
  links: z.array(link).max(1000).nullish(),
  adhoc_filter: adhocFilter.nullish(),
  renotify_enabled: z.boolean().optional(),
  renotify_interval_seconds: z.int().positive().optional(),
  /** How often at most; -1 is without end. */
  renotify_occurrences: z
    .int()
    .refine((times) => times === -1 || times >= 1, 'must be -1 (without end) or 1 and more')
    .optional(),
});
export type MetadataDocument = z.infer<typeof metadataDocument>;

export const metadata = metadataDocument.extend({
  id: z.string(),
  entity_id: z.string(),
  renotify_occurrences: z.int().optional(),
});
export type Metadata = z.infer<typeof metadata>;

export const inlineIndicator = z.object({ name: text, query: z.string().max(65_536), unit: text.optional() });

/** Body of `POST /entities`; `notification_channels` is accepted and has no effect: attach the channels. */
export const entityDocument = z.object({
  name: z.string().min(1).max(1024),
  type: z.string().min(1).max(1024),
  external_ref: z.string().min(1).max(1024),
  description: z.string().max(65_536).optional(),
  data_source: text.optional(),
  data_source_id: text.optional(),
  namespace: text.optional(),
  tier: text.optional(),
  workspace: text.optional(),
  entity_class: text.optional(),
  ui_readonly: z.boolean().optional(),
  indicators: z.array(inlineIndicator).max(10_000).nullish(),
  notification_channels: z.array(z.unknown()).nullish(),
});
export type EntityDocument = z.infer<typeof entityDocument>;

/** Body of `PUT /entities/{id}`: name and type are required; a missing `external_ref` keeps the one it has. */
export const entityUpdate = entityDocument.extend({ external_ref: z.string().min(1).max(1024).optional() });
export type EntityUpdate = z.infer<typeof entityUpdate>;

export const entity = z.object({
  id: z.string(),
  organization_id: z.string().optional(),
  name: z.string(),
  type: z.string(),
  external_ref: z.string(),
  description: z.string().optional(),
  data_source: z.string().optional(),
  data_source_id: z.string().optional(),
  namespace: z.string().optional(),
  tier: z.string().optional(),
  workspace: z.string().optional(),
  entity_class: z.string().optional(),
  ui_readonly: z.boolean().optional(),
  metadata: metadata.partial().nullish(),
  created_at: unixSeconds,
  updated_at: unixSeconds,
});
export type Entity = z.infer<typeof entity>;

export const entityList = z.object({ entities: z.array(entity) });

export const entityListQuery = z.object({
  external_ref: z.string().optional(),
  entity_class: z.string().optional(),
});

/** Body of `POST /entities/list`. */
export const entitySearch = z.object({
  filters: z
    .array(
      z.object({
        filter_type: z.enum(['entity_class', 'entity_name', 'entity_type', 'data_source_name', 'tags']),
        key: z.string().nullish(),
        value: z.string(),
        operator: z.enum(['contains', 'equal']).default('contains'),
        conjunction: z.string().nullish(),
      }),
    )
    .max(100)
    .nullish(),
  groups: z.array(z.unknown()).nullish(),
  orders: z.array(z.unknown()).nullish(),
});
export type EntitySearch = z.infer<typeof entitySearch>;

export const entitySearchResult = z.array(
  z.object({
    entities: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        type: z.string(),
        data_source_name: z.string(),
        metadata: z.object({ tags: z.array(z.string()) }),
      }),
    ),
  }),
);

/** `GET /entities/{id}/snooze`; unix seconds, 0 when not snoozed. */
export const snoozeState = z.object({ alert_snoozed_until: unixSeconds });
/** `POST /entities/{id}/alert-rules/snooze`; unix seconds, 0 clears. */
export const snoozeRequest = z.object({ until: z.int().min(0) });
