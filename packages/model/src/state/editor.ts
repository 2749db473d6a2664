/** Changes to a state during an apply: many small ones, with a snapshot to write whenever one is needed. */
import { type Address, bindingKey, parseAddress } from '../address.ts';
import type { AppliedChannel, AppliedEntity, AppliedObject, PendingOperation, State } from './state.ts';

/** An entity while it is being changed. */
interface EntityDraft {
  id: string;
  digest: string;
  readonly indicators: Map<string, AppliedObject>;
  readonly alert_rules: Map<string, AppliedObject>;
  readonly channels: Map<string, AppliedChannel>;
}

/** Who writes a snapshot, and when. */
export interface SnapshotStamp {
  /** RFC 3339, UTC. */
  readonly now: string;
  readonly tool_version: string;
}

/**
 * Each operation costs time in the size of the entity it touches at most; a snapshot costs time in the number of entities.
 * A snapshot shares with the one before every entity that did not change.
 */
export class StateEditor {
  #last: State;
  #isChanged = false;
  readonly #entities: Map<string, AppliedEntity>;
  /** Entities that changed since the last snapshot; they hide those in `#entities`. */
  readonly #drafts = new Map<string, EntityDraft>();
  readonly #pending: Map<string, PendingOperation>;

  constructor(state: State) {
    this.#last = state;
    this.#entities = new Map(Object.entries(state.entities));
    this.#pending = new Map(state.pending.map((operation) => [operation.address, operation]));
  }

  /** What the state has at an address. */
  get(address: string): AppliedObject | undefined {
    const { kind, entity, name } = parse(address);
    const draft = this.#drafts.get(entity);
    const applied = this.#entities.get(entity);
    if (kind === 'entity') return draft ?? applied;
    if (draft) return childrenOf(draft, kind).get(name);
    if (!applied) return undefined;
    if (kind === 'channel') return applied.channels.find((channel) => bindingKey(channel) === name);
    const section = kind === 'indicator' ? applied.indicators : applied.alert_rules;
    return Object.hasOwn(section, name) ? section[name] : undefined;
  }

  /** Notes operations that are about to be sent. */
  begin(operations: readonly PendingOperation[]): void {
    for (const operation of operations) this.#pending.set(operation.address, operation);
  }

  /** Ends an operation that had no effect, because it was refused or never sent. */
  settle(address: string): void {
    this.#pending.delete(address);
  }

  /** Ends all operations that are still noted, once a plan has found out what became of them. */
  settleAll(): void {
    this.#pending.clear();
  }

  /** Records what now stands at an address, and ends its operation. The entity of an indicator, rule or channel must be there. */
  record(address: string, { id, digest }: AppliedObject): void {
    this.#pending.delete(address);
    const known = this.get(address);
    if (known?.id === id && known.digest === digest) return;
    this.#isChanged = true;
    const { kind, entity, name } = parse(address);
    if (kind !== 'entity') {
      const draft = this.#draft(entity);
      if (kind === 'channel') draft.channels.set(name, { id, ...splitBinding(name), digest });
      else childrenOf(draft, kind).set(name, { id, digest });
    } else if (known) Object.assign(this.#draft(entity), { id, digest });
    else this.#drafts.set(entity, newDraft(id, digest));
  }

  /** Removes what stands at an address, an entity with all that is in it, and ends its operation. */
  remove(address: string): void {
    this.#pending.delete(address);
    if (this.get(address) === undefined) return;
    this.#isChanged = true;
    const { kind, entity, name } = parse(address);
    if (kind !== 'entity') {
      childrenOf(this.#draft(entity), kind).delete(name);
      return;
    }
    this.#drafts.delete(entity);
    this.#entities.delete(entity);
  }

  /** Gives what stands at one address another one, an entity with all that is in it. Without effect when nothing is there. */
  move(from: string, to: string): void {
    const applied = this.get(from);
    this.#pending.delete(from);
    if (applied === undefined) return;
    const target = parse(to);
    if (target.kind === 'entity') {
      const draft = this.#draft(from);
      this.remove(from);
      this.#drafts.set(to, draft);
    } else {
      this.remove(from);
      this.record(to, applied);
    }
  }

  /** The state as it is now. Its serial is one higher than that of the last snapshot if anything has changed since. */
  snapshot({ now, tool_version }: SnapshotStamp): State {
    const pending = [...this.#pending.values()];
    if (!this.#isChanged && samePending(pending, this.#last.pending)) return this.#last;
    for (const [ref, draft] of this.#drafts) this.#entities.set(ref, finish(draft));
    this.#drafts.clear();
    this.#isChanged = false;
    this.#last = {
      ...this.#last,
      serial: this.#last.serial + 1,
      tool_version,
      updated_at: now,
      entities: Object.fromEntries(this.#entities),
      pending,
    };
    return this.#last;
  }

  #draft(ref: string): EntityDraft {
    const existing = this.#drafts.get(ref);
    if (existing) return existing;
    const applied = this.#entities.get(ref);
    if (!applied) throw new Error(`the state has no entity ${ref}`);
    const draft: EntityDraft = {
      id: applied.id,
      digest: applied.digest,
      indicators: new Map(Object.entries(applied.indicators)),
      alert_rules: new Map(Object.entries(applied.alert_rules)),
      channels: new Map(applied.channels.map((channel) => [bindingKey(channel), channel])),
    };
    this.#drafts.set(ref, draft);
    return draft;
  }
}

function parse(address: string): Address {
  const parsed = parseAddress(address);
  if (!parsed) throw new Error(`not an address: ${address}`);
  return parsed;
}

function newDraft(id: string, digest: string): EntityDraft {
  return { id, digest, indicators: new Map(), alert_rules: new Map(), channels: new Map() };
}

function childrenOf(draft: EntityDraft, kind: Exclude<Address['kind'], 'entity'>): Map<string, AppliedObject> {
  switch (kind) {
    case 'indicator':
      return draft.indicators;
    case 'alert_rule':
      return draft.alert_rules;
    case 'channel':
      return draft.channels;
  }
}

function finish(draft: EntityDraft): AppliedEntity {
  return {
    id: draft.id,
    digest: draft.digest,
    indicators: Object.fromEntries(draft.indicators),
    alert_rules: Object.fromEntries(draft.alert_rules),
    channels: [...draft.channels.values()],
  };
}

/** `NAME/SEVERITY` apart; the name may hold slashes. */
function splitBinding(key: string): { readonly name: string; readonly severity: string } {
  const slash = key.lastIndexOf('/');
  return { name: key.slice(0, slash), severity: key.slice(slash + 1) };
}

function samePending(some: readonly PendingOperation[], others: readonly PendingOperation[]): boolean {
  return some.length === others.length && JSON.stringify(some) === JSON.stringify(others);
}
