/** Patterns need the day before and the same time on earlier days: fetched every ten minutes, kept in between. */
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import {
  BAD,
  buildPatternHistory,
  evaluatePattern,
  GOOD,
  isBad,
  type Macro,
  MISSING,
  type MinuteSeries,
  type PatternHistory,
  patternHistoryMinute,
  patternReach,
  patternSentence,
  type SeriesMinutes,
  TAIL_REFRESH_MINUTES,
} from '@obsiac/model';
import type { RangeAnswer, RangeRequest } from '../data-source/source.ts';
import type { ResolvedSource } from '../data-source/sources.ts';
import type { EvaluatedRule } from './evaluated-rule.ts';
import { type MinuteValues, toMinutes } from './minute-grid.ts';
import type { Unit } from './unit.ts';

type Pattern = NonNullable<EvaluatedRule['pattern']>;

/** Judges minutes of series by a pattern. */
export interface PatternJudge {
  /** @param from the first minute that counts */
  judge(series: MinuteValues, pattern: Pattern, condition: EvaluatedRule['condition'], from: number): SeriesMinutes;
  /** What the pattern saw at a minute, as a sentence; empty for a static rule and an unknown series. */
  explain(rule: EvaluatedRule, key: string, minute: number): string;
}

export interface PatternHistories {
  /**
   * The judge of a unit; undefined when none of its rules has a pattern.
   * @param request.from the first minute that is judged; `minute` is the last
   * @throws SourceError
   */
  judgeFor(
    unit: Unit,
    values: readonly MinuteValues[],
    request: { readonly from: number; readonly minute: number; readonly signal: AbortSignal },
  ): Promise<PatternJudge | undefined>;
  /** Forgets units that are no more. */
  keepOnly(keys: ReadonlySet<string>): void;
}

/** Minutes that a rule's pattern compares with, before the first minute that is judged; 0 for a static rule. */
export function patternMinutes(rule: EvaluatedRule): number {
  return rule.pattern ? patternReach(rule.pattern.macro).recentMinutes - 1 : 0;
}

/** By macro and series, for one moment of building. */
type Histories = Map<string, PatternHistory>;

type Ask = (source: ResolvedSource, request: RangeRequest) => Promise<RangeAnswer>;

/** Histories built between two breaths of the event loop: some milliseconds of work. */
const BREATH = 20;

export function createPatternHistories(ask: Ask): PatternHistories {
  const units = new Map<string, Map<number, Histories>>();
  return {
    judgeFor: async (unit, values, { from, minute, signal }) => {
      const macros = new Set(unit.rules.flatMap(({ pattern }) => (pattern ? [pattern.macro] : [])));
      if (macros.size === 0) return undefined;
      const phase = createHash('sha256').update(unit.key).digest()[0]! % TAIL_REFRESH_MINUTES;
      const moments = momentsOf(from, minute, phase);
      const kept = units.get(unit.key) ?? new Map<number, Histories>();
      const missing = moments.filter((moment) => !kept.has(moment));
      if (missing.length > 0) {
        const days = await fetchDays(ask, unit, macros, missing, signal);
        for (const moment of missing) kept.set(moment, await build(days, macros, moment));
      }
      for (const moment of kept.keys()) if (moment < moments[0]!) kept.delete(moment);
      units.set(unit.key, kept);
      return createJudge(values, (macro, key, at) => historyOf(kept, macro, key, patternHistoryMinute(at, phase)));
    },
    keepOnly: (keys) => {
      for (const key of units.keys()) if (!keys.has(key)) units.delete(key);
    },
  };
}

function momentsOf(from: number, minute: number, phase: number): number[] {
  const moments: number[] = [];
  const last = patternHistoryMinute(minute, phase);
  for (let moment = patternHistoryMinute(from, phase); moment <= last; moment += TAIL_REFRESH_MINUTES)
    moments.push(moment);
  return moments;
}

/** Series by key: element 0 the last 24 hours and a bit, element k the same time k days ago. */
type Days = readonly ReadonlyMap<string, MinuteSeries>[];

async function fetchDays(
  ask: Ask,
  unit: Unit,
  macros: ReadonlySet<Macro>,
  moments: readonly number[],
  signal: AbortSignal,
): Promise<Days> {
  const reaches = [...macros].map(patternReach);
  const most = (each: (reach: (typeof reaches)[number]) => number) => Math.max(...reaches.map(each));
  const oldest = moments[0]!;
  const newest = moments.at(-1)!;
  const fetchMinutes = async (first: number, last: number) => {
    const request = { query: unit.query, start: first * 60, end: last * 60, step: 60, signal };
    const answer = await ask(unit.source, request);
    const series = toMinutes(answer.series, first, last);
    return new Map(series.map(({ key, values }) => [key, { startMinute: first, values }]));
  };
  const history = fetchMinutes(oldest - most(({ historyMinutes }) => historyMinutes) + 1, newest);
  const slices = Array.from({ length: most(({ previousDays }) => previousDays) }, (_, index) => {
    const back = (index + 1) * 1440;
    return fetchMinutes(
      oldest - back - most(({ sliceBefore }) => sliceBefore),
      newest - back + most(({ sliceAfter }) => sliceAfter),
    );
  });
  return Promise.all([history, ...slices]);
}

async function build(days: Days, macros: ReadonlySet<Macro>, moment: number): Promise<Histories> {
  const [history, ...previous] = days;
  const built: Histories = new Map();
  let count = 0;
  for (const [key, series] of history!) {
    for (const macro of macros) {
      const slices = previous.map((day) => day.get(key));
      built.set(`${macro} ${key}`, buildPatternHistory(macro, series, slices, moment));
      count += 1;
      if (count % BREATH === 0) await breathe();
    }
  }
  return built;
}

const EMPTY: MinuteSeries = { startMinute: 0, values: new Float64Array(0) };

function historyOf(kept: Map<number, Histories>, macro: Macro, key: string, moment: number): PatternHistory {
  return kept.get(moment)?.get(`${macro} ${key}`) ?? buildPatternHistory(macro, EMPTY, [], moment);
}

function createJudge(
  values: readonly MinuteValues[],
  historyAt: (macro: Macro, key: string, minute: number) => PatternHistory,
): PatternJudge {
  const at = ({ key, first, values: samples }: MinuteValues, { macro, tolerance }: Pattern, minute: number) =>
    evaluatePattern(macro, tolerance, { startMinute: first, values: samples }, historyAt(macro, key, minute), minute);
  return {
    judge: (series, pattern, { operator, threshold }, from) => {
      const quality = new Uint8Array(series.values.length).fill(MISSING);
      for (let column = Math.max(from - series.first, 0); column < quality.length; column++) {
        if (Number.isNaN(series.values[column]!)) continue;
        const { output } = at(series, pattern, series.first + column);
        quality[column] = isBad(operator, threshold, output) ? BAD : GOOD;
      }
      return { ...series, quality };
    },
    explain: (rule, key, minute) => {
      const series = values.find((each) => each.key === key);
      if (!rule.pattern || !series) return '';
      const { explanation } = at(series, rule.pattern, minute);
      return patternSentence(explanation, rule.kpi.name, rule.kpi.unit);
    },
  };
}
