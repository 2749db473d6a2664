/** Plans the indicators, the rules or the channels of one entity. */
import { type ChildKind, childAddress } from '../address.ts';
import type { Diagnostic, Source } from '../diagnostic.ts';
import type { PendingOperation } from '../state/state.ts';
import { planProblem } from './codes.ts';
import { type Decision, decideUnwanted, decideWanted, isOrphan } from './decide.ts';
import type { Kind } from './kinds.ts';
import { type Held, type MatchInput, matchObjects } from './match.ts';
import type { ChangeOf, Drift } from './plan.ts';

export type Pending = ReadonlyMap<string, PendingOperation>;

/** The entity around the objects that are planned. */
export interface Scope {
  readonly ref: string;
  /** The service does not have it (any more), so that it holds nothing. */
  readonly isMissing: boolean;
  readonly pending: Pending;
}

/** The plan of one entity's objects of one kind. */
export interface ChildPlan<Name extends ChildKind, Value> {
  readonly wanted: readonly ChangeOf<Name, Value>[];
  readonly unwanted: readonly ChangeOf<Name, Value>[];
  /** Objects that are left alone. */
  readonly unmanaged: readonly Held<Value>[];
  readonly drift: readonly Drift[];
  readonly diagnostics: readonly Diagnostic[];
}

export function planChildren<Name extends ChildKind, Value extends { readonly source?: Source }>(
  kind: Kind<Name, Value>,
  scope: Scope,
  input: MatchInput<Value>,
  after: (desired: Value) => readonly string[],
): ChildPlan<Name, Value> {
  const addressOf = (key: string) => childAddress(scope.ref, kind.name, key);
  const { matches, leftovers, foreign } = matchObjects(input);
  const diagnostics: Diagnostic[] = [];
  const wanted: Decision<Name, Value>[] = matches.map((match) => {
    const { desired, held, applied } = match;
    const address = addressOf(match.key);
    const previousAddress = match.previousKey === undefined ? undefined : addressOf(match.previousKey);
    const pending = pendingAt(scope.pending, address, previousAddress);
    if (match.blockedBy !== undefined) {
      diagnostics.push(blockedMove(address, addressOf(match.blockedBy), desired.source));
    }
    const known = { address, previousAddress, desired, held, applied, pending };
    return decideWanted(kind, { ...known, entityIsGone: scope.isMissing, after: after(desired) });
  });
  // In an entity that has to be created anew, nothing is left to delete.
  const unwanted: Decision<Name, Value>[] = (scope.isMissing ? [] : leftovers).map((leftover) => {
    const address = addressOf(leftover.key);
    return decideUnwanted(kind, { ...leftover, address, pending: scope.pending.get(address) });
  });
  const unmanaged: Held<Value>[] = [];
  for (const { key, held } of foreign) {
    const address = addressOf(key);
    if (isOrphan(kind, held, scope.pending.get(address))) unwanted.push(decideUnwanted(kind, { address, held }));
    else unmanaged.push(held);
  }
  return {
    wanted: wanted.map((decision) => decision.change),
    unwanted: unwanted.map((decision) => decision.change),
    unmanaged,
    drift: [...wanted, ...unwanted].flatMap((decision) => decision.drift ?? []),
    diagnostics,
  };
}

/** The operation that was interrupted on an object, under its new or its old address. */
export function pendingAt(
  pending: Pending,
  address: string,
  previousAddress: string | undefined,
): PendingOperation | undefined {
  return pending.get(address) ?? (previousAddress === undefined ? undefined : pending.get(previousAddress));
}

export function blockedMove(to: string, from: string, source: Source | undefined): Diagnostic {
  const detail = `The model moves ${from} to ${to}, but the service has both. The one at the new address is kept, and the one at the old address is deleted if it was applied before. Remove the \`moved\` entry, or delete one of the two in the service.`;
  return planProblem('moved/blocked', detail, source);
}
