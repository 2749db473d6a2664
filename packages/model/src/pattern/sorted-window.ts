/** Order statistics: of a few samples, and of a window that moves along a series. */

/** Samples beyond this count as missing, so that no difference or sum of a few of them overflows. */
const LARGEST_SAMPLE = 1e300;

/** False for NaN, infinities and absurdly large numbers. */
export const isSample = (value: number | undefined): value is number =>
  value !== undefined && value >= -LARGEST_SAMPLE && value <= LARGEST_SAMPLE;

/** The samples of `values[from] … values[to - 1]` in ascending order; the range may reach beyond the array. */
export function sortedSamples(values: Float64Array, from: number, to: number): Float64Array {
  const end = Math.min(to, values.length);
  const out = new Float64Array(Math.max(end - Math.max(from, 0), 0));
  let count = 0;
  for (let i = Math.max(from, 0); i < end; i++) {
    const value = values[i]!;
    if (isSample(value)) out[count++] = value;
  }
  const samples = out.subarray(0, count);
  return count <= FEW ? insertionSort(samples) : samples.sort();
}

/** Below about this many samples a call of the built-in sort costs more than the sorting. */
const FEW = 64;

function insertionSort(samples: Float64Array): Float64Array {
  for (let i = 1; i < samples.length; i++) {
    const value = samples[i]!;
    let at = i;
    for (; at > 0 && samples[at - 1]! > value; at--) samples[at] = samples[at - 1]!;
    samples[at] = value;
  }
  return samples;
}

/** Quantile of ascending values, interpolated linearly (type 7 of Hyndman and Fan 1996); NaN of none. */
export function quantile(sorted: Float64Array, p: number, count = sorted.length): number {
  if (count === 0) return Number.NaN;
  const position = p * (count - 1);
  const index = Math.floor(position);
  const low = sorted[index]!;
  const share = position - index;
  return share === 0 ? low : low + share * (sorted[index + 1]! - low);
}

export const median = (sorted: Float64Array): number => quantile(sorted, 0.5);

/** A multiset of at most `capacity` samples in order. */
export class SortedWindow {
  readonly #sorted: Float64Array;
  #count = 0;

  constructor(capacity: number) {
    this.#sorted = new Float64Array(capacity);
  }

  get count(): number {
    return this.#count;
  }

  /** Does nothing with a missing sample. */
  insert(value: number): void {
    if (!isSample(value)) return;
    const at = this.#lowerBound(value);
    this.#sorted.copyWithin(at + 1, at, this.#count);
    this.#sorted[at] = value;
    this.#count++;
  }

  /** Takes out one sample that was inserted before. */
  remove(value: number): void {
    if (!isSample(value)) return;
    const at = this.#lowerBound(value);
    this.#sorted.copyWithin(at, at + 1, this.#count);
    this.#count--;
  }

  /** The samples in ascending order, until the next change. */
  get sorted(): Float64Array {
    return this.#sorted.subarray(0, this.#count);
  }

  /** Takes one sample out and puts another in, either of which may be missing. */
  replace(old: number, value: number): void {
    if (!isSample(old) || !isSample(value)) {
      this.remove(old);
      this.insert(value);
      return;
    }
    const sorted = this.#sorted;
    let at = this.#lowerBound(old);
    if (value >= old) {
      for (const last = this.#count - 1; at < last && sorted[at + 1]! < value; at++) sorted[at] = sorted[at + 1]!;
    } else {
      for (; at > 0 && sorted[at - 1]! > value; at--) sorted[at] = sorted[at - 1]!;
    }
    sorted[at] = value;
  }

  quantile(p: number): number {
    return quantile(this.#sorted, p, this.#count);
  }

  #lowerBound(value: number): number {
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * Median of each window of `width` samples: `out[i]` is that of `values[i - width + 1] … values[i]`, or NaN when fewer
 * than `least` of them are there. Before the array everything is missing.
 */
export function trailingMedians(values: Float64Array, width: number, least: number): Float64Array {
  const out = new Float64Array(values.length);
  const window = new SortedWindow(width);
  for (let i = 0; i < values.length; i++) {
    window.replace(values[i - width] ?? Number.NaN, values[i]!);
    out[i] = window.count >= least ? window.quantile(0.5) : Number.NaN;
  }
  return out;
}
