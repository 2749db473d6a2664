/** Sends single changes and enters what became of each: into the state, the ledger and the brake. */
import { ApiError, type Ask } from '@obsiac/api';
import { type Change, type PendingOperation, recordResult } from '@obsiac/model';
import type { ApplyInput } from './apply-input.ts';
import type { Brake } from './brake.ts';
import { createHeldRules } from './held-rules.ts';
import { type OperationContext, scopeOf, send } from './operation.ts';
import type { Ledger } from './outcome.ts';

/** Results wait at most about this long for the disk, also while no new intents are written. */
const FLUSH_EVERY_MS = 1000;

/** Of an object that was made and not finished: no comparison with it tells anything. */
const NO_DIGEST = '';

/** What the parts of one apply share. */
export interface Course {
  readonly brake: Brake;
  readonly ledger: Ledger;
  /** Operations that an interrupted run has left open and this one does again. */
  readonly leftovers: readonly PendingOperation[];
  readonly onBug: (error: unknown) => void;
}

export class Sending {
  readonly #input: ApplyInput;
  readonly #brake: Brake;
  readonly #ledger: Ledger;
  readonly #onBug: (error: unknown) => void;
  readonly #ids = new Map<string, string>();
  readonly #leftovers: ReadonlyMap<string, PendingOperation>;
  readonly #implied: ReadonlyMap<string | undefined, Change[]>;
  readonly #halfDone = new Map<Change, string>();
  readonly #context: OperationContext;
  readonly #now: () => number;
  #lastFlush: number;
  /** The turn of the write that carries `If-Match`; null once one went through. */
  #gate: Promise<void> | null;

  constructor(input: ApplyInput, { brake, ledger, leftovers, onBug }: Course) {
    this.#input = input;
    this.#leftovers = new Map(leftovers.map((operation) => [operation.address, operation]));
    this.#brake = brake;
    this.#ledger = ledger;
    this.#onBug = onBug;
    this.#now = input.now ?? (() => performance.now());
    this.#lastFlush = this.#now();
    this.#gate = input.expectedRevision === undefined ? null : Promise.resolve();
    this.#implied = Map.groupBy(input.plan.changes, (change) => change.impliedBy);
    for (const { action, address, id } of input.plan.changes) {
      if (id !== undefined && action !== 'delete' && action !== 'forget') this.#ids.set(address, id);
    }
    this.#context = {
      client: input.client,
      ids: this.#ids,
      heldRules: createHeldRules(input.client),
      halfDone: (change, id) => void this.#halfDone.set(change, id),
    };
  }

  blocked(change: Change): string | undefined {
    return this.#brake.blocks(scopeOf(change)) ?? this.#ledger.obstacle(change);
  }

  /** Deletions that go with the deletion of their entity share its fate. */
  finish(...args: Parameters<Ledger['finish']>): void {
    const [type, change, rest] = args;
    this.#ledger.finish(type, change, rest);
    if (change.kind !== 'entity' || change.action !== 'delete') return;
    for (const implied of this.#implied.get(change.address) ?? []) {
      const reason = `It goes with ${change.address}, which was ${type === 'failed' ? 'not deleted' : 'skipped'}.`;
      if (type === 'done') this.#ledger.finish('done', implied);
      else this.#ledger.finish('skipped', implied, { reason });
    }
  }

  /** The operation had no effect. What an earlier run had left open stays open, since it tells whose the object is. */
  takeBack(change: Change): void {
    const { editor } = this.#input.state;
    const leftover = this.#leftovers.get(change.address);
    if (leftover === undefined) editor.settle(change.address);
    else editor.begin([leftover]);
  }

  /** Never rejects. */
  async run(change: Change): Promise<void> {
    const pass = await this.#passGate();
    const reason = this.blocked(change);
    if (reason !== undefined) {
      this.takeBack(change);
      this.finish('skipped', change, { reason });
      pass(false);
      return;
    }
    const startedAt = this.#now();
    this.#ledger.start(change);
    const revision = this.#gate === null ? undefined : this.#input.expectedRevision;
    const ask: Ask = { signal: this.#input.abort, ifMatch: revision };
    try {
      const id = await send(change, this.#context, ask);
      this.#succeeded(change, id, startedAt);
      pass(true);
    } catch (error) {
      this.#failed(change, error, startedAt);
      pass(false);
    }
    this.#flushNowAndThen();
  }

  /** While a revision is expected, writes go one by one until the first has shown that it still holds. */
  async #passGate(): Promise<(opened: boolean) => void> {
    if (this.#gate === null) return () => undefined;
    const before = this.#gate;
    const turn = Promise.withResolvers<void>();
    this.#gate = turn.promise;
    await before;
    return (opened) => {
      if (opened) this.#gate = null;
      turn.resolve();
    };
  }

  #succeeded(change: Change, id: string | undefined, startedAt: number): void {
    const now = this.#now();
    this.#brake.succeeded(now);
    this.#ledger.hasSent = true;
    if (id !== undefined) this.#ids.set(change.address, id);
    recordResult(this.#input.state.editor, change, id);
    const ms = now - startedAt;
    this.finish('done', change, id === undefined ? { ms } : { ms, id });
  }

  #failed(change: Change, error: unknown, startedAt: number): void {
    const ms = this.#now() - startedAt;
    if (!(error instanceof ApiError)) {
      this.#onBug(error);
      this.#brake.pull({ kind: 'service', reason: 'An internal fault.' });
      this.finish('failed', change, { ms, reason: 'An internal fault.' });
      return;
    }
    this.#recordFailure(change, error);
    this.#brake.failed(error, scopeOf(change), startedAt);
    this.finish('failed', change, { ms, reason: error.message, error });
  }

  #recordFailure(change: Change, error: ApiError): void {
    const id = this.#halfDone.get(change);
    if (id !== undefined || error.ambiguous) this.#ledger.hasSent = true;
    if (id !== undefined && change.kind === 'entity' && change.action === 'create') {
      // It stands, without its metadata. It is ours from now on, and differs from whatever is wanted.
      this.#input.state.editor.record(change.address, { id, digest: NO_DIGEST });
    } else if (!error.ambiguous && id === undefined) {
      this.takeBack(change);
    }
    // What may have been carried out stays in `pending`: the next run finds out.
  }

  #flushNowAndThen(): void {
    const now = this.#now();
    if (now - this.#lastFlush < FLUSH_EVERY_MS) return;
    this.#lastFlush = now;
    // A failure is met again by the next record or by the last write, which report it.
    this.#input.state.flush().catch(() => undefined);
  }
}
