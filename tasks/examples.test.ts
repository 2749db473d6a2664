/** The examples: valid, rich enough to learn from, and completed by editors through the schema beside them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { modelJsonSchema, parseModel } from '@obsiac/model';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

const folder = path.join(path.dirname(import.meta.dirname), 'examples');
const files = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => ({ file, text: readFileSync(path.join(folder, file), 'utf8') }));

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Every path of fields that the schema knows, with `[]` for the items of a list. */
function fieldPaths(schema: Schema, root: Schema, at: string): string[] {
  if (schema.$ref) return fieldPaths(root.$defs?.[schema.$ref.split('/').at(-1) as string] ?? {}, root, at);
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    `${at}.${name}`,
    ...fieldPaths(field, root, `${at}.${name}`),
  ]);
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) => fieldPaths(each, root, at));
  return [...own, ...alternatives, ...(schema.items ? fieldPaths(schema.items, root, `${at}[]`) : [])];
}

function usedPaths(value: unknown, at: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => usedPaths(item, `${at}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [`${at}.${name}`, ...usedPaths(member, `${at}.${name}`)]);
}

describe('examples', () => {
  test('are one valid model without a warning', () => {
    const { model, diagnostics } = parseModel(files);
    expect(diagnostics).toEqual([]);
    expect(model?.entities.length).toBeGreaterThanOrEqual(3);
    expect(model?.entities.flatMap((entity) => entity.alert_rules).length).toBeGreaterThanOrEqual(25);
  });

  test('use every field of the model', () => {
    const schema = modelJsonSchema() as Schema;
    const tolerated = ['.moved', '.entities[].indicators[].type'];
    const known = new Set(
      fieldPaths(schema, schema, '').filter((field) => !tolerated.some((path) => field.startsWith(path))),
    );
    const used = new Set(files.flatMap(({ text }) => usedPaths(parse(text), '')));
    expect([...known].filter((field) => !used.has(field))).toEqual([]);
  });

  test('have the current schema beside them', () => {
    expect(JSON.parse(readFileSync(path.join(folder, 'model.schema.json'), 'utf8'))).toEqual(modelJsonSchema());
  });
});
