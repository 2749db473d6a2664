/** Carries what became of a change into the state. */
import type { StateEditor } from '../state/editor.ts';
import type { PendingOperation } from '../state/state.ts';
import type { Change } from './plan.ts';

/** What to keep in the state before a change is sent, so that a run that is killed can be picked up. */
export function pendingOperation(change: Change): PendingOperation {
  const { address, id, digest } = change;
  switch (change.action) {
    case 'create':
      return { address, action: 'create', digest };
    case 'delete':
    case 'forget':
      return { address, action: 'delete', id };
    default:
      return { address, action: 'update', id, digest };
  }
}

/**
 * Records a change that succeeded, or that needed no request. `id` is the one that the service answered with; it may differ
 * from the id before, and is left out when the service gave none.
 */
export function recordResult(editor: StateEditor, change: Change, id: string | undefined = change.id): void {
  if (change.impliedBy !== undefined) return;
  if (change.action === 'delete' || change.action === 'forget') {
    editor.remove(change.address);
    return;
  }
  if (id === undefined || change.digest === undefined) throw new Error(`no id or digest to record ${change.address}`);
  if (change.previousAddress !== undefined) editor.move(change.previousAddress, change.address);
  // An entity made anew has nothing in it, whatever the state remembers of its predecessor.
  if (change.kind === 'entity' && change.action === 'create') editor.remove(change.address);
  editor.record(change.address, { id, digest: change.digest });
}
