/** The JSON Schemas are valid, and take and refuse what the parser takes and refuses. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { modelArbitrary } from '../../test/arbitrary.ts';
import { configFixtures, modelFixtures } from '../../test/fixtures.ts';
import { parseConfig } from '../config/parse-config.ts';
import { parseModel } from '../parse/parse-model.ts';
import { writeModel } from '../write/write-model.ts';
import { configJsonSchema, modelJsonSchema } from './json-schema.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });
const isModel = ajv.compile(modelJsonSchema());
const isConfig = ajv.compile(configJsonSchema());

/** Every schema object below one, with its path. */
function* properties(schema: unknown, path = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof schema !== 'object' || schema === null) return;
  const node = schema as Record<string, unknown>;
  for (const [name, property] of Object.entries(
    (node['properties'] ?? {}) as Record<string, Record<string, unknown>>,
  )) {
    yield [`${path}/${name}`, property];
  }
  for (const [key, value] of Object.entries(node)) yield* properties(value, `${path}/${key}`);
}

describe('model schema', () => {
  test('takes every valid model', () => {
    fc.assert(
      fc.property(modelArbitrary({ maxEntities: 2 }), (model) => {
        expect([isModel(parse(writeModel(model.entities))), isModel.errors]).toEqual([true, null]);
      }),
      { numRuns: 100 },
    );
  });

  test('takes empty fields, free keys, any case of a channel type', () => {
    const text = `x-free: {a: b}
entities:
  - name: A
    type: service
    external_ref: a
    tags:
    entity_class:
    adhoc_filter:
    labels: {a: 1, b: true}
    notification_channels: [a, {name: b, type: SLACK, mention: x}]
moved:
`;
    expect(parseModel([{ file: 'm', text }]).diagnostics).toEqual([]);
    expect([isModel(parse(text)), isModel.errors]).toEqual([true, null]);
  });

  test('refuses the broken models whose structure is wrong, and no model that parses', () => {
    const structural = /^field\/(unknown|required|type|value)$|^model\/root$/;
    let refused = 0;
    for (const { name, files } of modelFixtures()) {
      const { model, diagnostics } = parseModel(files);
      if (files.length > 1 || diagnostics.some(({ code }) => /^(yaml|file)\//.test(code))) continue;
      const value = parse(Buffer.from(files[0]!.text).toString('utf8'), { merge: true });
      if (model) expect([name, isModel(value)]).toEqual([name, true]);
      // JSON has no infinite number, so its schema cannot refuse one.
      if (name === 'rule-thresholds' || !diagnostics.some(({ code }) => structural.test(code))) continue;
      expect([name, isModel(value)]).toEqual([name, false]);
      refused++;
    }
    expect(refused).toBeGreaterThan(20);
  });

  test('describes every field', () => {
    const bare = [...properties(modelJsonSchema())].filter(
      ([, property]) => typeof property['description'] !== 'string',
    );
    expect(bare.map(([path]) => path)).toEqual([]);
    expect(modelJsonSchema()).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  });
});

describe('config schema', () => {
  test('takes a config and refuses those whose structure is wrong', () => {
    const access = { refresh_token: 'x', org: 'acme' };
    expect(isConfig({ api_config: { read: access, write: access, delete: access } })).toBe(true);
    let refused = 0;
    for (const { name, files } of configFixtures()) {
      const { diagnostics } = parseConfig({ ...files[0]!, env: { TOKEN: 'x' } });
      if (name === 'wrapped' || !diagnostics.some(({ code }) => /^field\/(unknown|required|type)$/.test(code)))
        continue;
      expect([name, isConfig(JSON.parse(String(files[0]!.text)))]).toEqual([name, false]);
      refused++;
    }
    expect(refused).toBeGreaterThan(3);
  });

  test('describes every field', () => {
    const bare = [...properties(configJsonSchema())].filter(
      ([, property]) => typeof property['description'] !== 'string',
    );
    expect(bare.map(([path]) => path)).toEqual([]);
  });
});
