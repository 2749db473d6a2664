/**
 * rate, increase, delta and their relatives. Extrapolation as documented in Prometheus' source: to the window's end
 * when the nearest sample is within 1.1 average gaps of it, else by half a gap; counters never below zero.
 */
import type { RangeFunction, Samples } from './windows.ts';

interface Extrapolation {
  readonly counter: boolean;
  /** Per second instead of over the window. */
  readonly perSecond: boolean;
  /** Milliseconds. */
  readonly range: number;
}

/** Indices where a counter is below the sample before it. */
function resetsOf(values: Float64Array): number[] {
  const resets: number[] = [];
  for (let i = 1; i < values.length; i++) if (values[i]! < values[i - 1]!) resets.push(i);
  return resets;
}

/** Adds what counter resets inside the window took away. Windows move forward, so earlier resets are passed for good. */
function resetCorrection(values: Float64Array): (from: number, to: number, difference: number) => number {
  const resets = resetsOf(values);
  let first = 0;
  return (from, to, difference) => {
    while (first < resets.length && resets[first]! <= from) first++;
    let corrected = difference;
    for (let i = first; i < resets.length && resets[i]! < to; i++) corrected += values[resets[i]! - 1]!;
    return corrected;
  };
}

export function extrapolated({ counter, perSecond, range }: Extrapolation): RangeFunction {
  const seconds = range / 1000;
  const over = ({ times, values }: Samples) => {
    const correct = counter ? resetCorrection(values) : undefined;
    return (from: number, to: number, end: number): number => {
      const last = to - 1;
      let difference = values[last]! - values[from]!;
      if (correct) difference = correct(from, to, difference);
      const sampled = (times[last]! - times[from]!) / 1000;
      const gap = sampled / (last - from);
      const threshold = gap * 1.1;
      let toStart = (times[from]! - (end - range)) / 1000;
      if (toStart >= threshold) toStart = gap / 2;
      if (counter && difference > 0 && values[from]! >= 0) {
        const toZero = sampled * (values[from]! / difference);
        if (toZero < toStart) toStart = toZero;
      }
      let toEnd = (end - times[last]!) / 1000;
      if (toEnd >= threshold) toEnd = gap / 2;
      const factor = (sampled + toStart + toEnd) / sampled;
      return difference * (perSecond ? factor / seconds : factor);
    };
  };
  return { minSamples: 2, over };
}

/** irate (a counter, per second) and idelta (a gauge): from the last two samples of the window. */
export function instant(counterRate: boolean): RangeFunction {
  return {
    minSamples: 2,
    over:
      ({ times, values }) =>
      (_from, to) => {
        const last = values[to - 1]!;
        const before = values[to - 2]!;
        if (!counterRate) return last - before;
        const increase = last < before ? last : last - before;
        return increase / ((times[to - 1]! - times[to - 2]!) / 1000);
      },
  };
}
