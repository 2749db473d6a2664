/** Reads the settings: flags before variables before `service.yaml` before defaults, each problem with its place. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { nearest } from '@obsiac/promql';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { flagOf, SETTING_NAMES, type SettingName, type Settings, settingsSchema, variablesOf } from './definition.ts';

/** One or more settings are wrong; `problems` has a line for each, with where it came from. */
export class SettingsError extends Error {
  readonly code = 'bad_settings';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

interface Given {
  readonly value: unknown;
  /** For people: `the flag --port`, `OBSIAC_PORT`, `service.yaml:3`. */
  readonly from: string;
}

export interface Sources {
  /** By flag name without dashes, for example `data-dir`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--config`; undefined: `service.yaml` in the data directory, when there is one. */
  readonly file: string | undefined;
}

/** @throws SettingsError */
export function loadSettings(sources: Sources): Settings {
  const direct = { ...fromEnvironment(sources.environment), ...fromFlags(sources.flags) };
  const problems: string[] = [];
  const given = { ...fromFile(findFile(sources, direct), problems), ...direct };
  const values = Object.fromEntries(Object.entries(given).map(([name, { value }]) => [name, value]));
  const result = settingsSchema.safeParse(values);
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path[0] as SettingName;
    problems.push(`${name} (from ${given[name]?.from ?? 'its default'}): ${issue.message}`);
  }
  if (problems.length > 0 || !result.data) throw new SettingsError(problems);
  return { ...result.data, data_dir: path.resolve(result.data.data_dir) };
}

type GivenSettings = Partial<Record<SettingName, Given>>;

function fromFlags(flags: Sources['flags']): GivenSettings {
  const given: GivenSettings = {};
  for (const name of SETTING_NAMES) {
    const flag = flagOf(name);
    const value = flag === undefined ? undefined : flags[flag];
    if (value !== undefined) given[name] = { value, from: `the flag --${flag}` };
  }
  return given;
}

/** An empty variable is one that is not set: compose files and CI systems write such. */
function fromEnvironment(environment: Sources['environment']): GivenSettings {
  const given: GivenSettings = {};
  for (const name of SETTING_NAMES) {
    const variable = variablesOf(name).find((candidate) => environment[candidate]);
    if (variable) given[name] = { value: environment[variable], from: `the variable ${variable}` };
  }
  return given;
}

function findFile(sources: Sources, direct: GivenSettings): string | undefined {
  if (sources.file !== undefined) return sources.file;
  const dataDir = String(direct.data_dir?.value ?? settingsSchema.shape.data_dir.parse(undefined));
  const file = path.join(dataDir, 'service.yaml');
  return existsSync(file) ? file : undefined;
}

function fromFile(file: string | undefined, problems: string[]): GivenSettings {
  if (file === undefined) return {};
  const lines = new LineCounter();
  const document = parseDocument(readText(file), { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  for (const error of document.errors) problems.push(`${lineAt(error.pos[0])}: ${error.message}`);
  if (document.errors.length > 0 || document.contents === null) return {};
  if (!isMap(document.contents)) {
    problems.push(`${file}:1: must be a map of settings, for example "port: 7780"`);
    return {};
  }
  const given: GivenSettings = {};
  for (const pair of document.contents.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    const from = lineAt(isScalar(pair.key) ? (pair.key.range?.[0] ?? 0) : 0);
    if (!isSetting(key)) problems.push(`${from}: there is no setting "${key}"${suggestion(key)}`);
    else given[key] = { value: isScalar(pair.value) ? pair.value.value : document.get(key), from };
  }
  return given;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingsError([`${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}

function isSetting(key: string): key is SettingName {
  return (SETTING_NAMES as readonly string[]).includes(key);
}

function suggestion(key: string): string {
  const name = nearest(key, SETTING_NAMES);
  return name === undefined ? '' : `; did you mean "${name}"?`;
}
