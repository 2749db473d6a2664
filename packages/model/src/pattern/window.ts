/** A macro over a whole window: the answers of minute by minute, at a fraction of the cost. For backtests and previews. */
import type { Macro } from '../model.ts';
import { judgeOf, outputOf } from './evaluate.ts';
import { driftWidth, type PatternHistory, tailWidth } from './history.ts';
import type { PatternState } from './judgement.ts';
import { type MinuteSeries, signedCopy } from './minute-series.ts';
import {
  DAY_MINUTES,
  directionOf,
  type PatternKind,
  patternHistoryMinute,
  patternLimit,
  SEASON_DAYS,
  SHAPES,
  TAIL_REFRESH_MINUTES,
} from './shape.ts';
import { isSample, SortedWindow } from './sorted-window.ts';
import { statistics } from './statistic.ts';

/** `states[i]` and `outputs[i]` belong to minute `startMinute + i`. */
export interface PatternWindow {
  readonly startMinute: number;
  readonly states: readonly PatternState[];
  /** Distance from the baseline of bad minutes, else 0. */
  readonly outputs: Float64Array;
}

export interface PatternWindowOptions {
  /** The one given to `patternHistoryMinute`. */
  readonly phase?: number;
}

/**
 * Judges minutes `from` to `to`, both included. `series` should begin seven days and `historyMinutes` before `from`;
 * what it does not hold counts as missing. Equal to building the history of `patternHistoryMinute` and judging each
 * minute by itself.
 */
export function evaluatePatternWindow(
  macro: Macro,
  tolerance: number,
  series: MinuteSeries,
  from: number,
  to: number,
  options: PatternWindowOptions = {},
): PatternWindow {
  const limit = patternLimit(tolerance);
  const { kind } = directionOf(macro);
  const histories = new Histories(macro, series, from, to);
  const judge = judgeOf(kind);
  const states: PatternState[] = [];
  const outputs = new Float64Array(Math.max(to - from + 1, 0));
  for (let minute = from; minute <= to; minute++) {
    const at = minute - histories.origin;
    const builtAt = patternHistoryMinute(minute, options.phase);
    const missing = histories.missing(at);
    if (missing) {
      states.push(missing);
    } else if (histories.isCalm(at, builtAt, limit)) {
      states.push('calm');
    } else {
      const judgement = judge(histories.values, at, histories.at(builtAt), minute, limit);
      states.push(judgement.state);
      outputs[minute - from] = outputOf(judgement);
    }
  }
  return { startMinute: from, states, outputs };
}

/** Statistics of a whole series, from which the history of any minute is cut. */
class Histories {
  readonly macro: Macro;
  readonly kind: PatternKind;
  /** Minute of `values[0]`. */
  readonly origin: number;
  readonly values: Float64Array;
  readonly deviations: Float64Array;
  readonly #residuals: Float64Array;
  readonly #thirds: Float64Array | undefined;
  readonly #tail = new SortedWindow(DAY_MINUTES + TAIL_REFRESH_MINUTES);
  /** Index after the last residual in `#tail`. */
  #tailEnd = 0;
  #tailFor = Number.NaN;
  #tailWidth = 0;
  #history: PatternHistory | undefined;

  constructor(macro: Macro, series: MinuteSeries, from: number, to: number) {
    const { kind, sign } = directionOf(macro);
    this.macro = macro;
    this.kind = kind;
    this.origin = from - TAIL_REFRESH_MINUTES - SHAPES[kind].history - SEASON_DAYS * DAY_MINUTES;
    this.values = signedCopy(series, this.origin, to, sign);
    const { deviations, residuals, thirds } = statistics(kind, this.values);
    this.deviations = deviations;
    this.#residuals = residuals;
    this.#thirds = thirds;
  }

  /** State of a minute that cannot be judged. */
  missing(at: number): 'no_data' | 'insufficient' | undefined {
    if (!isSample(this.values[at])) return 'no_data';
    const known = isSample(this.deviations[at]) && (!this.#thirds || isSample(this.#thirds[at - 40]));
    return known ? undefined : 'insufficient';
  }

  /** Whether the deviation is too small for any noise width; the other widths can only make the score smaller. */
  isCalm(at: number, builtAt: number, limit: number): boolean {
    const deviation = this.deviations[at]!;
    const tail = this.tailWidthAt(builtAt);
    return deviation <= 0 || deviation / tail < limit;
  }

  /** Asked for in ascending order. */
  tailWidthAt(builtAt: number): number {
    if (this.#tailFor === builtAt) return this.#tailWidth;
    const end = builtAt - this.origin + 1 - SHAPES[this.kind].lag;
    const first = this.#tailEnd === 0;
    for (let i = first ? end - DAY_MINUTES : this.#tailEnd; i < end; i++) {
      this.#tail.replace(first ? Number.NaN : this.#residuals[i - DAY_MINUTES]!, this.#residuals[i]!);
    }
    this.#tailEnd = end;
    this.#tailFor = builtAt;
    this.#tailWidth = tailWidth(this.kind, this.#tail.sorted);
    return this.#tailWidth;
  }

  at(builtAt: number): PatternHistory {
    if (this.#history?.builtAt === builtAt) return this.#history;
    const tail = this.tailWidthAt(builtAt);
    const { history, guard } = SHAPES[this.kind];
    const at = builtAt - this.origin;
    const days = Array.from({ length: SEASON_DAYS }, (_, k) => {
      const same = at - (k + 1) * DAY_MINUTES;
      return this.deviations.subarray(same - guard, same + guard + TAIL_REFRESH_MINUTES);
    });
    const part = this.values.subarray(at - history + 1, at + 1);
    this.#history = {
      macro: this.macro,
      builtAt,
      residualMinutes: this.#tail.count,
      tailWidth: tail,
      driftWidth: driftWidth(this.kind, this.deviations, at, days),
      integers: part.every((value) => !isSample(value) || Number.isInteger(value)),
      days,
    };
    return this.#history;
  }
}
