/** Where the state lock file lies. Paths are POSIX texts; nothing is looked up on a disk. */
import { problem } from '../check/codes.ts';
import { quote } from '../check/nearest.ts';
import type { Diagnostic, Source } from '../diagnostic.ts';

export interface StatePathInput {
  /** `state_lock_file_path` as it is in the config. */
  readonly written: string;
  readonly configFile: string;
  /** The model files, as resolved from `-mf`. May be empty. */
  readonly modelFiles: readonly string[];
  /** Absolute. The other paths may be relative to it. */
  readonly workingDirectory: string;
  /** Place of the path in the config, for the diagnostic. */
  readonly source?: Source;
}

export type StatePath = { readonly path: string } | { readonly diagnostic: Diagnostic };

/**
 * The absolute path of the state lock file. A bare name lies in the directory of the config file; a path with a slash
 * starts at the working directory. Either way the file must lie in the directory of the config file or of a model
 * file, which are one directory as a rule. They may differ, for example when a pipeline keeps one config for several
 * models and runs in the directory of each: then the state lies with the config or with the model. What is refused
 * is a third place, where the state of one run would not be found by the next.
 */
export function resolveStatePath(input: StatePathInput): StatePath {
  const { written, workingDirectory } = input;
  const configFile = absolute(input.configFile, workingDirectory);
  const modelFiles = input.modelFiles.map((file) => absolute(file, workingDirectory));
  const isBare = !written.includes('/');
  const path = absolute(written, isBare ? directoryOf(configFile) : workingDirectory);
  const fail = (detail: string): StatePath => ({ diagnostic: problem('config/state-path', detail, input.source) });
  if (written.trim() === '' || /\/$|(?:^|\/)\.\.?$/.test(written)) {
    return fail(`state_lock_file_path is ${quote(written)}, which is a directory. Add the name of a file.`);
  }
  if (path === configFile || modelFiles.includes(path)) {
    return fail(
      `state_lock_file_path is ${quote(written)}, which is the ${path === configFile ? 'config' : 'model'} file itself. Give it a name of its own.`,
    );
  }
  const allowed = [...new Set([configFile, ...modelFiles].map(directoryOf))];
  if (allowed.includes(directoryOf(path))) return { path };
  const start = isBare ? 'the directory of the config file' : 'the working directory';
  const where = allowed.slice(0, 3).map(quote).join(' or ');
  return fail(
    `state_lock_file_path is ${quote(written)}, which from ${start} means ${quote(path)}. The file must lie in the directory of the model and config, ${where}. A bare name such as "obsiac-state.lock" lies beside the config file.`,
  );
}

function absolute(path: string, from: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${from}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

const directoryOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 1));
