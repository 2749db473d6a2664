/** JSON Schema (draft 2020-12) of the model and config files, for editors: made from what the parser checks with. */
import { z } from 'zod';
import { configSchema } from './config-schema.ts';
import {
  adhocFilterSchema,
  alertRuleSchema,
  CHANNEL_TYPE_NAMES,
  channelSchema,
  entitySchema,
  indicatorSchema,
  linkSchema,
  modelSchema,
} from './model-schema.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

type Node = Record<string, unknown>;

/** The schema of a model file. */
export function modelJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(modelSchema, {
    target: 'draft-2020-12',
    override: ({ zodSchema, jsonSchema }) => {
      const node = jsonSchema as Node;
      if (zodSchema === channelSchema.shape.type) allowAnyCase(node);
      if (NULLABLE.has(zodSchema as unknown as z.ZodType)) allowEmptyFields(node);
      if (zodSchema === modelSchema)
        node['patternProperties'] = { '^x-': { description: "Free, for the user's own anchors." } };
    },
  });
  return { ...schema, title: 'Obsiac model' };
}

/** The schema of `config.json`. */
export function configJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(configSchema, { target: 'draft-2020-12', io: 'input' });
  return { ...schema, title: 'Obsiac config' };
}

/** Mappings whose optional fields may be written without a value (`tags:`), which is the same as leaving them out. */
const NULLABLE: ReadonlySet<z.ZodType> = new Set<z.ZodType>([
  modelSchema,
  entitySchema,
  adhocFilterSchema,
  alertRuleSchema,
  indicatorSchema,
  linkSchema,
  channelSchema,
]);

function allowEmptyFields(node: Node): void {
  const required = new Set(node['required'] as string[] | undefined);
  const properties = node['properties'] as Record<string, Node>;
  for (const [name, property] of Object.entries(properties)) {
    if (required.has(name)) continue;
    if (typeof property['type'] === 'string') property['type'] = [property['type'], 'null'];
    if (Array.isArray(property['enum'])) property['enum'] = [...property['enum'], null];
    if (Array.isArray(property['anyOf'])) property['anyOf'] = [...property['anyOf'], { type: 'null' }];
  }
}

/** Offers the documented spelling and takes any case. */
function allowAnyCase(node: Node): void {
  const anyCase = CHANNEL_TYPE_NAMES.map((name) =>
    name.replace(/[a-z]/gi, (char) => `[${char.toUpperCase()}${char.toLowerCase()}]`),
  );
  delete node['type'];
  node['anyOf'] = [{ enum: [...CHANNEL_TYPE_NAMES] }, { type: 'string', pattern: `^(${anyCase.join('|')})$` }];
}
