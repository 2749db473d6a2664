/** The lock of a state: one command at a time, taken over from the dead, never from the living. */

/** What `<state>.lock.info` says about its holder. Times are RFC 3339, UTC. */
export interface LockInfo {
  readonly id: string;
  /** User name. */
  readonly who: string;
  readonly host: string;
  readonly pid: number;
  /** The command that holds it, for example `apply`. */
  readonly operation: string;
  readonly created: string;
  readonly heartbeat: string;
  /** When the holder's process started, as its system counts, and its process namespace; empty where the system does not say. */
  readonly started: string;
  readonly namespace: string;
}

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
  readonly signal?: AbortSignal;
}

/** `<state>.lock.info`. */
export function lockPath(statePath: string): string {
  return `${statePath}.lock.info`;
}

/** Takes the lock, waiting for at most `timeoutMs` for a living holder. Throws `LockError`. */
export function acquireLock(_request: AcquireLock): Promise<Lock> {
  throw new LockError('unwritable', 'not yet');
}

/** Who holds the lock; null when nobody does. Throws `LockError` `unreadable`. */
export function readLock(_statePath: string): Promise<LockInfo | null> {
  throw new LockError('unreadable', 'not yet');
}

/** Removes the lock with this id, whoever holds it. Throws `LockError` `not_locked` or `other_id`. */
export function forceUnlock(_statePath: string, _id: string): Promise<LockInfo> {
  throw new LockError('not_locked', 'not yet');
}
