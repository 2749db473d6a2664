/** Adds up sums that senders tell as differences, so that they can be kept as counters. */

/** Counters that are remembered; the ones that were not told for longest are forgotten, and begin at zero when they come again. */
const MOST = 200_000;

interface Counter {
  value: number;
  /** Milliseconds since 1970. */
  time: number;
}

export class DeltaSums {
  /** Least recently told first. */
  readonly #counters = new Map<string, Counter>();

  /** The counter with a difference added; undefined when the counter is past that time already, as with one that is sent again. */
  add(key: string, time: number, difference: number): number | undefined {
    const known = this.#counters.get(key);
    if (known !== undefined && time <= known.time) return undefined;
    const value = (known?.value ?? 0) + difference;
    this.#counters.delete(key);
    this.#counters.set(key, { value, time });
    if (this.#counters.size > MOST) this.#counters.delete(this.#counters.keys().next().value!);
    return value;
  }

  /** Takes back what was added last: it could not be stored, and its sender will send it again. */
  takeBack(key: string, time: number, difference: number): void {
    const known = this.#counters.get(key);
    if (known === undefined) return;
    known.value -= difference;
    if (known.time === time) known.time = time - 1;
  }
}
