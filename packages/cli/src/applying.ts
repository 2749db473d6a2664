/** Carries out a plan while the state is locked: what apply and destroy have in common. */
import type { Plan, State } from '@obsiac/model';
import { applyPlan } from './apply/apply.ts';
import type { Context } from './commands/command.ts';
import type { ExitCode } from './exit-code.ts';
import { acquireLock, type Lock } from './lock/lock.ts';
import type { ConfigProject } from './project/project.ts';
import type { Session } from './session.ts';
import { openState, readStateFile } from './state/state-file.ts';
import { VERSION } from './version.ts';
import { applyEnded, applyStep } from './views/apply/messages.ts';
import { lockAcquired, lockReleased, waitingForLock } from './views/locks.ts';

type Operation = 'apply' | 'destroy';

/** A state that nobody else can write until the work is done. */
export interface LockedState {
  readonly lock: Lock;
  /** Null when there is none yet. */
  readonly state: State | null;
}

export interface LockRequest {
  readonly project: ConfigProject;
  readonly operation: Operation;
  readonly timeoutMs: number;
}

/** Takes the lock, reads the state, does `work`, and gives the lock back whatever happens. */
export async function withLockedState<Result>(
  { project, operation, timeoutMs }: LockRequest,
  context: Context,
  work: (locked: LockedState) => Promise<Result>,
): Promise<Result> {
  const lock = await acquireLock({
    statePath: project.statePath,
    operation,
    timeoutMs,
    signal: context.cancelled,
    onWait: (holder) => context.view.say(waitingForLock(holder, timeoutMs)),
  });
  context.view.say(lockAcquired(lock));
  try {
    return await work({ lock, state: await readStateFile(project.statePath, project.owner) });
  } finally {
    await lock.release();
    context.view.say(lockReleased(lock.info));
  }
}

export interface CarryOut {
  readonly plan: Plan;
  readonly session: Session;
  readonly project: ConfigProject;
  readonly locked: LockedState;
  readonly operation: Operation;
  readonly concurrency: number;
  /** Refuse when the service has moved on from this revision. */
  readonly expectedRevision?: number;
  /** Say nothing while all goes well: for a plan that only refreshes the state. */
  readonly quiet?: boolean;
}

/** Applies and shows how it goes and ends; gives the exit code. Failures of operations are shown, not thrown. */
export async function carryOut(request: CarryOut, context: Context): Promise<ExitCode> {
  const { plan, session, project, locked, operation, concurrency, expectedRevision, quiet = false } = request;
  const result = await applyPlan({
    plan,
    client: session.client,
    state: openState({
      path: project.statePath,
      previous: locked.state,
      owner: project.owner,
      toolVersion: VERSION,
      lock: locked.lock,
    }),
    concurrency,
    onEvent: (event) => {
      if (!quiet) context.view.say(applyStep(event));
    },
    stop: AbortSignal.any([context.cancelled, locked.lock.lost]),
    abort: context.aborted,
    ...(expectedRevision !== undefined && { expectedRevision }),
  });
  if (!quiet || result.exit !== 0) {
    context.view.say(applyEnded(result, operation));
  }
  return result.exit;
}
