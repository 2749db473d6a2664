/** What became of each change of a plan, and how a whole apply ended. */
import type { ApiError } from '@obsiac/api';
import type { Action, Change, ResourceKind } from '@obsiac/model';

/** One object of the plan and what became of it. */
export interface Outcome {
  readonly address: string;
  readonly previousAddress?: string;
  readonly kind: ResourceKind;
  readonly action: Action;
  /** The service's id, once known. */
  readonly id?: string;
  /** Milliseconds from the first request to the last answer; 0 when nothing was sent. */
  readonly ms: number;
  /** Failed or skipped: why, in a sentence. */
  readonly reason?: string;
  /** Failed: the error, when it came from the service or the way to it. */
  readonly error?: ApiError;
}

/** Changes of action `noop` are recorded without an event; deletions that go with their entity have one. */
export type ApplyEvent =
  | { readonly type: 'start'; readonly outcome: Outcome }
  | {
      readonly type: 'done' | 'failed' | 'skipped';
      readonly outcome: Outcome;
      readonly finished: number;
      readonly total: number;
    };

export interface ApplyResult {
  readonly done: readonly Outcome[];
  readonly failed: readonly Outcome[];
  readonly skipped: readonly Outcome[];
  /** Why the run ended early, in a sentence; absent when it did not. */
  readonly stopped?: string;
  /** 0 all done · 1 nothing done · 4 credentials refused, nothing done · 5 partly done · 7 the plan is stale, nothing done · 9 cancelled. */
  readonly exit: 0 | 1 | 4 | 5 | 7 | 9;
}

type Rest = Partial<Pick<Outcome, 'id' | 'ms' | 'reason' | 'error'>>;

function outcomeOf(change: Change, { id = change.id, ms = 0, reason, error }: Rest = {}): Outcome {
  return {
    address: change.address,
    ...(change.previousAddress === undefined ? {} : { previousAddress: change.previousAddress }),
    kind: change.kind,
    action: change.action,
    ...(id === undefined ? {} : { id }),
    ms,
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Collects outcomes and tells of each. */
export class Ledger {
  readonly done: Outcome[] = [];
  readonly failed: Outcome[] = [];
  readonly skipped: Outcome[] = [];
  /** Whether the service was changed, or may have been. */
  hasSent = false;
  /** Addresses that were not done, with what to say to whoever waits for them. */
  readonly #undone = new Map<string, string>();
  readonly #total: number;
  readonly #onEvent: (event: ApplyEvent) => void;

  constructor(changes: readonly Change[], onEvent: (event: ApplyEvent) => void) {
    this.#total = changes.filter((change) => change.action !== 'noop').length;
    this.#onEvent = onEvent;
  }

  start(change: Change): void {
    this.#onEvent({ type: 'start', outcome: outcomeOf(change) });
  }

  finish(type: 'done' | 'failed' | 'skipped', change: Change, rest: Rest = {}): void {
    if (type !== 'done') this.#undone.set(change.address, type);
    if (change.action === 'noop') return;
    const outcome = outcomeOf(change, rest);
    this[type].push(outcome);
    const finished = this.done.length + this.failed.length + this.skipped.length;
    this.#onEvent({ type, outcome, finished, total: this.#total });
  }

  /** Why `change` cannot be done: the first of what it waits for that was not. */
  obstacle(change: Change): string | undefined {
    const address = change.after.find((each) => each !== change.address && this.#undone.has(each));
    return address === undefined
      ? undefined
      : `It needs ${address}, which was ${this.#undone.get(address) === 'failed' ? 'not done' : 'skipped'}.`;
  }
}
