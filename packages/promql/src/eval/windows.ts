/** Range vectors: walks a window along each series, once. */
import type { Labels } from '../series/labels.ts';
import type { SeriesData } from '../storage/storage.ts';

/** The samples of one series without staleness markers. */
export interface Samples {
  readonly labels: Labels;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** A range vector along the steps: at step i the window ends at `end + i * stride` and is `range` long. */
export interface RangeVector {
  readonly series: readonly Samples[];
  readonly range: number;
  readonly end: number;
  /** Zero when `@` pins the window. */
  readonly stride: number;
}

/**
 * Computes one window of one series: the samples from index `from` up to, not including, `to`. `end` is the time
 * where the window ends, `step` the index of the step. Within one series both ends only ever move forward.
 */
export type WindowFunction = (from: number, to: number, end: number, step: number) => number;

/** A function over range vectors: prepares a series, then gives a value for each window with enough samples. */
export interface RangeFunction {
  readonly minSamples: number;
  readonly over: (series: Samples) => WindowFunction;
}

/** Takes the staleness markers out of a series; range vectors pass over them. */
export function withoutStale(series: SeriesData): Samples {
  const { labels, stale } = series;
  if (!stale?.includes(1)) return series;
  const keep = stale.reduce((count, flag) => count + (flag === 1 ? 0 : 1), 0);
  const times = new Float64Array(keep);
  const values = new Float64Array(keep);
  let at = 0;
  for (let i = 0; i < stale.length; i++) {
    if (stale[i] === 1) continue;
    times[at] = series.times[i]!;
    values[at++] = series.values[i]!;
  }
  return { labels, times, values };
}

/** Runs a function over the windows of one series, some steps at a time. */
export class Sweep {
  readonly #times: Float64Array;
  readonly #vector: RangeVector;
  readonly #closed: boolean;
  readonly #minSamples: number;
  readonly #compute: WindowFunction;
  readonly #out: Output;
  #step = 0;
  #from = 0;
  #to = 0;
  /** How many windows had a value so far. */
  found = 0;

  /** `closed` windows include a sample at their left end. */
  constructor(series: Samples, vector: RangeVector, closed: boolean, f: RangeFunction, out: Output) {
    this.#times = series.times;
    this.#vector = vector;
    this.#closed = closed;
    this.#minSamples = f.minSamples;
    this.#compute = f.over(series);
    this.#out = out;
  }

  /** Goes on until the windows held some more samples, `budget` of them; true when all steps are done. */
  advance(budget: number): boolean {
    const times = this.#times;
    const { range, stride, end: firstEnd } = this.#vector;
    const { values, present } = this.#out;
    const closed = this.#closed;
    const size = times.length;
    let from = this.#from;
    let to = this.#to;
    let step = this.#step;
    let left = budget;
    for (; step < values.length && left > 0; step++) {
      const end = firstEnd + step * stride;
      const start = end - range;
      while (to < size && times[to]! <= end) to++;
      if (closed) while (from < to && times[from]! < start) from++;
      else while (from < to && times[from]! <= start) from++;
      left -= 1 + to - from;
      if (to - from < this.#minSamples) continue;
      values[step] = this.#compute(from, to, end, step);
      present[step] = 1;
      this.found++;
    }
    this.#from = from;
    this.#to = to;
    this.#step = step;
    return step === values.length;
  }
}

/** Where a sweep writes to: one value per step. */
export interface Output {
  readonly values: Float64Array;
  readonly present: Uint8Array;
}
