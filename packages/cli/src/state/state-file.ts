/** The state on disk: read whole or refused, replaced whole or left alone. */
import type { PendingOperation, State } from '@obsiac/model';
import type { Lock } from '../lock/lock.ts';

export type StateErrorCode =
  | 'unreadable'
  | 'damaged'
  | 'newer_version'
  | 'other_org'
  | 'other_address'
  | 'other_lineage'
  | 'no_space'
  | 'unwritable';

/** The state file could not be read, is not for this service, or could not be written. The message is a sentence for people. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly code: StateErrorCode;
  readonly path: string;

  constructor(code: StateErrorCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** The service that a state belongs to. */
export interface StateOwner {
  readonly apiBaseUrl: string;
  readonly org: string;
}

/** Reads and checks the file; null when there is none. Takes no lock. Throws `StateError`; never makes up an empty state. */
export function readStateFile(path: string, _owner?: StateOwner): Promise<State | null> {
  throw new StateError('unreadable', path, 'not yet');
}

export interface OpenState {
  readonly path: string;
  /** What `readStateFile` gave while the lock was held. */
  readonly previous: State | null;
  readonly owner: StateOwner;
  readonly toolVersion: string;
  readonly lock: Pick<Lock, 'assertHeld'>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The one writer of a state while a command runs. Writes are grouped: many results and intents share one write. */
export interface StateWriter {
  /** The state as it would be written now. */
  snapshot(): State;
  /** Writes `operations` into `pending`; resolves when they are on disk. */
  record(operations: readonly PendingOperation[]): Promise<void>;
  /** Writes what has changed since the last write; nothing when nothing has. */
  flush(): Promise<void>;
}

/** Starts a writer; nothing is written until there is something to write. */
export function openState(request: OpenState): StateWriter {
  throw new StateError('unwritable', request.path, 'not yet');
}
