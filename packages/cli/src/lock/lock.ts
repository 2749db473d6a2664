/** The lock of a state: one command at a time, taken over from the dead, never from the living. */
import { randomUUID } from 'node:crypto';
import { readFileSync, unlinkSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { HEARTBEAT_MS, type LockInfo, lifeOf, ownInfo, parseInfo, systemVitals, type Vitals } from './holder.ts';
import { beat, claim, dropUnwritten, giveUp, look, make, removeHolder, replace } from './lock-file.ts';

export type { LockInfo } from './holder.ts';

export type LockErrorCode = 'held' | 'lost' | 'unwritable' | 'unreadable' | 'not_locked' | 'other_id' | 'cancelled';

/** The lock could not be had or kept. `code: 'held'` is exit code 6. The message is a sentence for people. */
export class LockError extends Error {
  override readonly name = 'LockError';
  readonly code: LockErrorCode;
  readonly holder: LockInfo | null;

  constructor(code: LockErrorCode, message: string, holder: LockInfo | null = null) {
    super(message);
    this.code = code;
    this.holder = holder;
  }
}

export interface Lock {
  readonly info: LockInfo;
  /** The dead or expired holder it was taken from: to be told to the user. */
  readonly takenOverFrom: LockInfo | null;
  /** Reads the file; throws `LockError` `lost` when another holds the lock now. Called before each write of the state. */
  assertHeld(): Promise<void>;
  /** Aborted as soon as the heartbeat notices that the lock is lost. */
  readonly lost: AbortSignal;
  /** Safe to call twice; leaves the file alone when it is no longer ours. */
  release(): Promise<void>;
}

export interface AcquireLock {
  readonly statePath: string;
  readonly operation: string;
  /** How long to wait for a living holder; 0: not at all. */
  readonly timeoutMs: number;
  /** Called once when waiting begins. */
  readonly onWait?: (holder: LockInfo) => void;
  readonly signal?: AbortSignal | undefined;
  /** For tests. */
  readonly vitals?: Vitals;
  readonly heartbeatMs?: number;
}

/** Making, taking over and removing the lock take milliseconds; whoever is longer at it is stuck. */
const LONGEST_BUSY_MS = 20_000;
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 1000;

/** `<state>.lock.info`. */
export function lockPath(statePath: string): string {
  return `${statePath}.lock.info`;
}

function systemError(code: 'unwritable' | 'unreadable', path: string, error: unknown): LockError {
  if (error instanceof LockError) return error;
  const reason = (error as NodeJS.ErrnoException).code ?? String(error);
  const verb = code === 'unwritable' ? 'written' : 'read';
  const advice = 'Check that the directory exists and that this user may write there.';
  return new LockError(code, `The lock file ${path} cannot be ${verb} (${reason}). ${advice}`);
}

function heldError(statePath: string, holder: LockInfo): LockError {
  const { who, host, pid, operation, created, id } = holder;
  const holds = `${who} on ${host} (process ${pid}) has been running ${operation} since ${created} and holds the lock of ${statePath}`;
  const advice = `Wait for it to end, or give --lock-timeout. If that process is gone for sure: obsiac force-unlock ${id}`;
  return new LockError('held', `${holds}. ${advice}`, holder);
}

/** Takes the lock, waiting for at most `timeoutMs` for a living holder. Throws `LockError`. */
export async function acquireLock(request: AcquireLock): Promise<Lock> {
  const path = lockPath(request.statePath);
  const vitals = request.vitals ?? systemVitals();
  const started = performance.now();
  let waiting = false;
  for (let poll = FIRST_POLL_MS; ; poll = Math.min(LONGEST_POLL_MS, poll * 2)) {
    const taken = await take(path, request.operation, vitals).catch((error: unknown) => {
      throw systemError('unwritable', path, error);
    });
    if (taken.kind === 'taken') return hold(path, taken, request.heartbeatMs ?? HEARTBEAT_MS, vitals);
    if (taken.kind === 'held') {
      if (performance.now() - started >= request.timeoutMs) throw heldError(request.statePath, taken.holder);
      if (!waiting) request.onWait?.(taken.holder);
      waiting = true;
    } else if (performance.now() - started >= request.timeoutMs + LONGEST_BUSY_MS) {
      throw new LockError(
        'unwritable',
        `The lock file ${path} is neither free nor held. Remove it and ${path}.*.claim when no obsiac runs.`,
      );
    }
    const left = Math.max(10, request.timeoutMs - (performance.now() - started));
    await sleep(Math.min(poll, left), undefined, request.signal && { signal: request.signal }).catch(() => undefined);
    if (request.signal?.aborted) throw new LockError('cancelled', 'Waiting for the lock was cancelled.');
  }
}

interface Taken {
  readonly kind: 'taken';
  readonly info: LockInfo;
  readonly handle: FileHandle;
  readonly from: LockInfo | null;
}
/** `busy`: somebody is just making, taking over or removing the lock; look again soon. */
type Take = Taken | { readonly kind: 'held'; readonly holder: LockInfo } | { readonly kind: 'busy' };

async function take(path: string, operation: string, vitals: Vitals): Promise<Take> {
  const info = ownInfo(randomUUID(), operation, vitals);
  const made = await make(path, info);
  if (made !== null) return { kind: 'taken', info, handle: made, from: null };
  const standing = await look(path);
  if (standing.kind === 'free') return { kind: 'busy' };
  if (standing.kind === 'unwritten') {
    await dropUnwritten(path, standing);
    return { kind: 'busy' };
  }
  const { holder } = standing;
  const life = lifeOf(holder, vitals);
  const dead = life === 'gone' || (life === 'silent' && (await staysSilent(path, holder, vitals)));
  return dead ? takeOver(path, holder, info, vitals) : { kind: 'held', holder };
}

/** The clock of the holder's machine may be behind ours: only a heartbeat that does not move counts. */
async function staysSilent(path: string, holder: LockInfo, vitals: Vitals): Promise<boolean> {
  await sleep(vitals.watchMs);
  const standing = await look(path);
  return standing.kind === 'held' && standing.holder.id === holder.id && standing.holder.heartbeat === holder.heartbeat;
}

async function takeOver(path: string, dead: LockInfo, info: LockInfo, vitals: Vitals): Promise<Take> {
  const claims = await claim(path, dead.id, info, vitals);
  if (claims === null) return { kind: 'busy' };
  try {
    const handle = await replace(path, dead.id, info);
    return handle === null ? { kind: 'busy' } : { kind: 'taken', info, handle, from: dead };
  } finally {
    await giveUp(claims);
  }
}

/** Keeps the lock alive until it is released or found to be another's. */
function hold(path: string, taken: Taken, heartbeatMs: number, vitals: Vitals): Lock {
  const { info, handle } = taken;
  const lost = new AbortController();
  let released = false;

  const assertHeld = async (): Promise<void> => {
    const standing = await look(path).catch((error: unknown) => {
      throw systemError('unreadable', path, error);
    });
    if (!released && standing.kind === 'held' && standing.holder.id === info.id) return;
    const other = standing.kind === 'held' ? standing.holder : null;
    const by = other === null ? 'it is gone' : `${other.who} on ${other.host} (process ${other.pid}) holds it now`;
    const error = new LockError('lost', `The lock was lost: ${by}. Nothing more is written.`, other);
    lost.abort(error);
    throw error;
  };
  const timer = setInterval(() => {
    const heartbeat = new Date(vitals.now()).toISOString();
    assertHeld()
      .then(() => beat(handle, { ...info, heartbeat }))
      .catch(() => undefined);
  }, heartbeatMs);
  timer.unref();
  const onExit = (): void => removeOwnSync(path, info.id);
  process.once('exit', onExit);

  return {
    info,
    takenOverFrom: taken.from,
    lost: lost.signal,
    assertHeld,
    async release() {
      if (released) return;
      released = true;
      clearInterval(timer);
      process.removeListener('exit', onExit);
      try {
        await removeClaimed(path, info.id, { ...info, id: randomUUID() }, vitals);
      } finally {
        await handle.close();
      }
    },
  };
}

/** Removes the file of holder `id` under a claim, so that a taker at the same moment loses nothing. */
async function removeClaimed(path: string, id: string, by: LockInfo, vitals: Vitals): Promise<boolean> {
  const claims = await claim(path, id, by, vitals);
  if (claims === null) return false;
  try {
    return await removeHolder(path, id);
  } finally {
    await giveUp(claims);
  }
}

/** For the way out through `process.exit`, where nothing can be waited for. */
function removeOwnSync(path: string, id: string): void {
  try {
    if (parseInfo(readFileSync(path, 'utf8'))?.id === id) unlinkSync(path);
  } catch {
    // Gone already, or not removable: the next run finds this process dead.
  }
}

/** Who holds the lock; null when nobody does. Throws `LockError` `unreadable`. */
export async function readLock(statePath: string): Promise<LockInfo | null> {
  const path = lockPath(statePath);
  const standing = await look(path).catch((error: unknown) => {
    throw systemError('unreadable', path, error);
  });
  return standing.kind === 'held' ? standing.holder : null;
}

/** Removes the lock with this id, whoever holds it. Throws `LockError` `not_locked` or `other_id`. */
export async function forceUnlock(statePath: string, id: string): Promise<LockInfo> {
  const holder = await readLock(statePath);
  if (holder === null) throw new LockError('not_locked', `Nobody holds the lock of ${statePath}.`);
  if (holder.id !== id) {
    const detail = `The lock of ${statePath} has the id ${holder.id}, not ${id}: ${holder.who} on ${holder.host} holds it for ${holder.operation}.`;
    throw new LockError('other_id', detail, holder);
  }
  const vitals = systemVitals();
  const by = ownInfo(randomUUID(), 'force-unlock', vitals);
  const path = lockPath(statePath);
  const removed = await removeClaimed(path, id, by, vitals).catch((error: unknown) => {
    throw systemError('unwritable', path, error);
  });
  if (!removed)
    throw new LockError('not_locked', `The lock of ${statePath} was just given up or taken over. Look again.`);
  return holder;
}
