/** Plans one alert manager with all that is in it. */
import type { Diagnostic } from '../diagnostic.ts';
import type { Entity } from '../model.ts';
import { blockedMove, pendingAt, type Scope } from './children.ts';
import { planProblem } from './codes.ts';
import { type Contents, type Planning, planContents, usedIndicators } from './contents.ts';
import { type Decision, decideUnwanted, decideWanted } from './decide.ts';
import type { Leftover, Match } from './match.ts';
import type { Change, Drift, IndicatorChange } from './plan.ts';

export interface EntityPlan {
  readonly changes: readonly Change[];
  readonly deletions: readonly Change[];
  readonly drift: readonly Drift[];
  readonly diagnostics: readonly Diagnostic[];
  /** Objects in the entity that are left alone. */
  readonly unmanaged: { readonly indicators: number; readonly alert_rules: number; readonly channels: number };
}

const NO_ADDRESSES: readonly string[] = [];

export function planWantedEntity(match: Match<Entity>, planning: Planning): EntityPlan {
  const { key, desired, held, applied, previousKey } = match;
  const entity = decideWanted(planning.kinds.entity, {
    address: key,
    previousAddress: previousKey,
    desired,
    held,
    applied,
    pending: pendingAt(planning.pending, key, previousKey),
    entityIsGone: false,
    after: NO_ADDRESSES,
  });
  // While the state does not have the entity under this name, what is in it cannot be recorded.
  const isNew = applied === undefined || previousKey !== undefined || held === undefined;
  const scope: Scope = { ref: key, isMissing: held === undefined, pending: planning.pending };
  const sides = {
    desired,
    actual: held && planning.actual.get(held.value.external_ref),
    applied: applied && planning.applied.get(previousKey ?? key),
  };
  const contents = planContents(planning, scope, sides, isNew ? [key] : NO_ADDRESSES);
  const { indicators, rules, channels } = contents;
  return {
    changes: [entity.change, ...indicators.wanted, ...rules.wanted, ...channels.wanted],
    deletions: [...rules.unwanted, ...waitForRules(contents), ...channels.unwanted],
    drift: [...driftOf(entity), ...indicators.drift, ...rules.drift, ...channels.drift],
    diagnostics: [
      ...(match.blockedBy === undefined ? [] : [blockedMove(key, match.blockedBy, desired.source)]),
      ...indicators.diagnostics,
      ...rules.diagnostics,
      ...warnOfUsers(contents),
    ],
    unmanaged: unmanagedIn(contents),
  };
}

/** An entity that nobody wants any more; the service deletes what is in it along with it. */
export function planUnwantedEntity(leftover: Leftover<Entity>, planning: Planning): EntityPlan {
  const { key, held } = leftover;
  const pending = planning.pending.get(key);
  const entity = decideUnwanted(planning.kinds.entity, { ...leftover, address: key, pending });
  const scope: Scope = { ref: key, isMissing: held === undefined, pending: planning.pending };
  const sides = { actual: held && planning.actual.get(held.value.external_ref), applied: planning.applied.get(key) };
  const contents = planContents(planning, scope, sides, NO_ADDRESSES);
  const { indicators, rules, channels } = contents;
  const implied: readonly Change[] = [...rules.unwanted, ...indicators.unwanted, ...channels.unwanted];
  return {
    changes: [],
    deletions: [
      entity.change,
      ...implied.filter(({ action }) => action === 'delete').map((change) => ({ ...change, impliedBy: key })),
    ],
    drift: [...driftOf(entity), ...indicators.drift, ...rules.drift, ...channels.drift],
    diagnostics: warnOfUnmanaged(key, contents),
    unmanaged: { indicators: 0, alert_rules: 0, channels: 0 },
  };
}

function unmanagedIn({ indicators, rules, channels }: Contents): EntityPlan['unmanaged'] {
  return {
    indicators: indicators.unmanaged.length,
    alert_rules: rules.unmanaged.length,
    channels: channels.unmanaged.length,
  };
}

function driftOf(decision: Decision<'entity', Entity>): readonly Drift[] {
  return decision.drift ? [decision.drift] : [];
}

/** An indicator is deleted once no rule of the model or the state uses it any more. */
function waitForRules({ indicators, rules }: Contents): readonly IndicatorChange[] {
  if (!indicators.unwanted.some((change) => change.action === 'delete')) return indicators.unwanted;
  const users = new Map<string, string[]>();
  for (const change of [...rules.wanted, ...rules.unwanted]) {
    if (!change.actual || (change.action !== 'delete' && change.fields.length === 0)) continue;
    for (const name of usedIndicators(change.actual)) {
      const addresses = users.get(name) ?? [];
      addresses.push(change.address);
      users.set(name, addresses);
    }
  }
  return indicators.unwanted.map((change) => {
    const after = change.actual && users.get(change.actual.name);
    return after ? { ...change, after } : change;
  });
}

function warnOfUsers({ indicators, rules }: Contents): Diagnostic[] {
  const deleted = indicators.unwanted.filter((change) => change.action === 'delete');
  if (deleted.length === 0 || rules.unmanaged.length === 0) return [];
  return deleted.flatMap((change) => {
    const users = rules.unmanaged.filter(({ value }) => usedIndicators(value).has(change.actual?.name ?? ''));
    if (users.length === 0) return [];
    const names = users.map(({ value }) => JSON.stringify(value.name)).join(', ');
    const detail = `${change.address} is to be deleted, but alert rules that are not in the model use it: ${names}. Add them to the model, or change them in the service first.`;
    return [planProblem('indicator/used-by-unmanaged', detail)];
  });
}

function warnOfUnmanaged(ref: string, contents: Contents): Diagnostic[] {
  const counts = unmanagedIn(contents);
  const parts = [
    [counts.indicators, 'indicator'] as const,
    [counts.alert_rules, 'alert rule'] as const,
    [counts.channels, 'channel'] as const,
  ]
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count === 1 ? '' : 's'}`);
  if (parts.length === 0) return [];
  const detail = `Deleting the alert manager ${ref} also deletes ${parts.join(', ')} in it that were never in the model.`;
  return [planProblem('entity/unmanaged-children', detail)];
}
