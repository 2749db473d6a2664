/** Which series were written to the engine for which day, so that each is written once a day and not with each sample. */

/** Series of a day that are remembered; what is forgotten is written again, and the engine keeps one row of it. */
const MOST = 2_000_000;

export class KnownSeries {
  /** By day number, the keys of its series. */
  readonly #days = new Map<number, Set<string>>();
  #count = 0;
  #generation = 0;

  has(day: number, key: string): boolean {
    return this.#days.get(day)?.has(key) === true;
  }

  add(day: number, key: string): void {
    let keys = this.#days.get(day);
    if (keys === undefined) {
      keys = new Set();
      this.#days.set(day, keys);
    }
    if (keys.has(key)) return;
    keys.add(key);
    this.#count += 1;
    if (this.#count > MOST) this.#forget();
  }

  /** Forgets everything when the tables are not those of before. */
  follow(generation: number): void {
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#days.clear();
    this.#count = 0;
  }

  /** The day that was used first goes first. */
  #forget(): void {
    for (const [day, keys] of this.#days) {
      this.#days.delete(day);
      this.#count -= keys.size;
      if (this.#count <= MOST / 2) return;
    }
  }
}
