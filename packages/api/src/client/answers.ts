/**
 * The parts of each answer that the client reads. They are fewer, and taken more widely, than what our service sends, so that
 * the hosted service and other versions are read as well. Lists are checked element by element.
 */
import { z } from 'zod';

const text = z.string().nullish();
const id = z.union([z.string().min(1), z.int().transform(String)]);
const texts = z.record(z.string(), z.string());

const readMetadata = z.object({
  team: text,
  tags: z.array(z.string()).nullish(),
  labels: texts.nullish(),
  links: z.array(z.object({ name: text, url: text })).nullish(),
  adhoc_filter: z.object({ data_source: text, labels: texts.nullish() }).nullish(),
  renotify_enabled: z.boolean().nullish(),
  renotify_interval_seconds: z.number().nullish(),
  renotify_occurrences: z.number().nullish(),
});
export type ReadMetadata = z.infer<typeof readMetadata>;

export const readEntity = z.object({
  id,
  name: z.string(),
  type: text,
  external_ref: text,
  description: text,
  data_source: text,
  data_source_id: text,
  namespace: text,
  tier: text,
  workspace: text,
  entity_class: text,
  ui_readonly: z.boolean().nullish(),
  /** Undefined: this answer does not carry it, ask for the entity alone. Null: there is none. */
  metadata: readMetadata.nullish(),
});
export type ReadEntity = z.infer<typeof readEntity>;

export const readKpi = z.object({
  id,
  entity_id: text,
  name: z.string(),
  definition: z.object({ query: z.string(), unit: text, data_source: text, source: text }),
  description: text,
});
export type ReadKpi = z.infer<typeof readKpi>;

export const readAlertRule = z.object({
  id,
  entity_id: text,
  rule_name: z.string(),
  primary_indicator: text,
  expression: text,
  condition: text,
  alert_condition: text,
  eval_window: z.number().nullish(),
  severity: text,
  is_disabled: z.boolean().nullish(),
  mute_until: z.number().nullish(),
  group_timeseries_notifications: z.boolean().nullish(),
  properties: z
    .object({
      description: text,
      runbook: z.object({ link: text }).nullish(),
      annotations: texts.nullish(),
    })
    .nullish(),
  expression_args: z.record(z.string(), z.object({ id: text, variables: texts.nullish() })).nullish(),
  recurring_mute_schedule: z.unknown().optional(),
});
export type ReadAlertRule = z.infer<typeof readAlertRule>;

export const readChannelRow = z.object({
  id,
  name: z.string(),
  type: z.string(),
  global: z.boolean().nullish(),
  service_fqid: text,
  severity: text,
  parent_id: id.nullish(),
  mention: z.array(z.string()).nullish(),
});
export type ReadChannelRow = z.infer<typeof readChannelRow>;

export const readDataSource = z.object({ id, name: z.string(), is_default: z.boolean().nullish() });
export type ReadDataSource = z.infer<typeof readDataSource>;

export const readOrganization = z.object({ slug: text, revision: z.number().nullish() });

/** What is wrong with an answer, and where; never the content. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

function problem(error: z.ZodError, at: string): string {
  const issue = error.issues[0];
  const path = [at, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  return `${path === '' ? 'the whole' : path}: ${issue?.message ?? 'not as expected'}`;
}

/** Reads one value. Throws `UnreadableAnswer`. */
export function read<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw new UnreadableAnswer(problem(result.error, at));
  return result.data;
}

/** Reads a list, element by element, and changes it. Null, which the hosted service sends for an empty list, is the empty list. */
export function readList<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.output<Schema>[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableAnswer(`${at === '' ? 'the whole' : at}: expected a list`);
  // In place, so that a list of ten thousand is not held twice.
  for (const [index, each] of value.entries())
    value[index] = read(schema, each, at === '' ? String(index) : `${at}.${index}`);
  return value as z.output<Schema>[];
}

/** Reads a list that stands under `key` of an object. */
export function readListIn<Schema extends z.ZodType>(key: string, schema: Schema, value: unknown): z.output<Schema>[] {
  if (typeof value !== 'object' || value === null || !(key in value))
    throw new UnreadableAnswer(`expected an object with "${key}"`);
  return readList(schema, (value as Record<string, unknown>)[key], key);
}
