/** Which fields a schema knows at a path, and the names that people write instead of them. */
import { z } from 'zod';
import type { Path } from './path.ts';

/** Names from other tools and languages that the edit distance would not find, and what they may mean here. */
export const MISTAKEN_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['alerts', ['alert_rules']],
  ['rules', ['alert_rules']],
  ['channels', ['notification_channels']],
  ['notifications', ['notification_channels']],
  ['enabled', ['is_disabled']],
  ['disabled', ['is_disabled']],
  ['expr', ['query', 'expression']],
  ['promql', ['query']],
  ['gt', ['greater_than']],
  ['gte', ['greater_than_eq']],
  ['lt', ['less_than']],
  ['lte', ['less_than_eq']],
  ['eq', ['equal_to']],
  ['ne', ['not_equal']],
  ['equals', ['equal_to']],
  ['not_equal_to', ['not_equal']],
  ['greater_than_or_equal', ['greater_than_eq']],
  ['greater_than_or_equal_to', ['greater_than_eq']],
  ['less_than_or_equal', ['less_than_eq']],
  ['less_than_or_equal_to', ['less_than_eq']],
  ['filters', ['adhoc_filter']],
  ['variables', ['label_filter']],
  ['title', ['name']],
  ['url', ['link', 'api_base_url']],
  ['href', ['link', 'url']],
  ['link', ['url']],
  ['token', ['refresh_token']],
  ['base_url', ['api_base_url']],
  ['organization', ['org']],
  ['state_file', ['state_lock_file_path']],
]);

/** The names of the fields that an object at `path` may have, in the order of the schema. */
export function knownFields(schema: z.ZodType, path: Path): readonly string[] {
  let options: readonly z.ZodType[] = unwrap(schema);
  for (const key of path) options = options.flatMap((option) => inside(option, key)).flatMap(unwrap);
  return options.flatMap((option) => (option instanceof z.ZodObject ? Object.keys(option.shape) : []));
}

function inside(schema: z.ZodType, key: string | number): z.ZodType[] {
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
  if (schema instanceof z.ZodObject) {
    const field = (schema.shape as Record<string, z.ZodType>)[key];
    return field ? [field] : [];
  }
  return [];
}

function unwrap(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).flatMap(unwrap);
  return [schema];
}
