/** Reads what the user wrote: the model files and the config. All that is wrong with them is told in one run. */
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { type Config, type Diagnostic, type Model, parseConfig, parseModel, resolveStatePath } from '@obsiac/model';
import type { Arguments } from '../arguments/parse.ts';
import type { Context } from '../commands/command.ts';
import { EXIT } from '../exit-code.ts';
import { Failure, InvalidInput, usageFailure } from '../failure.ts';
import type { StateOwner } from '../state/state-file.ts';
import { sayDiagnostics, type Texts } from './diagnostics.ts';
import { reasonFor } from './file-reason.ts';
import { hideTokens } from './hide-tokens.ts';
import { findModelFiles, type ModelPath } from './model-files.ts';
import { readFileBytes } from './read-file.ts';

/** A config and where it puts the state. */
export interface ConfigProject {
  readonly config: Config;
  readonly owner: StateOwner;
  /** Absolute. */
  readonly statePath: string;
}

export interface Project extends ConfigProject {
  readonly model: Model;
  /** For diagnostics that come later. */
  readonly texts: Texts;
}

interface ReadFile {
  readonly file: string;
  readonly text: Uint8Array;
}

/** Model and config, both required and both without errors; throws `InvalidInput` after the diagnostics were shown. */
export async function loadProject(args: Arguments, context: Context): Promise<Project> {
  requireOptions(args, ['model-file', 'config']);
  const checked = await checkInput(args, context);
  const { model, config, statePath } = checked;
  if (model === null || config === null || statePath === null) {
    throw new InvalidInput();
  }
  return { model, texts: checked.texts, config, statePath, owner: ownerOf(config) };
}

/** The config alone, for commands that need no model; `-mf`, when given, only says where the state may lie. */
export async function loadConfig(args: Arguments, context: Context): Promise<ConfigProject> {
  requireOptions(args, ['config']);
  const { config, statePath } = await checkInput(args, context, { withModel: false });
  if (config === null || statePath === null) {
    throw new InvalidInput();
  }
  return { config, statePath, owner: ownerOf(config) };
}

/** The config for commands that have nothing to do with the state, so that it does not matter where they are run. */
export async function loadServiceConfig(args: Arguments, context: Context): Promise<Config> {
  requireOptions(args, ['config']);
  const { config } = await checkInput(args, context, { withModel: false, withState: false });
  if (config === null) throw new InvalidInput();
  return config;
}

function ownerOf(config: Config): StateOwner {
  return { apiBaseUrl: config.api_base_url, org: config.org };
}

export interface CheckedInput {
  readonly model: Model | null;
  readonly config: Config | null;
  readonly statePath: string | null;
  readonly texts: Texts;
  readonly diagnostics: readonly Diagnostic[];
  /** How many model files were read. */
  readonly files: number;
}

/** Reads and checks what is given of model and config, and shows every diagnostic. What has errors is null. */
export async function checkInput(
  args: Arguments,
  context: Context,
  { withModel = true, withState = true }: { readonly withModel?: boolean; readonly withState?: boolean } = {},
): Promise<CheckedInput> {
  const paths = withState && args.has('model-file') ? await findModelFiles(args.texts('model-file'), context.cwd) : [];
  const files = withModel ? await Promise.all(paths.map(readModelFile)) : [];
  const configFile = args.text('config');
  const configText = configFile === undefined ? undefined : await readConfigFile(configFile, context.cwd);
  const parsed = files.length > 0 ? parseModel(files) : { model: null, diagnostics: [] };
  const { config, diagnostics: ofConfig } = configText
    ? parseConfig({ ...configText, env: context.env })
    : { config: null, diagnostics: [] };
  const state = config === null || !withState ? null : statePathOf(config, configFile ?? '', paths, context.cwd);
  const diagnostics = [
    ...parsed.diagnostics,
    ...ofConfig,
    ...(state !== null && 'diagnostic' in state ? [state.diagnostic] : []),
  ];
  const texts: Texts = new Map([
    ...files.flatMap(({ file, text }) => entryOf(file, decodeText(text))),
    ...(configText ? entryOf(configText.file, hideTokens(decodeText(configText.text) ?? '')) : []),
  ]);
  sayDiagnostics(diagnostics, texts, args, context);
  return {
    model: parsed.model,
    config,
    statePath: state !== null && 'path' in state ? state.path : null,
    texts,
    diagnostics,
    files: files.length,
  };
}

function entryOf(file: string, text: string | null): readonly (readonly [string, string])[] {
  return text === null ? [] : [[file, text]];
}

/** Null when the bytes are no text whose lines could be shown. */
function decodeText(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null; // The only error of a fatal decoder: bytes that are not UTF-8.
  }
}

function statePathOf(config: Config, configFile: string, models: readonly ModelPath[], cwd: string) {
  return resolveStatePath({
    written: config.state_lock_file_path,
    configFile,
    modelFiles: models.map(({ absolute }) => absolute),
    workingDirectory: cwd,
    ...(config.state_source && { source: config.state_source }),
  });
}

function requireOptions(args: Arguments, names: readonly ('model-file' | 'config')[]): void {
  const flags = { 'model-file': '-mf MODEL', config: '-c CONFIG' } as const;
  const missing = names.filter((name) => !args.has(name)).map((name) => flags[name]);
  if (missing.length > 0) {
    throw usageFailure(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      '-mf names the model (a file, a directory or a quoted pattern), -c the config file.',
    );
  }
}

async function readModelFile({ shown, absolute }: ModelPath): Promise<ReadFile> {
  return { file: shown, text: await readOrRefuse(`The model file ${shown}`, absolute, 'model_unreadable') };
}

async function readConfigFile(shown: string, cwd: string): Promise<ReadFile> {
  const text = await readOrRefuse(`The config file ${shown}`, path.resolve(cwd, shown), 'config_unreadable');
  return { file: shown, text };
}

async function readOrRefuse(what: string, absolute: string, code: string): Promise<Uint8Array> {
  try {
    await access(absolute, constants.R_OK);
    return await readFileBytes(absolute);
  } catch (error) {
    const detail = reasonFor(error as NodeJS.ErrnoException);
    throw new Failure(EXIT.invalid, { code, summary: `${what} cannot be read`, detail });
  }
}
