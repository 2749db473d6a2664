/** The plan: a pure function of what the model wants, what the service holds and what the state remembers. */
import { parseAddress } from '../address.ts';
import type { AppliedEntity, State } from '../state/state.ts';
import type { Planning } from './contents.ts';
import { isOrphan } from './decide.ts';
import { type EntityPlan, planUnwantedEntity, planWantedEntity } from './entity-plan.ts';
import { createKinds } from './kinds.ts';
import { matchObjects } from './match.ts';
import { readMoves } from './moves.ts';
import type { ActualEntity, Change, Plan, PlanInput, RenameSuggestion, Totals } from './plan.ts';
import { checkReferences, createChannelResolver } from './references.ts';
import { suggestRenames } from './renames.ts';

/**
 * Compares three ways. What the state has and the model no longer wants is deleted; what neither knows is left alone.
 * The model must have passed its checks: names are unique, and references inside it resolve.
 * Time and memory grow with the number of objects, not faster.
 */
export function plan(input: PlanInput): Plan {
  const { desired, actual, state } = input;
  const planning = createPlanning(input);
  const { matches, leftovers, foreign } = matchObjects({
    desired: new Map(desired.entities.map((entity) => [entity.external_ref, entity])),
    actual: new Map([...planning.actual].map(([ref, { id, entity }]) => [ref, { id, value: entity }])),
    state: planning.applied,
    moves: planning.moves.entities,
  });
  const orphans = foreign.filter(({ key, held }) => isOrphan(planning.kinds.entity, held, planning.pending.get(key)));
  const wanted = matches.map((match) => planWantedEntity(match, planning));
  const unwanted = [...leftovers, ...orphans].map((leftover) => planUnwantedEntity(leftover, planning));
  const parts = [...wanted, ...unwanted];
  const changes = parts.flatMap((part) => part.changes);
  const deletions = parts.flatMap((part) => part.deletions);
  const renames = suggestRenames(changes, deletions);
  const ordered = [...changes, ...waitForSuccessors(changes, deletions, renames)];
  return {
    changes: ordered,
    drift: parts.flatMap((part) => part.drift),
    renames,
    totals: countTotals(ordered),
    unmanaged: countUnmanaged(parts, foreign.length - orphans.length),
    managed: countManaged(state),
    diagnostics: [...checkReferences(desired.entities, actual), ...parts.flatMap((part) => part.diagnostics)],
  };
}

function createPlanning(input: PlanInput): Planning {
  const actual = new Map<string, ActualEntity>();
  for (const held of input.actual.entities) {
    if (!actual.has(held.entity.external_ref)) actual.set(held.entity.external_ref, held);
  }
  return {
    kinds: createKinds(input),
    moves: readMoves(input.desired.moved),
    pending: new Map(input.state?.pending.map((operation) => [operation.address, operation])),
    resolveChannel: createChannelResolver(input.actual.channels),
    actual,
    applied: new Map<string, AppliedEntity>(Object.entries(input.state?.entities ?? {})),
  };
}

/**
 * Where a rename seems meant, the new object is made before the old one goes, so that nothing is unwatched meanwhile.
 * An alert manager is kept until all that is in its successor is there.
 */
function waitForSuccessors(
  changes: readonly Change[],
  deletions: readonly Change[],
  renames: readonly RenameSuggestion[],
): readonly Change[] {
  if (renames.length === 0) return deletions;
  const successors = new Map(renames.map(({ from, to }) => [from, to]));
  const byEntity = Map.groupBy(changes, ({ address }) => parseAddress(address)?.entity);
  return deletions.map((change) => {
    const successor = successors.get(change.address);
    if (successor === undefined) return change;
    const awaited = change.kind === 'entity' ? byEntity.get(successor)!.map(({ address }) => address) : [successor];
    return { ...change, after: [...change.after, ...awaited] };
  });
}

/** Counts changes by action; see `Totals` for what counts twice. */
function countTotals(changes: readonly Change[]): Totals {
  const totals = { create: 0, update: 0, delete: 0, move: 0, adopt: 0 };
  for (const { kind, action, fields } of changes) {
    if (action === 'noop' || action === 'forget') continue;
    totals[action] += 1;
    const ownName = kind === 'entity' ? 'external_ref' : 'name';
    if (action === 'adopt' && fields.length > 0) totals.update += 1;
    if (action === 'move' && fields.some(({ path }) => path !== ownName)) totals.update += 1;
  }
  return totals;
}

function countUnmanaged(parts: readonly EntityPlan[], entities: number): Plan['unmanaged'] {
  const total = { entities, indicators: 0, alert_rules: 0, channels: 0 };
  for (const { unmanaged } of parts) {
    total.indicators += unmanaged.indicators;
    total.alert_rules += unmanaged.alert_rules;
    total.channels += unmanaged.channels;
  }
  return total;
}

function countManaged(state: State | null): number {
  let count = 0;
  for (const entity of Object.values(state?.entities ?? {})) {
    count +=
      1 + Object.keys(entity.indicators).length + Object.keys(entity.alert_rules).length + entity.channels.length;
  }
  return count;
}
