/** Judges the minutes of every series of a rule: by its threshold, or by its pattern. */
import { BAD, GOOD, isBad, judge, type SeriesMinutes, seriesKey } from '@obsiac/model';
import type { EvaluatedRule } from './evaluated-rule.ts';
import { limitSeries, type MinuteValues, OVER_LIMIT_LABELS } from './minute-grid.ts';
import type { PatternJudge } from './pattern-judge.ts';

export interface JudgeRequest {
  readonly rule: EvaluatedRule;
  readonly series: readonly MinuteValues[];
  /** Keys of the series that fire. */
  readonly open: ReadonlySet<string>;
  /** Series of one rule at most. */
  readonly limit: number;
  /** For pattern rules. */
  readonly patterns: PatternJudge | undefined;
  /** The minutes that count: earlier ones are only what a pattern compares with. */
  readonly from: number;
}

const OVER_LIMIT_KEY = seriesKey(OVER_LIMIT_LABELS);

export function judgeSeries(request: JudgeRequest): SeriesMinutes[] {
  const { rule, patterns, from, limit } = request;
  const { kept, counts } = limitSeries(request.series, request.open, limit);
  const judged = kept.map((each) => {
    if (!rule.pattern) return judge(each, rule.condition.operator, rule.condition.threshold);
    if (!patterns) throw new Error('a pattern rule needs its history');
    return patterns.judge(each, rule.pattern, rule.condition, from);
  });
  return counts === undefined ? judged : [...judged, overLimit(kept[0]!.first, counts, limit)];
}

/** Its values are the numbers of series, and a minute is bad when it has too many. */
function overLimit(first: number, counts: Float64Array, limit: number): SeriesMinutes {
  const quality = Uint8Array.from(counts, (count) => (isBad('greater_than', limit, count) ? BAD : GOOD));
  return { key: OVER_LIMIT_KEY, labels: OVER_LIMIT_LABELS, first, values: counts, quality };
}
