/** Properties of reading models: writing and reading agree, and reading item by item changes nothing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { modelArbitrary } from '../../test/arbitrary.ts';
import { editedModelArbitrary } from '../../test/mutations.ts';
import type { Model } from '../model.ts';
import { renderDiagnostic } from '../render/render-diagnostic.ts';
import { writeModel } from '../write/write-model.ts';
import { findLayout } from './layout.ts';
import { parseModel, parseModelWith } from './parse-model.ts';
import { readModelWhole } from './read-model.ts';

/** The model without the places in the file. */
const withoutSources = (model: Model | null): unknown =>
  JSON.parse(JSON.stringify(model, (key, value: unknown) => (key === 'source' ? undefined : value)));

const parseText = (text: string) => parseModel([{ file: 'model.yaml', text }]);
const parseWhole = (text: string) => parseModelWith(readModelWhole, [{ file: 'model.yaml', text }]);

/** `RUNS=10` makes ten times as many. Shrinking a failure ends after a minute. */
const runs = (count: number) => ({
  numRuns: count * Number(process.env['RUNS'] ?? 1),
  interruptAfterTimeLimit: 60_000 * Number(process.env['RUNS'] ?? 1),
});

describe('properties', () => {
  test('parse(write(model)) is the model', () => {
    fc.assert(
      fc.property(modelArbitrary(), (model) => {
        const text = writeModel(model.entities);
        const parsed = parseText(text);
        expect(parsed.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(withoutSources(parsed.model)).toEqual(withoutSources(model));
        expect(writeModel(parsed.model?.entities ?? [])).toBe(text);
      }),
      runs(100),
    );
  });

  test('a written model is read item by item', () => {
    fc.assert(
      fc.property(modelArbitrary(), (model) => {
        const layout = findLayout(writeModel(model.entities));
        expect(layout?.itemStarts.length ?? 0).toBe(model.entities.length);
      }),
      runs(50),
    );
  });

  test('item by item and as a whole give the same model, problems and places', () => {
    fc.assert(
      fc.property(editedModelArbitrary, (text) => {
        expect(parseText(text)).toEqual(parseWhole(text));
      }),
      runs(300),
    );
  });

  test.each([
    'entities:\r\n  - name: x\r\n- name: x',
    "entities:\n  - name: '@at'\n:",
    'entities:\n-',
    'entities:\n  - name: |\n# comment\n      x\n',
    'entities:\n  - name: "a\n  - b"\n',
    'entities:\n  - [a,\n  - b]\n',
    '"a\nentities:\n  - b"\n',
    '--- |\nentities:\n  - b\n',
    'entities:\n  - a\n  b: c\n',
    'entities:\n  - a\nentities:\n  - b\n',
    'entities:\n  - &a {name: x}\n  - *a\nx-b: *a\nmoved: *a\n',
    'entities:\n  - name: |+\n      x\n\n\n  - name: y\n',
  ])('both ways of reading agree on %j', (text) => {
    expect(parseText(text)).toEqual(parseWhole(text));
  });

  test('any text gives a model or errors, with places inside the file', () => {
    const texts = fc.oneof(editedModelArbitrary, fc.string({ unit: 'binary', maxLength: 60 }));
    fc.assert(
      fc.property(texts, (text) => {
        const { model, diagnostics } = parseText(text);
        expect(model === null).toBe(diagnostics.some(({ severity }) => severity === 'error'));
        const lines = text.split('\n');
        for (const diagnostic of diagnostics) {
          const { source } = diagnostic;
          expect(source).toBeDefined();
          if (!source) continue;
          expect(source.line).toBeLessThanOrEqual(lines.length);
          expect(source.column).toBeLessThanOrEqual((lines[source.line - 1] ?? '').length + 1);
          const isForward = source.endLine > source.line || source.endColumn > source.column;
          expect(source.endLine >= source.line && isForward).toBe(true);
          expect(renderDiagnostic(diagnostic, text)).toContain(`model.yaml:${source.line}:${source.column}`);
        }
      }),
      runs(200),
    );
  });
});
