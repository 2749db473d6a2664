/** One series on the minute grid. */
import { isSample } from './sorted-window.ts';

/**
 * Samples of one series: `values[i]` is the sample of minute `startMinute + i`, NaN when it is missing.
 * Minutes are Unix minutes (Unix seconds / 60). Infinite samples count as missing.
 */
export interface MinuteSeries {
  readonly startMinute: number;
  readonly values: Float64Array;
}

/** Minutes `from` to `to`, both included, each times `sign`; NaN where the series has none. */
export function signedCopy(series: MinuteSeries, from: number, to: number, sign: 1 | -1): Float64Array {
  const out = new Float64Array(Math.max(to - from + 1, 0)).fill(Number.NaN);
  const { startMinute, values } = series;
  const last = Math.min(to, startMinute + values.length - 1);
  for (let minute = Math.max(from, startMinute); minute <= last; minute++) {
    const value = values[minute - startMinute]!;
    if (isSample(value)) out[minute - from] = sign * value;
  }
  return out;
}
