/** Reads a state file, and refuses one that is damaged or belongs elsewhere. */
import { type AppliedEntity, type AppliedObject, type PendingOperation, STATE_VERSION, type State } from './state.ts';
import { stateBody } from './write.ts';

export type StateErrorCode =
  | 'empty'
  | 'truncated'
  | 'not-json'
  | 'not-a-state'
  | 'newer-version'
  | 'checksum'
  | 'other-org'
  | 'other-address'
  | 'other-lineage';

/** Why a state file cannot be used; `message` is one or two sentences with what to do. */
export interface StateError {
  readonly code: StateErrorCode;
  readonly message: string;
}

export type StateResult =
  | { readonly state: State; readonly error?: undefined }
  | { readonly state?: undefined; readonly error: StateError };

export interface ReadStateOptions {
  /** Where the state must belong. Addresses are compared without slashes at their end. */
  readonly expect: { readonly org: string; readonly api_base_url: string; readonly lineage?: string };
  readonly sha256: (text: string) => string;
}

const RECOVERY =
  'Restore it from its backup beside it (.bak). Or move it away: the next plan then finds what exists in the service and takes it into a new state.';

export function readState(text: string, { expect, sha256 }: ReadStateOptions): StateResult {
  if (text.trim() === '') return refuse('empty', `The state file is empty. ${RECOVERY}`);
  const content = parseJson(text);
  if (content === undefined) {
    return /^\s*\{/.test(text) && !/\}\s*$/.test(text)
      ? refuse('truncated', `The state file ends in the middle, so it was cut off. ${RECOVERY}`)
      : refuse('not-json', `The state file is not JSON. ${RECOVERY}`);
  }
  if (!isRecord(content) || typeof content['version'] !== 'number' || typeof content['serial'] !== 'number') {
    return refuse(
      'not-a-state',
      'The file is JSON, but not a state file of this tool. Check `state_lock_file_path` in the config.',
    );
  }
  if (content['version'] > STATE_VERSION) {
    const versions = `has format version ${content['version']}, and this version of the tool reads up to ${STATE_VERSION}`;
    return refuse('newer-version', `The state file ${versions}. Use the newer version of the tool that wrote it.`);
  }
  const state = toState(content);
  if (state === null || content['checksum'] !== sha256(stateBody(state))) {
    return refuse(
      'checksum',
      `The state file was damaged or edited: its content does not match its checksum. ${RECOVERY}`,
    );
  }
  return checkOrigin(state, expect);
}

function checkOrigin(state: State, expect: ReadStateOptions['expect']): StateResult {
  const advice = 'Use the config that it was made with, or another `state_lock_file_path`.';
  if (state.org !== expect.org) {
    return refuse('other-org', `The state belongs to the organization "${state.org}", not "${expect.org}". ${advice}`);
  }
  if (withoutSlash(state.api_base_url) !== withoutSlash(expect.api_base_url)) {
    const message = `The state belongs to the service at ${state.api_base_url}, not ${expect.api_base_url}. ${advice}`;
    return refuse('other-address', message);
  }
  if (expect.lineage !== undefined && state.lineage !== expect.lineage) {
    const message = `The state is of another lineage (${state.lineage}) than expected (${expect.lineage}): the two were made independently of each other.`;
    return refuse('other-lineage', message);
  }
  return { state };
}

function refuse(code: StateErrorCode, message: string): StateResult {
  return { error: { code, message } };
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The state that a parsed file describes; null when the shape is wrong. */
function toState(content: Record<string, unknown>): State | null {
  const { version, serial, lineage, tool_version, api_base_url, org, updated_at, entities, pending } = content;
  const texts = [lineage, tool_version, api_base_url, org, updated_at];
  const isState =
    texts.every((value) => typeof value === 'string') &&
    isRecord(entities) &&
    Object.values(entities).every(isAppliedEntity) &&
    Array.isArray(pending) &&
    pending.every(isPendingOperation);
  if (!isState) return null;
  return { version, serial, lineage, tool_version, api_base_url, org, updated_at, entities, pending } as State;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAppliedObject(value: unknown): value is AppliedObject {
  return isRecord(value) && typeof value['id'] === 'string' && typeof value['digest'] === 'string';
}

function isAppliedEntity(value: unknown): value is AppliedEntity {
  if (!isRecord(value) || !isAppliedObject(value)) return false;
  const { indicators, alert_rules, channels } = value as Record<string, unknown>;
  const isChannel = (channel: unknown) =>
    isRecord(channel) &&
    typeof channel['name'] === 'string' &&
    typeof channel['severity'] === 'string' &&
    isAppliedObject(channel);
  return (
    isRecord(indicators) &&
    Object.values(indicators).every(isAppliedObject) &&
    isRecord(alert_rules) &&
    Object.values(alert_rules).every(isAppliedObject) &&
    Array.isArray(channels) &&
    channels.every(isChannel)
  );
}

function isPendingOperation(value: unknown): value is PendingOperation {
  if (!isRecord(value) || typeof value['address'] !== 'string') return false;
  const isOptionalText = (text: unknown) => text === undefined || typeof text === 'string';
  return (
    ['create', 'update', 'delete'].includes(String(value['action'])) &&
    isOptionalText(value['id']) &&
    isOptionalText(value['digest'])
  );
}
