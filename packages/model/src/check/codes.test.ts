/** The registry of codes and the code that makes problems agree: nothing is listed in vain, nothing comes unlisted. */
import { describe, expect, test } from 'vitest';
import { checkConfigFixture, checkModelFixture, configFixtures, modelFixtures } from '../../test/fixtures.ts';
import { MODEL_OF_WARNINGS, unreadableModels } from '../../test/unreadable.ts';
import { resolveStatePath } from '../config/state-path.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { parseModel } from '../parse/parse-model.ts';
import { PLAN_CODES } from '../plan/codes.ts';
import { CODES } from './codes.ts';

function allProblems(): Diagnostic[] {
  const state = resolveStatePath({
    written: '/tmp/x',
    configFile: '/a/c.json',
    modelFiles: [],
    workingDirectory: '/a',
  });
  return [
    ...modelFixtures().flatMap(checkModelFixture),
    ...configFixtures().flatMap((fixture) => checkConfigFixture(fixture).diagnostics),
    ...unreadableModels().flatMap(({ text }) => parseModel([{ file: 'model.yaml', text }]).diagnostics),
    ...parseModel([{ file: 'model.yaml', text: MODEL_OF_WARNINGS }]).diagnostics,
    ...('diagnostic' in state ? [state.diagnostic] : []),
  ];
}

describe('codes', () => {
  const problems = allProblems();

  test('the fixtures give every code of the registry, and no other', () => {
    expect([...new Set(problems.map(({ code }) => code))].toSorted()).toEqual(Object.keys(CODES).toSorted());
  });

  test('each problem has the severity and the headline of its code', () => {
    for (const { code, severity, summary } of problems) {
      expect({ severity, summary }).toEqual({
        severity: CODES[code as keyof typeof CODES].severity,
        summary: CODES[code as keyof typeof CODES].summary,
      });
    }
  });

  test('headlines are short and alone, meanings are one sentence', () => {
    const entries = Object.entries(CODES);
    expect(new Set(entries.map(([, { summary }]) => summary)).size).toBe(entries.length);
    for (const [code, { summary, meaning }] of entries) {
      expect(code).toMatch(/^[a-z]+\/[a-z][a-z-]*$/);
      expect(summary.length).toBeLessThanOrEqual(40);
      expect(meaning).toMatch(/^[A-Z`].*\.$/);
    }
  });

  test('no code is one of a plan too', () => {
    expect(Object.keys(CODES).filter((code) => code in PLAN_CODES)).toEqual([]);
  });

  test('details are sentences', () => {
    for (const { code, detail } of problems) expect(`${code}: ${detail}`).toMatch(/[.?!)}]$|[:}] ?\S+$|\S$/);
  });
});
