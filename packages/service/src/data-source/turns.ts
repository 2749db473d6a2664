/** Bounds how many queries a data source gets at a time; the others wait in the order they came. */

export class Turns {
  #free: number;
  #ended: Error | undefined;
  readonly #waiting = new Map<() => void, (reason: unknown) => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is the caller's turn; rejects with the signal's reason when that aborts first. */
  take(signal: AbortSignal): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const given = () => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(given);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.set(given, (reason) => {
        signal.removeEventListener('abort', giveUp);
        reject(reason);
      });
    });
  }

  /** Hands the turn to who has waited longest. */
  giveBack(): void {
    const [next] = this.#waiting.keys();
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }

  /** Those who wait and those who still come are refused with the error. */
  end(error: Error): void {
    this.#ended = error;
    for (const refuse of this.#waiting.values()) refuse(error);
    this.#waiting.clear();
  }
}
