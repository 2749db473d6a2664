/** Lets so many at once and makes the others wait, in the order that they came. */

export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with what ends the turn. Rejects with the signal's reason when it aborts first. */
  take(signal?: AbortSignal): Promise<() => void> {
    const end = () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(end);
    }
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve(end);
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(begin);
    });
  }
}
