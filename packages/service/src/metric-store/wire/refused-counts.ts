/** Counts samples that are not kept, by reason. */
import type { Refused } from '../incoming.ts';

/** Reasons that are told apart; a sender that has more of them is told of these. */
const MOST_REASONS = 10;

export class RefusedCounts {
  readonly #counts = new Map<string, number>();

  add(samples: number, reason: string): void {
    const told = this.#counts.has(reason) || this.#counts.size < MOST_REASONS ? reason : 'there are further reasons';
    this.#counts.set(told, (this.#counts.get(told) ?? 0) + samples);
  }

  list(): Refused[] {
    return [...this.#counts].map(([reason, samples]) => ({ samples, reason }));
  }
}
