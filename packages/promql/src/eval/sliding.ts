/** Windows that are updated as they move instead of being read anew: the extreme value, and the sorted values. */

/**
 * The largest (sign 1) or smallest (sign -1) value of a window that moves forward. NaN counts only when the
 * window holds nothing else. A queue keeps the values that can still become the extreme one, best first.
 */
export class SlidingMaximum {
  readonly #values: Float64Array;
  readonly #sign: 1 | -1;
  readonly #queue: Int32Array;
  #head = 0;
  #tail = 0;
  #read = 0;

  constructor(values: Float64Array, sign: 1 | -1) {
    this.#values = values;
    this.#sign = sign;
    this.#queue = new Int32Array(values.length);
  }

  at(from: number, to: number): number {
    const values = this.#values;
    const queue = this.#queue;
    const sign = this.#sign;
    let head = this.#head;
    let tail = this.#tail;
    for (let i = Math.max(this.#read, from); i < to; i++) {
      const value = values[i]!;
      // NaN is never better than what is queued, and goes out of the way of any number.
      if (!Number.isNaN(value)) {
        while (tail > head && !(values[queue[tail - 1]!]! * sign >= value * sign)) tail--;
      }
      queue[tail++] = i;
    }
    while (queue[head]! < from) head++;
    this.#read = to;
    this.#head = head;
    this.#tail = tail;
    return values[queue[head]!]!;
  }
}

/** The values of a window that moves forward, in order. NaN comes first, as Prometheus sorts it. */
export class SortedWindow {
  readonly #values: Float64Array;
  #sorted = new Float64Array(16);
  /** How many numbers are in `#sorted`. */
  #size = 0;
  #nans = 0;
  #from = 0;
  #to = 0;

  constructor(values: Float64Array) {
    this.#values = values;
  }

  move(from: number, to: number): void {
    const changed = from - this.#from + (to - this.#to);
    // Sorting anew is cheaper when most of the window is new.
    if (from >= this.#to || changed > 64) this.#rebuild(from, to);
    else {
      for (let i = this.#from; i < from; i++) this.#remove(this.#values[i]!);
      for (let i = this.#to; i < to; i++) this.#insert(this.#values[i]!);
    }
    this.#from = from;
    this.#to = to;
  }

  /** The q-quantile with linear interpolation between the two nearest ranks. */
  quantile(q: number): number {
    const size = this.#size + this.#nans;
    if (size === 0 || Number.isNaN(q)) return Number.NaN;
    if (q < 0) return Number.NEGATIVE_INFINITY;
    if (q > 1) return Number.POSITIVE_INFINITY;
    const rank = q * (size - 1);
    const lower = Math.floor(rank);
    const weight = rank - lower;
    return this.#at(lower) * (1 - weight) + this.#at(Math.min(size - 1, lower + 1)) * weight;
  }

  #at(rank: number): number {
    return rank < this.#nans ? Number.NaN : this.#sorted[rank - this.#nans]!;
  }

  #rebuild(from: number, to: number): void {
    this.#size = 0;
    this.#nans = 0;
    this.#room(to - from);
    for (let i = from; i < to; i++) {
      const value = this.#values[i]!;
      if (Number.isNaN(value)) this.#nans++;
      else this.#sorted[this.#size++] = value;
    }
    this.#sorted.subarray(0, this.#size).sort();
  }

  #room(size: number): void {
    if (size <= this.#sorted.length) return;
    const bigger = new Float64Array(Math.max(size, this.#sorted.length * 2));
    bigger.set(this.#sorted.subarray(0, this.#size));
    this.#sorted = bigger;
  }

  /** The index of the first sorted value that is not below `value`. */
  #position(value: number): number {
    const sorted = this.#sorted;
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(value: number): void {
    if (Number.isNaN(value)) {
      this.#nans++;
      return;
    }
    this.#room(this.#size + 1);
    const at = this.#position(value);
    this.#sorted.copyWithin(at + 1, at, this.#size);
    this.#sorted[at] = value;
    this.#size++;
  }

  #remove(value: number): void {
    if (Number.isNaN(value)) {
      this.#nans--;
      return;
    }
    const at = this.#position(value);
    this.#sorted.copyWithin(at, at + 1, this.#size);
    this.#size--;
  }
}

/** The q-quantile of some values, which it puts in order. For values that have no window. */
export function quantileOf(q: number, values: Float64Array): number {
  const window = new SortedWindow(values);
  window.move(0, values.length);
  return window.quantile(q);
}
