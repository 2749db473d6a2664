/**
 * Changepoints: the median of the last ten minutes against that of the hour that ended half an hour ago.
 * A two-sample moving window as in Eichinger and Kirch (2018), with medians instead of means, so that a spike is none.
 */
import type { PatternHistory } from './history.ts';
import { type HeldBack, INSUFFICIENT, type Judgement, judge, NO_DATA } from './judgement.ts';
import { beyondUsual, isUsual, seasonAt } from './season.ts';
import { LEAST_SEASON_DAYS } from './shape.ts';
import { isSample, median, sortedSamples } from './sorted-window.ts';
import { LEVEL_FLOOR, largestWidth, resolution, robustDeviation, scoreOf, wholeNumbers } from './width.ts';

const POST_MINUTES = 10;
const REFERENCE_MINUTES = 60;
/** Minutes from the end of the reference to the judged minute. */
const GAP_MINUTES = 30;
const LEAST_POST = 6;
const LEAST_REFERENCE = 30;
/** Share of the last ten minutes that must lie beyond the middle between the levels. */
const LASTING_SHARE = 0.8;
/** Standard error of a median, as a multiple of that of a mean. */
const MEDIAN_ERROR = 1.2533;

/** `values[at]` is the sample of `minute`. */
export function judgeChangepoint(
  values: Float64Array,
  at: number,
  history: PatternHistory,
  minute: number,
  limit: number,
): Judgement {
  if (!isSample(values[at])) return NO_DATA;
  const post = sortedSamples(values, at - POST_MINUTES + 1, at + 1);
  const referenceEnd = at - GAP_MINUTES + 1;
  const reference = sortedSamples(values, referenceEnd - REFERENCE_MINUTES, referenceEnd);
  if (post.length < LEAST_POST || reference.length < LEAST_REFERENCE) return INSUFFICIENT;
  const baseline = median(reference);
  const value = median(post);
  const deviation = value - baseline;
  const error = MEDIAN_ERROR * Math.sqrt(1 / POST_MINUTES + 1 / reference.length);
  const integers = history.integers && wholeNumbers(post) && wholeNumbers(reference);
  const floor = Math.max(LEVEL_FLOOR * Math.abs(baseline), resolution(reference, integers) / 4);
  const season = seasonAt(history, 'changepoint', minute);
  const day = season.days < LEAST_SEASON_DAYS ? Math.max(history.tailWidth, history.driftWidth) : history.tailWidth;
  const { width, source } = largestWidth(error * robustDeviation(reference), '1h', day, floor);
  const counted = beyondUsual(deviation, season);
  const middle = baseline + deviation / 2;
  const finding = {
    value,
    baseline,
    deviation,
    counted,
    width,
    widthSource: source,
    score: scoreOf(counted, width),
    season,
    changedBefore: changedBefore(values, at, middle),
  };
  return judge(finding, limit, (): HeldBack | undefined => {
    if (isUsual(deviation, season)) return 'usual';
    const beyond = post.reduce((count, sample) => (sample > middle ? count + 1 : count), 0);
    return beyond >= LASTING_SHARE * post.length ? undefined : 'passing';
  });
}

/**
 * Minutes from the change to the judged minute: the trailing run beyond the middle of the two levels. Single samples on
 * the wrong side do not end the run: it begins where it holds most more beyond than not.
 */
function changedBefore(values: Float64Array, at: number, middle: number): number {
  let balance = 0;
  let best = 0;
  let begin = 0;
  for (let back = 0; back < GAP_MINUTES + REFERENCE_MINUTES && back <= at; back++) {
    const value = values[at - back]!;
    if (!isSample(value)) continue;
    balance += value > middle ? 1 : -1;
    if (balance > best) {
      best = balance;
      begin = back;
    }
  }
  return begin;
}
