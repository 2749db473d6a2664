/** What an apply is given. */
import type { Client } from '@obsiac/api';
import type { Plan } from '@obsiac/model';
import type { StateWriter } from '../state/state-file.ts';
import type { ApplyEvent } from './outcome.ts';

export interface ApplyInput {
  readonly plan: Plan;
  readonly client: Client;
  readonly state: StateWriter;
  /** Operations under way at a time. */
  readonly concurrency?: number;
  readonly onEvent?: (event: ApplyEvent) => void;
  /** First Ctrl-C, or the lost lock: start nothing new, wait for what runs, write the state. */
  readonly stop?: AbortSignal | undefined;
  /** Second Ctrl-C: abandon the requests under way as well; they stay in `pending`. */
  readonly abort?: AbortSignal | undefined;
  /**
   * For a saved plan: the organisation's revision it was made at. The first write is sent alone and carries it as `If-Match`,
   * so that a change since then refuses the whole apply. Later writes cannot carry it, since ours move the revision.
   */
  readonly expectedRevision?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
}
