/** Lets other requests run in the middle of long work. */
import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work at a stretch. */
const SLICE = 20;

export class Breather {
  #begun = performance.now();

  /** To be awaited now and then: a pause when it is time for one, else undefined at once. */
  pause(): Promise<void> | undefined {
    if (performance.now() - this.#begun < SLICE) return undefined;
    return setImmediate().then(() => {
      this.#begun = performance.now();
    });
  }
}
