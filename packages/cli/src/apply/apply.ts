/** Carries out a plan: in order, many at a time, each operation recorded before it is sent. */
import {
  type Change,
  executionOrder,
  needsRequest,
  type PendingOperation,
  pendingOperation,
  recordResult,
} from '@obsiac/model';
import { LockError } from '../lock/lock.ts';
import { StateError, type StateWriter } from '../state/state-file.ts';
import type { ApplyInput } from './apply-input.ts';
import { Brake } from './brake.ts';
import { type ApplyResult, Ledger } from './outcome.ts';
import { Sending } from './sending.ts';
import { runWave } from './wave.ts';

export type { ApplyInput } from './apply-input.ts';
export type { ApplyEvent, ApplyResult, Outcome } from './outcome.ts';

const DEFAULT_CONCURRENCY = 16;

/**
 * Applies `plan`. Failures of single operations are in the result, not thrown; objects that depend on a failed one are skipped.
 * When it resolves, the state on disk holds what was done. Throws `StateError` or `LockError` only when not even the first
 * record could be written, so that nothing was sent.
 */
export async function applyPlan(input: ApplyInput): Promise<ApplyResult> {
  const { plan, state, stop } = input;
  const brake = new Brake();
  const onStop = (): void => {
    const lost = stop?.reason instanceof LockError ? stop.reason : null;
    brake.pull(lost ? { kind: 'lost', reason: lost.message } : { kind: 'cancelled', reason: 'Cancelled.' });
  };
  if (stop?.aborted) onStop();
  stop?.addEventListener('abort', onStop, { once: true });
  try {
    const ledger = new Ledger(plan.changes, input.onEvent ?? (() => undefined));
    const failure = await runWaves(input, settleLeftovers(input), brake, ledger);
    const unwritten = await state.flush().then(
      () => null,
      (error: unknown) => error,
    );
    if (failure.bug !== undefined) throw failure.bug;
    const stateError = failure.state ?? unwritten;
    if (stateError !== null) stopForState(stateError, brake, ledger);
    return resultOf(ledger, brake);
  } finally {
    stop?.removeEventListener('abort', onStop);
  }
}

/** Operations of an interrupted run whose end the plan has found out are over; those that are done again now are given back. */
function settleLeftovers({ plan, state }: ApplyInput): readonly PendingOperation[] {
  const again = new Set(plan.changes.filter(needsRequest).map((change) => change.address));
  const { pending } = state.snapshot();
  for (const { address } of pending) if (!again.has(address)) state.editor.settle(address);
  return pending.filter(({ address }) => again.has(address));
}

interface Failures {
  /** The state could not be written while work was left. */
  state: unknown;
  bug?: unknown;
}

async function runWaves(
  input: ApplyInput,
  leftovers: readonly PendingOperation[],
  brake: Brake,
  ledger: Ledger,
): Promise<Failures> {
  const failures: Failures = { state: null };
  const onBug = (bug: unknown): void => {
    failures.bug ??= bug;
  };
  const sending = new Sending(input, { brake, ledger, leftovers, onBug });
  const { state } = input;
  for (const wave of executionOrder(input.plan)) {
    recordSilent(wave, state, ledger, sending);
    await runWave(wave.filter(needsRequest), {
      concurrency: input.concurrency ?? DEFAULT_CONCURRENCY,
      blocked: (change) => sending.blocked(change),
      record: (changes) => state.record(changes.map(pendingOperation)),
      run: (change) => sending.run(change),
      skip: (change, reason, recorded) => {
        if (recorded) sending.takeBack(change);
        sending.finish('skipped', change, { reason });
      },
      recordFailed: (error) => {
        failures.state ??= error;
        const reason = error instanceof Error ? error.message : String(error);
        brake.pull({ kind: error instanceof LockError ? 'lost' : 'state', reason });
        return reason;
      },
    });
  }
  return failures;
}

/** Changes that need no request: they are in the state or out of it from here on. */
function recordSilent(wave: readonly Change[], state: StateWriter, ledger: Ledger, sending: Sending): void {
  for (const change of wave) {
    if (needsRequest(change)) continue;
    const obstacle = ledger.obstacle(change);
    if (obstacle !== undefined) {
      sending.finish('skipped', change, { reason: obstacle });
      continue;
    }
    recordResult(state.editor, change);
    sending.finish('done', change);
  }
}

/** What was sent is in the service, and the next run finds it; when nothing was sent, the error is all there is to say. */
function stopForState(error: unknown, brake: Brake, ledger: Ledger): void {
  if (!(error instanceof StateError || error instanceof LockError)) throw error;
  if (!ledger.hasSent) throw error;
  brake.pull({ kind: 'state', reason: error.message });
}

function exitOf(ledger: Ledger, brake: Brake): ApplyResult['exit'] {
  const { failed, skipped } = ledger;
  const kind = brake.stop?.kind;
  if (kind === 'cancelled' && failed.length + skipped.length > 0) return 9;
  if (failed.length + skipped.length === 0) return kind === 'state' ? 5 : 0;
  if (ledger.hasSent) return 5;
  if (kind === 'stale') return 7;
  const refused = failed.some(({ error }) => error?.code === 'credentials_refused' || error?.code === 'scope_too_low');
  return refused ? 4 : 1;
}

function resultOf(ledger: Ledger, brake: Brake): ApplyResult {
  const { done, failed, skipped } = ledger;
  const reason = brake.stop?.reason;
  const early = failed.length + skipped.length > 0 || brake.stop?.kind === 'state';
  return {
    done,
    failed,
    skipped,
    ...(reason !== undefined && early ? { stopped: reason } : {}),
    exit: exitOf(ledger, brake),
  };
}
