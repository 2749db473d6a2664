/** A plan as a file: made by `plan -out`, carried out by `apply FILE`. */
import type { Entity } from '../model.ts';
import type { Change, Plan, PlanBase, Sha256 } from './plan.ts';

const FORMAT = 'obsiac-plan';
export const PLAN_FILE_VERSION = 1;

/** A plan together with what it was made against. */
export interface SavedPlan {
  readonly base: PlanBase;
  readonly plan: Plan;
}

export type PlanFileErrorCode = 'not-json' | 'not-a-plan' | 'newer-version' | 'checksum';

/** Why a plan file cannot be used; `message` is one or two sentences with what to do. */
export interface PlanFileError {
  readonly code: PlanFileErrorCode;
  readonly message: string;
}

export type PlanFileResult =
  | (SavedPlan & { readonly error?: undefined })
  | { readonly error: PlanFileError; readonly plan?: undefined; readonly base?: undefined };

/**
 * The text of a plan file, one change a line, ending with the SHA-256 of what is before it. It holds what the model and
 * the service say, so queries and annotations, but no tokens and no channel destinations: a plan never has those.
 * Objects that do not change are kept without their values, since only their ids are still needed, and entities without
 * what is in them, since those are changes of their own.
 */
export function planToJson({ plan, base }: SavedPlan, sha256: Sha256): string {
  const { changes, ...rest } = plan;
  const body = `{
"format": ${JSON.stringify(FORMAT)},
"version": ${PLAN_FILE_VERSION},
"base": ${JSON.stringify(base)},
"plan": ${JSON.stringify(rest)},
"changes": [${changes.map((change) => `\n${JSON.stringify(toSaved(change))}`).join(',')}
]`;
  return `${body},\n"checksum": ${JSON.stringify(sha256(body))}\n}\n`;
}

function toSaved(change: Change): Change {
  if (change.action === 'noop') return { ...change, desired: undefined, actual: undefined };
  if (change.kind !== 'entity') return change;
  const { desired, actual } = change;
  return { ...change, desired: desired && withoutContents(desired), actual: actual && withoutContents(actual) };
}

function withoutContents(entity: Entity): Entity {
  return { ...entity, indicators: [], alert_rules: [], notification_channels: [] };
}

/** Reads a plan file; refuses one that is damaged, changed by hand, or of a later version. */
export function planFromJson(text: string, sha256: Sha256): PlanFileResult {
  // A checkout on another system may have changed the line ends; inside JSON texts they are escaped.
  const normalised = text.replaceAll('\r\n', '\n');
  const content = parseJson(normalised);
  if (content === undefined) {
    return refuse('not-json', 'The plan file is not JSON, or it was cut off. Make a new one with `plan -out FILE`.');
  }
  if (!isRecord(content) || content['format'] !== FORMAT || typeof content['version'] !== 'number') {
    return refuse('not-a-plan', 'The file is JSON, but not a saved plan. Make one with `plan -out FILE`.');
  }
  if (content['version'] > PLAN_FILE_VERSION) {
    const versions = `has format version ${content['version']}, and this version of the tool reads up to ${PLAN_FILE_VERSION}`;
    return refuse('newer-version', `The plan file ${versions}. Apply it with the version of the tool that made it.`);
  }
  const body = normalised.slice(0, normalised.lastIndexOf(',\n"checksum": '));
  const { base, plan, changes } = content;
  if (content['checksum'] !== sha256(body) || !isRecord(base) || !isRecord(plan) || !Array.isArray(changes)) {
    const message = 'The plan file was damaged or edited: its content does not match its checksum.';
    return refuse('checksum', `${message} Make a new one with \`plan -out FILE\`.`);
  }
  return { base: base as unknown as PlanBase, plan: { ...plan, changes } as unknown as Plan };
}

function refuse(code: PlanFileErrorCode, message: string): PlanFileResult {
  return { error: { code, message } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
