/** Lets other requests run in the middle of long work. */
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work at a stretch. */
const SLICE = 10;

/** Works that pause go on one after another, each in a turn of its own: all in one turn would hold the others up together. */
let turns: Promise<void> = Promise.resolve();

export class Breather {
  /** The first pause comes at once, since others may have begun in the same turn. */
  #begun = Number.NEGATIVE_INFINITY;

  /** To be awaited now and then: a pause when it is time for one, else undefined at once. */
  pause(): Promise<void> | undefined {
    if (performance.now() - this.#begun < SLICE) return undefined;
    turns = turns.then(() => setImmediate());
    return turns.then(() => {
      this.#begun = performance.now();
    });
  }
}
