/** Runs our macros and the baselines on synthetic series and scores them. */
import { evaluatePatternWindow, type Macro } from '../../packages/model/src/index.ts';
import { addScore, emptyScore, f1, type Score } from '../../packages/model/test/pattern/score.ts';
import {
  DAY,
  DAYS,
  type EventKind,
  FIRST_EVENT_DAY,
  type Synthetic,
} from '../../packages/model/test/pattern/synthetic.ts';

export const FROM = FIRST_EVENT_DAY * DAY;
export const TO = DAYS * DAY;

export const MACRO_OF: Readonly<Record<EventKind, Readonly<Record<'1' | '-1', Macro>>>> = {
  spike: { '1': 'high_spike', '-1': 'low_spike' },
  changepoint: { '1': 'increasing_changepoint', '-1': 'decreasing_changepoint' },
  trend: { '1': 'increasing_trend', '-1': 'decreasing_trend' },
};

export const DIRECTIONS = [1, -1] as const;

/** Which minutes of `from` to `to - 1` are bad by a macro. */
export function badMinutes(
  macro: Macro,
  tolerance: number,
  values: Float64Array,
  from = FROM,
  to = TO,
): (index: number) => boolean {
  const { states } = evaluatePatternWindow(macro, tolerance, { startMinute: 0, values }, from, to - 1);
  return (index) => states[index - from] === 'bad';
}

export function scoreMacros(
  kind: EventKind,
  set: readonly Synthetic[],
  tolerance: number,
  from = FROM,
  to = TO,
): Score {
  const score = emptyScore();
  for (const series of set) {
    for (const direction of DIRECTIONS) {
      const isBad = badMinutes(MACRO_OF[kind][direction], tolerance, series.values, from, to);
      addScore(score, isBad, from, to, { kind, direction }, series);
    }
  }
  return score;
}

const THRESHOLDS = 24;

/** The best F1 that a baseline reaches with any threshold on this very set. */
export function scoreBaseline(
  kind: EventKind,
  set: readonly Synthetic[],
  scorer: (values: Float64Array) => Float64Array,
): Score & { readonly threshold: number } {
  const scored = set.flatMap((series) =>
    DIRECTIONS.map((direction) => ({
      series,
      direction,
      scores: Float32Array.from(scorer(series.values.map((value) => direction * value))),
    })),
  );
  let best = { ...emptyScore(), threshold: Number.NaN };
  for (const threshold of thresholds(kind, scored)) {
    const score = emptyScore();
    for (const { series, direction, scores } of scored) {
      addScore(score, (i) => scores[i]! >= threshold, FROM, TO, { kind, direction }, series);
    }
    if (!(f1(score) < f1(best))) best = { ...score, threshold };
  }
  return best;
}

/** Largest scores near the events: between two of them the recall does not change. */
function thresholds(
  kind: EventKind,
  scored: readonly { series: Synthetic; direction: 1 | -1; scores: Float32Array }[],
): number[] {
  const peaks = scored.flatMap(({ series, direction, scores }) =>
    series.events
      .filter((event) => event.kind === kind && event.direction === direction)
      .map((event) => scores.subarray(event.start, event.end + 46).reduce(larger, -1e9)),
  );
  peaks.sort((a, b) => a - b);
  return Array.from({ length: THRESHOLDS }, (_, i) => peaks[Math.floor((i / THRESHOLDS) * peaks.length)]!);
}

/** NaN is never larger. */
const larger = (peak: number, score: number): number => (Number.isNaN(score) ? peak : Math.max(score, peak));
