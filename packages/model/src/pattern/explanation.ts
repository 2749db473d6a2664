/** Why a minute is bad or calm: the fields that alerts, previews and the explorer show, and a sentence of them. */
import type { Macro } from '../model.ts';
import type { PatternHistory } from './history.ts';
import type { Finding, HeldBack, Judgement, PatternState } from './judgement.ts';
import { directionOf, LEAST_SEASON_DAYS, type PatternKind, SHAPES } from './shape.ts';
import { isSample } from './sorted-window.ts';
import type { WidthSource } from './width.ts';

/**
 * Values are in the indicator's unit and signed as they are: a drop has a negative deviation. Null: not known, or not
 * computed because samples are missing. Names are those of the alert's payload.
 */
export interface PatternExplanation {
  readonly macro: Macro;
  readonly tolerance: number;
  /** Noise widths that a deviation must reach: 3 + 0.4 × tolerance. */
  readonly k: number;
  readonly state: PatternState;
  /** Unix minute that was judged. */
  readonly minute: number;
  /** Spike: the sample. Changepoint: the median of the last ten minutes. Trend: where the fitted line ends. */
  readonly value: number | null;
  /** Spike: the median of the hour before. Changepoint: that of the hour that ended half an hour ago. Trend: where the fitted line begins. */
  readonly baseline: number | null;
  /** `value - baseline`. */
  readonly deviation: number | null;
  /** Deviation in percent of the baseline; null when the baseline is 0. */
  readonly deviation_pct: number | null;
  readonly noise_width: number | null;
  readonly width_source: WidthSource | null;
  /** Noise widths of deviation, positive in the macro's direction, without what is usual at this minute of the day. */
  readonly score_z: number | null;
  /** Value at which the minute turns bad, if nothing holds it back. */
  readonly bound: number | null;
  /** Usual deviation at this minute of the day; null for spikes, and with fewer than three previous days. */
  readonly seasonal_expected: number | null;
  /** Previous days that are known around this time, at most 7. */
  readonly seasonal_days: number;
  /** Hours of noise that are known, at most 24. */
  readonly history_hours: number;
  /** Why the minute is calm although its score reaches the limit. */
  readonly held_back: HeldBack | null;
  /** Changepoint: Unix minute of the first minute on the new level. */
  readonly change_time: number | null;
  /** Trend: rise in an hour, negative for a fall. */
  readonly rise_per_hour: number | null;
  /** Trend: minutes over which the rise was seen. */
  readonly window: number | null;
}

const UNKNOWN = {
  value: null,
  baseline: null,
  deviation: null,
  deviation_pct: null,
  noise_width: null,
  width_source: null,
  score_z: null,
  bound: null,
  seasonal_expected: null,
  held_back: null,
  change_time: null,
  rise_per_hour: null,
  window: null,
} as const;

export function explain(
  judgement: Judgement,
  given: { readonly history: PatternHistory; readonly tolerance: number; readonly k: number; readonly minute: number },
  seasonDays: number,
): PatternExplanation {
  const { history, tolerance, k, minute } = given;
  const { kind, sign } = directionOf(history.macro);
  return {
    macro: history.macro,
    tolerance,
    k,
    state: judgement.state,
    minute,
    ...UNKNOWN,
    seasonal_days: seasonDays,
    history_hours: Math.round(history.residualMinutes / 6) / 10,
    ...('finding' in judgement ? explainFinding(judgement.finding, kind, sign, k, minute) : {}),
  };
}

function explainFinding(finding: Finding, kind: PatternKind, sign: 1 | -1, k: number, minute: number) {
  const { value, baseline, deviation, width, season } = finding;
  const expected = kind === 'spike' || !isSample(season.expected) ? null : signed(sign, season.expected);
  const percent = (100 * deviation) / Math.abs(baseline);
  return {
    value: signed(sign, value),
    baseline: signed(sign, baseline),
    deviation: signed(sign, deviation),
    deviation_pct: Number.isFinite(percent) ? signed(sign, percent) : null,
    noise_width: width,
    width_source: finding.widthSource,
    score_z: finding.score,
    bound: signed(sign, baseline + Math.max(deviation - finding.counted, 0) + k * width),
    seasonal_expected: expected,
    held_back: finding.heldBack ?? null,
    change_time: finding.changedBefore === undefined ? null : minute - finding.changedBefore,
    ...(kind === 'trend' && {
      rise_per_hour: signed(sign, (deviation * 60) / SHAPES.trend.window),
      window: SHAPES.trend.window,
    }),
  };
}

/** Without a negative zero. */
const signed = (sign: 1 | -1, value: number): number => sign * value + 0;

/**
 * One sentence for an alert: "5xx rose to 84 rpm, 12.4 noise widths above the 1 h median 3 (limit 5.0; noise width 6.5
 * from the last 24 h; not seen at this hour on 7 previous days)." For a calm minute it tells why it is calm.
 */
export function patternSentence(explanation: PatternExplanation, indicatorName: string, unit: string): string {
  const { state, value, baseline, noise_width: width, score_z: score } = explanation;
  if (value === null || baseline === null || width === null || score === null) {
    return state === 'no_data'
      ? `${indicatorName} has no data at this minute.`
      : `${indicatorName} has too few samples before this minute for ${explanation.macro}.`;
  }
  const kind = directionOf(explanation.macro).kind;
  const amount = (number: number) => (unit === '' ? readable(number) : `${readable(number)} ${unit}`);
  const brackets = [
    `limit ${explanation.k.toFixed(1)}`,
    `noise width ${readable(width)} ${SOURCES[explanation.width_source ?? 'floor']}`,
    seasonPart(explanation, amount),
  ];
  const size = `${score < 100 ? Math.abs(score).toFixed(1) : 'more than 100'} noise widths`;
  const place = (explanation.deviation ?? 0) < 0 ? 'below' : 'above';
  const verb = (explanation.deviation ?? 0) < 0 ? 'fell' : 'rose';
  const main = {
    spike: () => `${indicatorName} ${verb} to ${amount(value)}, ${size} ${place} the 1 h median ${readable(baseline)}`,
    changepoint: () =>
      `${indicatorName} ${verb} from ${readable(baseline)} to ${amount(value)}${since(explanation)} and stayed there, ${size} ${place} its earlier level`,
    trend: () =>
      `${indicatorName} ${verb} steadily from ${readable(baseline)} to ${amount(value)} in 2 h (${amount(Math.abs(explanation.rise_per_hour ?? 0))} an hour), ${size}`,
  }[kind]();
  if (state === 'bad') return `${main} (${brackets.join('; ')}).`;
  return calmSentence(explanation, { indicatorName, amount, size, brackets });
}

const SOURCES: Readonly<Record<WidthSource, string>> = {
  '1h': 'from the hour before',
  '2h': 'from the last 2 h',
  '24h': 'from the last 24 h',
  floor: 'at the least',
};

function seasonPart(explanation: PatternExplanation, amount: (value: number) => string): string {
  const { seasonal_days: days, seasonal_expected: expected } = explanation;
  if (days < LEAST_SEASON_DAYS) return days === 0 ? 'no previous days known' : `${days} of 3 previous days known`;
  if (explanation.held_back === 'usual') return `usual at this hour on ${days} previous days`;
  const share = Math.abs(expected ?? 0) / (explanation.noise_width || 1);
  if (expected !== null && share >= 1) return `${amount(expected)} are usual at this hour`;
  return `not seen at this hour on ${days} previous days`;
}

const since = ({ change_time: time }: PatternExplanation): string =>
  time === null ? '' : ` at ${new Date(time * 60_000).toISOString().slice(11, 16)} UTC`;

const REASONS: Readonly<Record<HeldBack, string>> = {
  usual: 'such a deviation is usual at this hour',
  passing: 'too few of the last 10 minutes are beyond the middle',
  uneven: 'the change is not spread over the two hours',
  step: 'a single step explains it better than a slope',
  turned_back: 'the last 10 minutes gave back half of it',
};

function calmSentence(
  { value, deviation, held_back: heldBack, k, score_z: score, macro }: PatternExplanation,
  text: {
    readonly indicatorName: string;
    readonly amount: (value: number) => string;
    readonly size: string;
    readonly brackets: readonly string[];
  },
): string {
  const brackets = `(${text.brackets.join('; ')})`;
  const start = `${text.indicatorName} is calm at ${text.amount(value ?? 0)}`;
  if (heldBack) return `${start}: ${text.size} of deviation, but ${REASONS[heldBack]} ${brackets}.`;
  if ((score ?? 0) <= 0) {
    const way = directionOf(macro).sign > 0 ? 'upward' : 'downward';
    return `${start}: no ${way} deviation ${(deviation ?? 0) === 0 ? '' : 'beyond the usual '}${brackets}.`;
  }
  return `${start}: ${text.size} of deviation, fewer than ${k.toFixed(1)} ${brackets}.`;
}

/** At most three digits after the first that is not zero, and no exponent for everyday numbers. */
function readable(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const short = Number(value.toPrecision(Math.abs(value) >= 1000 ? 6 : 3));
  return String(short);
}
