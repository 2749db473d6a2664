/** Pairs what is wanted with what the service holds and what the state remembers, for the objects of one kind. */
import type { AppliedObject } from '../state/state.ts';

/** An object of the service: its id and its value. */
export interface Held<Value> {
  readonly id: string;
  readonly value: Value;
}

export interface MatchInput<Value> {
  /** By name, or by `external_ref` for entities; so are the two others. */
  readonly desired: ReadonlyMap<string, Value>;
  readonly actual: ReadonlyMap<string, Held<Value>>;
  readonly state: ReadonlyMap<string, AppliedObject>;
  /** Confirmed renames: new name to old. */
  readonly moves: ReadonlyMap<string, string>;
}

/** A wanted object with its counterparts. */
export interface Match<Value> {
  readonly key: string;
  readonly desired: Value;
  readonly held?: Held<Value>;
  readonly applied?: AppliedObject;
  /** The name under which the state, or else the service, has it so far, when that is another. */
  readonly previousKey?: string;
  /** It could not keep the identity of this one, since both exist. */
  readonly blockedBy?: string;
}

/** An object that nobody wants and that is ours: the state knows it, or an interrupted apply made it (then without `applied`). */
export interface Leftover<Value> {
  readonly key: string;
  readonly applied?: AppliedObject;
  readonly held?: Held<Value>;
}

export interface Matching<Value> {
  readonly matches: readonly Match<Value>[];
  readonly leftovers: readonly Leftover<Value>[];
  /** Objects of the service that are neither wanted nor in the state. */
  readonly foreign: readonly { readonly key: string; readonly held: Held<Value> }[];
}

interface Links {
  /** State name to the name that its object has in the service. */
  readonly toActual: ReadonlyMap<string, string>;
  readonly toState: ReadonlyMap<string, string>;
}

const NO_LINKS: Links = { toActual: new Map(), toState: new Map() };

/**
 * Pairs by name. An object that the state knows under a name which the service lacks is looked up by its id: then it was
 * renamed in the service, by somebody or by an apply that was interrupted.
 */
export function matchObjects<Value>(input: MatchInput<Value>): Matching<Value> {
  const links = linkById(input);
  const usedState = new Set<string>();
  const usedActual = new Set<string>();
  const matches: Match<Value>[] = [];
  for (const [key, desired] of input.desired) {
    const found = findCounterparts(key, input, links);
    if (found.state !== undefined) usedState.add(found.state);
    if (found.actual !== undefined) usedActual.add(found.actual);
    const previousKey = found.state ?? found.actual;
    matches.push({
      key,
      desired,
      held: found.actual === undefined ? undefined : input.actual.get(found.actual),
      applied: found.state === undefined ? undefined : input.state.get(found.state),
      previousKey: previousKey === key ? undefined : previousKey,
      blockedBy: found.blockedBy,
    });
  }
  const leftovers = findLeftovers(input, links, usedState, usedActual);
  const foreign = [...input.actual].filter(([key]) => !usedActual.has(key)).map(([key, held]) => ({ key, held }));
  return { matches, leftovers, foreign };
}

/** Also marks what it finds as used, so that only foreign objects remain. */
function findLeftovers<Value>(
  input: MatchInput<Value>,
  links: Links,
  usedState: ReadonlySet<string>,
  usedActual: Set<string>,
): Leftover<Value>[] {
  const leftovers: Leftover<Value>[] = [];
  for (const [key, applied] of input.state) {
    if (usedState.has(key)) continue;
    const actualKey = input.actual.has(key) ? key : links.toActual.get(key);
    const isFree = actualKey !== undefined && !usedActual.has(actualKey);
    if (isFree) usedActual.add(actualKey);
    leftovers.push({ key, applied, held: isFree ? input.actual.get(actualKey) : undefined });
  }
  return leftovers;
}

interface Counterparts {
  readonly state?: string;
  readonly actual?: string;
  readonly blockedBy?: string;
}

function findCounterparts<Value>(key: string, input: MatchInput<Value>, links: Links): Counterparts {
  const { desired, actual, state } = input;
  const actualKey = actual.has(key) ? key : undefined;
  const unwanted = (other: string | undefined) => (other === undefined || desired.has(other) ? undefined : other);
  if (state.has(key)) return { state: key, actual: actualKey ?? unwanted(links.toActual.get(key)) };

  const from = unwanted(input.moves.get(key));
  if (from !== undefined && state.has(from)) {
    const held = actual.has(from) ? from : links.toActual.get(from);
    if (actualKey === undefined) return { state: from, actual: unwanted(held) };
    if (held === undefined || held === key) return { state: from, actual: key };
    return { actual: key, blockedBy: from };
  }
  if (actualKey === undefined) return { actual: from !== undefined && actual.has(from) ? from : undefined };
  return { actual: key, state: unwanted(links.toState.get(key)) };
}

function linkById<Value>({ actual, state }: MatchInput<Value>): Links {
  const missing = new Map<string, string>();
  for (const [key, applied] of state) {
    if (!actual.has(key)) missing.set(applied.id, key);
  }
  if (missing.size === 0) return NO_LINKS;
  const toActual = new Map<string, string>();
  const toState = new Map<string, string>();
  for (const [key, { id }] of actual) {
    const stateKey = state.has(key) ? undefined : missing.get(id);
    if (stateKey === undefined) continue;
    toActual.set(stateKey, key);
    toState.set(key, stateKey);
  }
  return { toActual, toState };
}
