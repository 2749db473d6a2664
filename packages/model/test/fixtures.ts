/** The broken models and configs of the golden tests: what each gives, and the golden text beside it. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import {
  type Diagnostic,
  type InputFile,
  type ParsedConfig,
  parseConfig,
  parseModel,
  renderDiagnostic,
} from '../src/index.ts';

const MODELS = join(import.meta.dirname, '../src/parse/testdata');
const CONFIGS = join(import.meta.dirname, '../src/config/testdata');

export interface Fixture {
  readonly name: string;
  /** Folder of its golden text. */
  readonly folder: string;
  readonly files: readonly InputFile[];
}

function fixturesOf(folder: string, extension: string): Fixture[] {
  return readdirSync(folder)
    .toSorted()
    .filter((entry) => entry.endsWith(extension) || statSync(join(folder, entry)).isDirectory())
    .map((entry) => {
      const path = join(folder, entry);
      const isFolder = statSync(path).isDirectory();
      const paths = isFolder
        ? readdirSync(path)
            .toSorted()
            .filter((each) => each.endsWith(extension))
            .map((each) => join(path, each))
        : [path];
      const files = paths.map((each) => ({
        file: isFolder ? join(entry, basename(each)) : entry,
        text: readFileSync(each),
      }));
      return { name: basename(entry, extension), folder, files };
    });
}

/** One file each, or a folder of files that are one model. */
export const modelFixtures = (): readonly Fixture[] => fixturesOf(MODELS, '.yaml');

export const configFixtures = (): readonly Fixture[] => fixturesOf(CONFIGS, '.json');

/** The environment of the config fixtures. */
const ENV = { TOKEN: 'secret-from-environment', EMPTY: '', NEWLINE: 'secret\n' };

export const checkModelFixture = (fixture: Fixture): readonly Diagnostic[] => parseModel(fixture.files).diagnostics;

export const checkConfigFixture = (fixture: Fixture): ParsedConfig => parseConfig({ ...fixture.files[0]!, env: ENV });

export const modelTexts = (fixture: Fixture): ReadonlyMap<string, string> =>
  new Map(fixture.files.map(({ file, text }) => [file, Buffer.from(text).toString('utf8')]));

/** All diagnostics as the tool shows them. */
export function rendered(diagnostics: readonly Diagnostic[], textOf: (file: string) => string | undefined): string {
  return diagnostics.map((each) => `${renderDiagnostic(each, textOf(each.source?.file ?? ''))}\n`).join('\n');
}

/** Compares with the golden text; `UPDATE=1` writes it instead. */
export function expectGolden(fixture: Fixture, text: string): void {
  const path = join(fixture.folder, `${fixture.name}.golden.txt`);
  if (process.env['UPDATE'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(text).toBe(readFileSync(path, 'utf8'));
}
