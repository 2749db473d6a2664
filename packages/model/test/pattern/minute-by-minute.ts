/** One minute as an evaluator judges it: from the samples that `patternReach` names and no others. */
import {
  buildPatternHistory,
  evaluatePattern,
  type Macro,
  type MinuteSeries,
  type PatternHistory,
  type PatternMinute,
  patternHistoryMinute,
  patternReach,
} from '../../src/index.ts';

/** Minutes `from` to `to`, both included, as a data source would return them; undefined when it has none of them. */
export function fetched({ startMinute, values }: MinuteSeries, from: number, to: number): MinuteSeries | undefined {
  const first = Math.max(from, startMinute);
  const last = Math.min(to, startMinute + values.length - 1);
  if (last < first) return undefined;
  return { startMinute: first, values: values.slice(first - startMinute, last - startMinute + 1) };
}

const NONE: MinuteSeries = { startMinute: 0, values: new Float64Array(0) };

export function historyFor(macro: Macro, series: MinuteSeries, minute: number, phase = 0): PatternHistory {
  const reach = patternReach(macro);
  const builtAt = patternHistoryMinute(minute, phase);
  const days = Array.from({ length: reach.previousDays }, (_, k) => {
    const same = builtAt - (k + 1) * 1440;
    return fetched(series, same - reach.sliceBefore, same + reach.sliceAfter);
  });
  const history = fetched(series, builtAt - reach.historyMinutes + 1, builtAt) ?? NONE;
  return buildPatternHistory(macro, history, days, builtAt);
}

export function minuteOf(
  macro: Macro,
  tolerance: number,
  series: MinuteSeries,
  minute: number,
  phase = 0,
): PatternMinute {
  const recent = fetched(series, minute - patternReach(macro).recentMinutes + 1, minute) ?? NONE;
  return evaluatePattern(macro, tolerance, recent, historyFor(macro, series, minute, phase), minute);
}
