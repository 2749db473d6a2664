/** Carries out a plan: in order, many at a time, each operation recorded before it is sent. */
import type { ApiError, Client } from '@obsiac/api';
import type { Action, Plan, ResourceKind } from '@obsiac/model';
import type { StateWriter } from '../state/state-file.ts';

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

export type ApplyEvent =
  | { readonly type: 'start'; readonly outcome: Outcome }
  | { readonly type: 'done' | 'failed' | 'skipped'; readonly outcome: Outcome; readonly finished: number; readonly total: number };

export interface ApplyInput {
  readonly plan: Plan;
  readonly client: Client;
  readonly state: StateWriter;
  /** Operations under way at a time. */
  readonly concurrency?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
  /** First Ctrl-C, or the lost lock: start nothing new, wait for what runs, write the state. */
  readonly stop?: AbortSignal;
  /** Second Ctrl-C: abandon the requests under way as well; they stay in `pending`. */
  readonly abort?: AbortSignal;
  /**
   * For a saved plan: the organisation's revision it was made at. The first write is sent alone and carries it as `If-Match`,
   * so that a change since then refuses the whole apply. Later writes cannot carry it, since ours move the revision.
   */
  readonly expectedRevision?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}

export interface ApplyResult {
  readonly done: readonly Outcome[];
  readonly failed: readonly Outcome[];
  readonly skipped: readonly Outcome[];
  /** Why the run ended early, in a sentence; absent when it did not. */
  readonly stopped?: string;
  /** 0 all done · 1 nothing done · 4 credentials refused, nothing done · 5 partly done · 7 the plan is stale, nothing done · 9 cancelled. */
  readonly exit: 0 | 1 | 4 | 5 | 7 | 9;
}

/**
 * Applies `plan`. Failures of single operations are in the result, not thrown; objects that depend on a failed one are skipped.
 * When it resolves, the state on disk holds what was done. Throws `StateError` only when not even the first record could be written.
 */
export function applyPlan(_input: ApplyInput): Promise<ApplyResult> {
  throw new Error('not yet');
}
