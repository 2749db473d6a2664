/** What has to happen with one object, given what is wanted, what the service holds and what the state remembers. */
import type { Source } from '../diagnostic.ts';
import type { AppliedObject, PendingOperation } from '../state/state.ts';
import { isComparableDigest } from './canonical.ts';
import type { Kind } from './kinds.ts';
import type { Held } from './match.ts';
import type { Action, ChangeOf, ChangeReason, Drift, FieldChange, ResourceKind } from './plan.ts';

export interface Decision<Name extends ResourceKind, Value> {
  readonly change: ChangeOf<Name, Value>;
  readonly drift?: Drift;
}

const NO_FIELDS: readonly FieldChange[] = [];

/** A wanted object with all that is known of it. */
export interface Wanted<Value> {
  readonly address: string;
  readonly previousAddress?: string;
  readonly desired: Value;
  readonly held?: Held<Value>;
  readonly applied?: AppliedObject;
  readonly pending?: PendingOperation;
  /** The entity around it is gone from the service, which is reported once and not for each object in it. */
  readonly entityIsGone: boolean;
  readonly after: readonly string[];
}

export function decideWanted<Name extends ResourceKind, Value extends { readonly source?: Source }>(
  kind: Kind<Name, Value>,
  wanted: Wanted<Value>,
): Decision<Name, Value> {
  const { held } = wanted;
  if (held === undefined) return decideMissing(kind, wanted);
  const form = kind.form(wanted.desired);
  const heldForm = kind.form(held.value);
  const digest = kind.digest(form);
  const heldDigest = heldForm === form ? digest : kind.digest(heldForm);
  const fields = kind.compare(wanted.desired, held.value, heldForm === form);
  const drifted = hasDrifted(wanted, heldDigest);
  const [action, reason] = wanted.applied
    ? decideApplied(wanted, wanted.applied, fields.length > 0, { drifted, digest, heldDigest })
    : decideUnrecorded(wanted, held, fields.length > 0);
  return {
    change: {
      kind: kind.name,
      action,
      address: wanted.address,
      ...(wanted.previousAddress !== undefined && { previousAddress: wanted.previousAddress }),
      reason,
      id: held.id,
      desired: wanted.desired,
      actual: held.value,
      fields,
      digest: action === 'noop' ? heldDigest : digest,
      after: wanted.after,
      ...(wanted.desired.source && { source: wanted.desired.source }),
    },
    ...(drifted && {
      drift: driftOf(kind.name, wanted.previousAddress ?? wanted.address, 'changed', wanted.desired.source),
    }),
  };
}

function decideMissing<Name extends ResourceKind, Value extends { readonly source?: Source }>(
  kind: Kind<Name, Value>,
  wanted: Wanted<Value>,
): Decision<Name, Value> {
  const { address, previousAddress, desired, applied, pending, entityIsGone } = wanted;
  const reason = missingReason(applied, pending);
  return {
    change: {
      kind: kind.name,
      action: 'create',
      address,
      ...(previousAddress !== undefined && { previousAddress }),
      reason,
      desired,
      fields: NO_FIELDS,
      digest: kind.digest(kind.form(desired)),
      after: wanted.after,
      ...(desired.source && { source: desired.source }),
    },
    ...(reason === 'drift' &&
      !entityIsGone && { drift: driftOf(kind.name, previousAddress ?? address, 'deleted', desired.source) }),
  };
}

function missingReason(applied: AppliedObject | undefined, pending: PendingOperation | undefined): ChangeReason {
  if (applied) return pending?.action === 'delete' ? 'interrupted' : 'drift';
  return pending?.action === 'create' ? 'interrupted' : 'new';
}

/** Whether somebody changed the object after it was applied. An update of ours that went through unrecorded is none. */
function hasDrifted<Value>({ applied, pending }: Wanted<Value> | Unwanted<Value>, heldDigest: string): boolean {
  if (applied === undefined || !isComparableDigest(applied.digest)) return false;
  return applied.digest !== heldDigest && pending?.digest !== heldDigest;
}

interface Digests {
  readonly drifted: boolean;
  readonly digest: string;
  readonly heldDigest: string;
}

function decideApplied<Value>(
  { previousAddress, pending }: Wanted<Value>,
  applied: AppliedObject,
  differs: boolean,
  { drifted, digest, heldDigest }: Digests,
): readonly [Action, ChangeReason] {
  const wentThrough = pending?.digest === heldDigest && applied.digest !== heldDigest;
  if (!differs) return ['noop', drifted ? 'drift' : wentThrough ? 'interrupted' : 'model'];
  if (previousAddress !== undefined) return ['move', 'renamed'];
  if (wentThrough) return ['update', 'interrupted'];
  return ['update', drifted && applied.digest === digest ? 'drift' : 'model'];
}

function decideUnrecorded<Value>(
  { previousAddress, pending }: Wanted<Value>,
  held: Held<Value>,
  differs: boolean,
): readonly [Action, ChangeReason] {
  if (previousAddress !== undefined) return ['move', 'renamed'];
  const isOurs = pending?.action === 'create' || (pending !== undefined && pending.id === held.id);
  if (isOurs) return [differs ? 'update' : 'noop', 'interrupted'];
  return ['adopt', 'adopted'];
}

/** An object that the state knows, or an interrupted apply made, and nobody wants. */
export interface Unwanted<Value> {
  readonly address: string;
  readonly held?: Held<Value>;
  readonly applied?: AppliedObject;
  readonly pending?: PendingOperation;
}

export function decideUnwanted<Name extends ResourceKind, Value>(
  kind: Kind<Name, Value>,
  unwanted: Unwanted<Value>,
): Decision<Name, Value> {
  const { address, held, applied, pending } = unwanted;
  const change = { kind: kind.name, address, fields: NO_FIELDS, after: [] };
  if (held === undefined) {
    const wentThrough = pending?.action === 'delete';
    return {
      change: { ...change, action: 'forget', reason: wentThrough ? 'interrupted' : 'drift', id: applied?.id },
      ...(!wentThrough && { drift: driftOf(kind.name, address, 'deleted') }),
    };
  }
  const drifted = hasDrifted(unwanted, kind.digest(kind.form(held.value)));
  return {
    change: {
      ...change,
      action: 'delete',
      reason: applied ? 'removed' : 'interrupted',
      id: held.id,
      actual: held.value,
    },
    ...(drifted && { drift: driftOf(kind.name, address, 'changed') }),
  };
}

/** Whether an object that is not in the state was made by an apply that was interrupted before it could record it. */
export function isOrphan<Name extends ResourceKind, Value>(
  kind: Kind<Name, Value>,
  held: Held<Value>,
  pending: PendingOperation | undefined,
): boolean {
  if (pending?.action === 'delete') return pending.id === held.id;
  return pending?.action === 'create' && pending.digest === kind.digest(kind.form(held.value));
}

function driftOf(kind: ResourceKind, address: string, what: Drift['what'], source?: Source): Drift {
  return { address, kind, what, ...(source && { source }) };
}
