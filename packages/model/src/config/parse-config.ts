/** Reads `config.json`: three tokens with their service, and where the state lies. No message ever holds a token. */
import { problem } from '../check/codes.ts';
import { quote } from '../check/nearest.ts';
import { createReport, type Report } from '../check/report.ts';
import type { Diagnostic, Source } from '../diagnostic.ts';
import { type InputFile, readText } from '../parse/read-text.ts';
import { createSourceFile, type SourceFile, spanOf } from '../parse/source-file.ts';
import {
  type ConfigInput,
  configSchema,
  DEFAULT_STATE_FILE,
  HOSTED_API,
  IAC_CONFIG_KEY,
} from '../schema/config-schema.ts';
import type { Path } from '../schema/path.ts';
import { checkFields, type Draft, type FieldProblem } from '../schema/problems.ts';
import { expandVariables } from './environment.ts';
import { type JsonNode, nodeAt, readJson } from './json.ts';
import { redactConfig } from './redact.ts';

export const API_ACTIONS = ['read', 'write', 'delete'] as const;
export type ApiAction = (typeof API_ACTIONS)[number];

/** A config with defaults filled in and environment variables put in. */
export interface Config {
  readonly refresh_tokens: Readonly<Record<ApiAction, string>>;
  /** Without a slash at its end; the same for all three actions. */
  readonly api_base_url: string;
  readonly org: string;
  /** As written; `resolveStatePath` says where it is. */
  readonly state_lock_file_path: string;
  /** Place of `state_lock_file_path` in the file, when it is there. */
  readonly state_source?: Source;
}

export interface ConfigInputFile extends InputFile {
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ParsedConfig {
  /** Null when there are errors. */
  readonly config: Config | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The text of the file with tokens hidden: what `renderDiagnostic` is to be given. Undefined for a file that is no text. */
  readonly shownText?: string;
}

/** Parses and checks a config file. The wider form `{"iac_config": {"api_config": …}}` is taken too. */
export function parseConfig(input: ConfigInputFile): ParsedConfig {
  const text = readText(input);
  if ('problem' in text) return { config: null, diagnostics: [text.problem] };
  const source = createSourceFile(input.file, text.text);
  const shownText = redactConfig(text.text);
  const read = readJson(text.text);
  if ('problem' in read) {
    const { detail, from, to } = read.problem;
    return { config: null, diagnostics: [problem('config/syntax', detail, spanOf(source, from, to))], shownText };
  }
  const report = createReport();
  const config = readConfig(unwrap(read.root), source, input.env, report);
  return { config: report.errorCount() === 0 ? config : null, diagnostics: report.diagnostics, shownText };
}

/** The object that holds the config, without the keys of other tools in the wider form. */
function unwrap(root: JsonNode): JsonNode {
  const inner = root.items?.get(IAC_CONFIG_KEY);
  if (!inner) return root;
  const path = root.items?.get('state_lock_file_path');
  if (!path || inner.items?.has('state_lock_file_path') || !inner.items) return inner;
  const items = new Map(inner.items).set('state_lock_file_path', path);
  return { ...inner, items, value: { ...(inner.value as object), state_lock_file_path: path.value } };
}

function readConfig(root: JsonNode, source: SourceFile, env: ConfigInputFile['env'], report: Report): Config | null {
  const unset = new Set<string>();
  const value = expandAll(root, [], { source, env, report, unset });
  const { problems, draft } = checkFields(configSchema, value, 'The config');
  for (const each of problems) if (!unset.has(JSON.stringify(each.path))) reportField(each, root, source, report);
  if (draft) checkActions(draft, root, source, report);
  if (!draft || report.errorCount() > 0) return null;
  return toConfig(draft as ConfigInput, root, source);
}

interface Expansion {
  readonly source: SourceFile;
  readonly env: ConfigInputFile['env'];
  readonly report: Report;
  /** Paths of texts that name a variable which is not set: their value says nothing. */
  readonly unset: Set<string>;
}

function expandAll(node: JsonNode, path: Path, expansion: Expansion): unknown {
  if (Array.isArray(node.value))
    return [...(node.items?.entries() ?? [])].map(([i, item]) => expandAll(item, [...path, i], expansion));
  if (node.items) {
    return Object.fromEntries([...node.items].map(([key, item]) => [key, expandAll(item, [...path, key], expansion)]));
  }
  if (typeof node.value !== 'string') return node.value;
  const { source, env, report, unset } = expansion;
  const { text, missing, malformedAt } = expandVariables(node.value, env);
  const span = spanOf(source, node.from, node.to);
  if (missing.length > 0) {
    unset.add(JSON.stringify(path));
    const names = missing.map((name) => `\${${name}}`).join(' and ');
    const it = missing.length === 1 ? 'it is' : 'they are';
    report.add(
      'config/environment',
      `${path.join('.')} takes its value from ${names}, and ${it} not set. Set ${missing.join(' and ')} in the environment.`,
      span,
    );
  } else if (malformedAt !== undefined) {
    unset.add(JSON.stringify(path));
    const detail = `${path.join('.')} has a "\${" without the name of a variable and a "}". Write \${NAME}, or $\${ for the two characters.`;
    report.add('config/environment', detail, span);
  }
  return text;
}

function reportField(
  { path, at, code, detail }: FieldProblem,
  root: JsonNode,
  source: SourceFile,
  report: Report,
): void {
  const key = nodeAt(root, path.slice(0, -1)).keys?.get(String(path.at(-1)));
  if (at === 'key' && key) {
    report.add(code, detail, spanOf(source, key.from, key.to));
    return;
  }
  const { from, to } = nodeAt(root, at === 'owner' ? path.slice(0, -1) : path);
  report.add(
    code,
    code === 'field/type' ? hideValue(detail) : detail,
    at === 'owner' ? spanOf(source, from, from + 1) : spanOf(source, from, to),
  );
}

/** A wrong value is not repeated: it may be a token in the wrong place. */
function hideValue(detail: string): string {
  const shown = detail.indexOf(', but is ');
  return shown === -1 ? detail : `${detail.slice(0, shown)}.`;
}

/** One run works on one organization of one service: objects read here and written there would be nonsense. */
function checkActions(draft: Draft<ConfigInput>, root: JsonNode, source: SourceFile, report: Report): void {
  const fields = [
    ['org', (action: ApiAction) => draft.api_config?.[action]?.org],
    ['api_base_url', (action: ApiAction) => baseUrlOf(draft, action)],
  ] as const;
  const spanAt = (path: Path) => {
    const { from, to, items } = nodeAt(root, path);
    return spanOf(source, from, items ? from + 1 : to);
  };
  for (const [field, fieldOf] of fields) {
    const [first, ...others] = API_ACTIONS.filter((action) => fieldOf(action) !== undefined);
    if (!first) continue;
    const different = others.find((action) => fieldOf(action) !== fieldOf(first));
    if (!different) continue;
    const detail = `The ${field} of ${first} is ${quote(fieldOf(first)!)}, that of ${different} is ${quote(fieldOf(different)!)}. All three actions must work on the same organization of the same service.`;
    report.add('config/mismatch', detail, spanAt(['api_config', different, field]));
  }
  const url = baseUrlOf(draft, 'read');
  if (url !== undefined && !/\/api\/v4$/.test(url)) {
    const detail = `The address ${quote(url)} does not end with /api/v4. The API of a service is at https://HOST/api/v4.`;
    report.add('config/base-url-path', detail, spanAt(['api_config', 'read', 'api_base_url']));
  }
}

/** The address of an action without a slash at its end; undefined when it is wrong. */
function baseUrlOf(draft: Draft<ConfigInput>, action: ApiAction): string | undefined {
  const access = draft.api_config?.[action];
  if (!access) return undefined;
  const url = Object.hasOwn(access, 'api_base_url') ? access.api_base_url : HOSTED_API;
  return url?.replace(/\/+$/, '');
}

function toConfig(input: ConfigInput, root: JsonNode, source: SourceFile): Config {
  const { read, write, delete: remove } = input.api_config;
  const state = root.items?.get('state_lock_file_path');
  return {
    refresh_tokens: { read: read.refresh_token, write: write.refresh_token, delete: remove.refresh_token },
    api_base_url: baseUrlOf(input, 'read') ?? HOSTED_API,
    org: read.org,
    state_lock_file_path: input.state_lock_file_path ?? DEFAULT_STATE_FILE,
    ...(state && { state_source: spanOf(source, state.from, state.to) }),
  };
}
