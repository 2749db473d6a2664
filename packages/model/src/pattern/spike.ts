/**
 * Spikes: the last sample against the median of the hour before it.
 * Median and quantiles instead of mean and deviation as in Hampel (1974) and Leys et al. (2013); a width of its own for
 * each side, since latencies and counts are skewed, as in Rousseeuw and Croux (1993).
 */
import type { PatternHistory } from './history.ts';
import { INSUFFICIENT, type Judgement, judge, NO_DATA } from './judgement.ts';
import { isUsual, seasonAt } from './season.ts';
import { isSample, median, quantile, sortedSamples } from './sorted-window.ts';
import { LEVEL_FLOOR, largestWidth, resolution, scoreOf, wholeNumbers } from './width.ts';

const REFERENCE_MINUTES = 60;
const LEAST_SAMPLES = 30;

/** `values[at]` is the sample of `minute`. */
export function judgeSpike(
  values: Float64Array,
  at: number,
  history: PatternHistory,
  minute: number,
  limit: number,
): Judgement {
  const value = values[at];
  if (!isSample(value)) return NO_DATA;
  const reference = sortedSamples(values, at - REFERENCE_MINUTES, at);
  if (reference.length < LEAST_SAMPLES) return INSUFFICIENT;
  const baseline = median(reference);
  const deviation = value - baseline;
  const upper = Math.max(
    (quantile(reference, 0.75) - baseline) / 0.6745,
    (quantile(reference, 0.9) - baseline) / 1.2816,
  );
  const integers = history.integers && Number.isInteger(value) && wholeNumbers(reference);
  const floor = Math.max(LEVEL_FLOOR * Math.abs(baseline), resolution(reference, integers));
  const { width, source } = largestWidth(upper, '1h', history.tailWidth, floor);
  const season = seasonAt(history, 'spike', minute);
  const score = scoreOf(deviation, width);
  const finding = { value, baseline, deviation, counted: deviation, width, widthSource: source, score, season };
  return judge(finding, limit, () => (isUsual(deviation, season) ? 'usual' : undefined));
}
