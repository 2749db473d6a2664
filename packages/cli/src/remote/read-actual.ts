/** Reads what a service holds, with few requests and the read token alone. */
import type { Client } from '@obsiac/api';
import type { Actual } from '@obsiac/model';

export interface ReadActual {
  readonly signal?: AbortSignal;
  /** Requests under way at a time where a service has no list over the organisation. */
  readonly concurrency?: number;
}

export interface ReadResult {
  readonly actual: Actual;
  /** The organisation's revision the reading was made at; null when the service has none (the hosted one). */
  readonly revision: number | null;
  /** False when somebody kept changing the organisation during each of the attempts: worth a warning. */
  readonly consistent: boolean;
}

/** Reads the whole organisation. Throws `ApiError`; a missing answer is never read as "nothing there". */
export function readActual(_client: Client, _options: ReadActual = {}): Promise<ReadResult> {
  throw new Error('not yet');
}
