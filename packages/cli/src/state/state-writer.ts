/**
 * Writes a state while a command runs. A write per operation would cost seconds of fsync and megabytes each, so writes are
 * grouped: whoever needs something on disk waits for the next write, and one write carries all that has gathered by then.
 */
import { randomUUID } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type PendingOperation, STATE_VERSION, type State, StateEditor, writeState } from '@obsiac/model';
import { sha256 } from '../digest.ts';
import { type Lock, LockError } from '../lock/lock.ts';
import { type FileCalls, replaceFile, systemFileCalls } from './replace-file.ts';
import { unwritable } from './state-error.ts';

/** The service that a state belongs to. */
export interface StateOwner {
  readonly apiBaseUrl: string;
  readonly org: string;
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
  /** For tests. */
  readonly files?: FileCalls;
}

/** The one writer of a state while a command runs. */
export interface StateWriter {
  /** For results; they reach the disk with the next write. */
  readonly editor: StateEditor;
  /** The state as it would be written now. */
  snapshot(): State;
  /** Writes `operations` into `pending`; resolves when they are on disk. Throws `StateError` or `LockError`. */
  record(operations: readonly PendingOperation[]): Promise<void>;
  /** Writes what has changed since the last write; nothing when nothing has. Throws `StateError` or `LockError`. */
  flush(): Promise<void>;
}

function firstState(request: OpenState, now: string): State {
  return {
    version: STATE_VERSION,
    serial: 0,
    lineage: randomUUID(),
    tool_version: request.toolVersion,
    api_base_url: request.owner.apiBaseUrl,
    org: request.owner.org,
    updated_at: now,
    entities: {},
    pending: [],
  };
}

/** Starts a writer; nothing is written until there is something to write. */
export function openState(request: OpenState): StateWriter {
  const { toolVersion, lock } = request;
  const clock = request.now ?? Date.now;
  const timestamp = (): string => new Date(clock()).toISOString();
  const first = request.previous ?? firstState(request, timestamp());
  const editor = new StateEditor(first);
  const snapshot = (): State => editor.snapshot({ now: timestamp(), tool_version: toolVersion });
  const files = request.files ?? systemFileCalls;
  let onDisk: State = first;
  let writing: Promise<void> | null = null;
  let next: Promise<void> | null = null;

  const write = async (): Promise<void> => {
    const state = snapshot();
    if (state === onDisk) return;
    // The lock is looked at as late as can be: a holder that slept too long must not write over the one who followed it.
    await lock.assertHeld();
    try {
      const path = await realpath(request.path).catch(() => request.path);
      await replaceFile({ path, directory: dirname(path), text: writeState(state, sha256) }, files);
      onDisk = state;
    } catch (error) {
      throw error instanceof LockError ? error : unwritable(request.path, error);
    }
  };

  /** Joins the write that has not begun yet, or begins one after that which is under way. */
  const flush = (): Promise<void> => {
    if (next !== null) return next;
    const turn = async (): Promise<void> => {
      await writing?.catch(() => undefined);
      writing = next;
      next = null;
      await write();
    };
    next = turn();
    return next;
  };

  return {
    editor,
    snapshot,
    record(operations) {
      editor.begin(operations);
      return flush();
    },
    flush,
  };
}
