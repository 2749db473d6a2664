/** Carries a plan out against the reference service as the tool does, and dies in the middle when it is told to. */
import {
  emptyState,
  executionOrder,
  needsRequest,
  type Plan,
  type PlanInput,
  pendingOperation,
  plan,
  readState,
  recordResult,
  type State,
  StateEditor,
  writeState,
} from '../src/index.ts';
import { type ReferenceService, sha256 } from './reference-service.ts';

const STAMP = { now: '2026-01-01T00:00:00Z', tool_version: '1.0.0' };
const ORIGIN = { org: 'acme', api_base_url: 'https://obsiac.example.com/api/v4' };

export const newState = (): State =>
  emptyState({ ...ORIGIN, ...STAMP, lineage: '00000000-0000-4000-8000-000000000000' });

export interface ApplyOptions {
  /** The process dies when this many steps are done: each request and each state write is a step. */
  readonly dieAfter?: number;
  /** Operations noted as pending with one write; their results are written with the next. */
  readonly batch?: number;
}

/** What is on disk afterwards, read back from its text. */
export interface Applied {
  readonly state: State | null;
  readonly died: boolean;
}

class Death extends Error {}

export function applyPlan(
  service: ReferenceService,
  made: Plan,
  state: State | null,
  options: ApplyOptions = {},
): Applied {
  const { dieAfter = Number.POSITIVE_INFINITY, batch = 3 } = options;
  const editor = new StateEditor(state ?? newState());
  let onDisk = state === null ? null : writeState(state, sha256);
  let steps = 0;
  const step = () => {
    if (steps >= dieAfter) throw new Death();
    steps += 1;
  };
  const persist = () => {
    step();
    onDisk = writeState(editor.snapshot(STAMP), sha256);
  };
  try {
    for (const wave of executionOrder(made)) {
      for (const change of wave) if (!needsRequest(change)) recordResult(editor, change);
      const requests = wave.filter(needsRequest);
      for (let at = 0; at < requests.length; at += batch) {
        const together = requests.slice(at, at + batch);
        editor.begin(together.map(pendingOperation));
        persist();
        for (const change of together) {
          step();
          recordResult(editor, change, service.send(change) ?? change.id);
        }
      }
    }
    editor.settleAll();
    persist();
  } catch (error) {
    if (!(error instanceof Death)) throw error;
    return { state: reread(onDisk), died: true };
  }
  return { state: reread(onDisk), died: false };
}

function reread(text: string | null): State | null {
  if (text === null) return null;
  const result = readState(text, { expect: ORIGIN, sha256 });
  if (!result.state) throw new Error(result.error.message);
  return result.state;
}

/** Plans a model against the service. */
export function planFor(desired: PlanInput['desired'], service: ReferenceService, state: State | null): Plan {
  return plan({ desired, actual: service.actual(), state, sha256 });
}

/** Plans and applies a model; gives the state afterwards. */
export function applyModel(
  desired: PlanInput['desired'],
  service: ReferenceService,
  state: State | null,
): State | null {
  return applyPlan(service, planFor(desired, service, state), state).state;
}
