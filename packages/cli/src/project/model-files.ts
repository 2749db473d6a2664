/** From what `-mf` names to the files of one model: files, directories and patterns, each file once, in a fixed order. */
import { glob, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { reasonFor } from './file-reason.ts';

const YAML_FILE = /\.ya?ml$/i;
const PATTERN = /[*?[\]{}]/;

/** A file of a model. */
export interface ModelPath {
  /** As the user would write it: for messages. */
  readonly shown: string;
  readonly absolute: string;
}

function unusable(code: string, summary: string, detail: string): Failure {
  return new Failure(EXIT.invalid, { code, summary, detail });
}

/** The files named by the values of `-mf`. Throws `Failure` when one names nothing that can be read. */
export async function findModelFiles(written: readonly string[], cwd: string): Promise<readonly ModelPath[]> {
  const groups = await Promise.all(written.map((one) => expand(one, cwd)));
  const seen = new Map<string, ModelPath>();
  for (const file of groups.flat()) {
    const real = await realpath(file.absolute).catch(() => file.absolute);
    if (!seen.has(real)) seen.set(real, file);
  }
  return [...seen.values()].sort((a, b) => (a.absolute < b.absolute ? -1 : 1));
}

async function expand(written: string, cwd: string): Promise<readonly ModelPath[]> {
  const absolute = path.resolve(cwd, written);
  try {
    const found = await stat(absolute);
    return found.isDirectory() ? await yamlFilesIn(written, absolute) : [{ shown: written, absolute }];
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && PATTERN.test(written)) {
      return matching(written, cwd);
    }
    if (error instanceof Failure) {
      throw error;
    }
    throw unusable(
      'model_unreadable',
      `The model ${written} cannot be read`,
      reasonFor(error as NodeJS.ErrnoException),
    );
  }
}

async function yamlFilesIn(written: string, directory: string): Promise<readonly ModelPath[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries
    .filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.') && YAML_FILE.test(entry.name))
    .map((entry) => entry.name);
  if (names.length === 0) {
    throw unusable(
      'model_empty_directory',
      `The directory ${written} holds no model`,
      'A model file ends in .yaml or .yml and lies in the directory itself; a pattern such as -mf "models/**/*.yaml" reaches deeper.',
    );
  }
  return names.map((name) => ({ shown: path.join(written, name), absolute: path.join(directory, name) }));
}

async function matching(pattern: string, cwd: string): Promise<readonly ModelPath[]> {
  const files: ModelPath[] = [];
  for await (const match of glob(pattern, { cwd })) {
    const absolute = path.resolve(cwd, match);
    if (YAML_FILE.test(match) && (await stat(absolute)).isFile()) {
      files.push({ shown: match, absolute });
    }
  }
  if (files.length === 0) {
    throw unusable(
      'model_no_match',
      `No YAML file matches ${pattern}`,
      `The pattern was tried in ${cwd}. Only files that end in .yaml or .yml are read.`,
    );
  }
  return files;
}
