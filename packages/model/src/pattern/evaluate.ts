/** One minute of one series: bad or calm, and why. */
import type { Macro } from '../model.ts';
import { judgeChangepoint } from './changepoint.ts';
import { explain, type PatternExplanation } from './explanation.ts';
import type { PatternHistory } from './history.ts';
import type { Judgement, PatternState } from './judgement.ts';
import { type MinuteSeries, signedCopy } from './minute-series.ts';
import { seasonAt } from './season.ts';
import { directionOf, type PatternKind, patternLimit, SHAPES } from './shape.ts';
import { judgeSpike } from './spike.ts';
import { judgeTrend } from './trend.ts';

export interface PatternMinute {
  readonly state: PatternState;
  /** Distance of the value from the baseline in the indicator's unit when the minute is bad, else 0. */
  readonly output: number;
  readonly explanation: PatternExplanation;
}

type Judge = (values: Float64Array, at: number, history: PatternHistory, minute: number, limit: number) => Judgement;

const JUDGES: Readonly<Record<PatternKind, Judge>> = {
  spike: judgeSpike,
  changepoint: judgeChangepoint,
  trend: judgeTrend,
};

export const judgeOf = (kind: PatternKind): Judge => JUDGES[kind];

/** The answer of a macro: |deviation| of a bad minute, else 0. */
export const outputOf = (judgement: Judgement): number =>
  judgement.state === 'bad' ? Math.abs(judgement.finding.deviation) : 0;

/**
 * Judges one minute. `recent` holds at least the `recentMinutes` of `patternReach` that end at `minute`; what it does
 * not hold counts as missing. `history` is that of `patternHistoryMinute(minute)`; a slightly older one only knows less
 * of the previous days. The tolerance is in [0, 10]; outside it a RangeError is thrown.
 */
export function evaluatePattern(
  macro: Macro,
  tolerance: number,
  recent: MinuteSeries,
  history: PatternHistory,
  minute: number,
): PatternMinute {
  if (history.macro !== macro) throw new TypeError(`The history was built for ${history.macro}, not for ${macro}`);
  const k = patternLimit(tolerance);
  const { kind, sign } = directionOf(macro);
  const { window } = SHAPES[kind];
  const values = signedCopy(recent, minute - window + 1, minute, sign);
  const judgement = judgeOf(kind)(values, window - 1, history, minute, k);
  const days = 'finding' in judgement ? judgement.finding.season.days : seasonAt(history, kind, minute).days;
  return {
    state: judgement.state,
    output: outputOf(judgement),
    explanation: explain(judgement, { history, tolerance, k, minute }, days),
  };
}
