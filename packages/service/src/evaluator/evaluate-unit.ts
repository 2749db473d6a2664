/** One minute of one unit: asks the data source, judges, finds events, writes them with their messages, remembers. */
import { createHash } from 'node:crypto';
import { type AlertEvent, type Episode, reachOf, type SeriesStatus, transition } from '@obsiac/model';
import { type RangeAnswer, SourceError } from '../data-source/source.ts';
import { commitMinutes, type RuleMinute } from './commit-minutes.ts';
import type { EvaluatedRule } from './evaluated-rule.ts';
import type { EvaluatorContext } from './evaluator-context.ts';
import { judgeSeries } from './judge-series.ts';
import { type MinuteValues, toMinutes } from './minute-grid.ts';
import type { OrganizationRules } from './organization-rules.ts';
import { type PatternJudge, patternMinutes } from './pattern-judge.ts';
import { firstMinuteOf, keepReachable, type RuleState } from './rule-state.ts';
import type { Unit } from './unit.ts';

export interface UnitRun {
  readonly unit: Unit;
  readonly organization: OrganizationRules;
  /** The minute that is due. */
  readonly minute: number;
  readonly signal: AbortSignal;
}

interface DueRule {
  readonly rule: EvaluatedRule;
  readonly state: RuleState;
  readonly from: number;
  /** The first minute that is judged: what fires or recovers at `from` depends on it. */
  readonly judgedFrom: number;
}

/** The series of a minute that a rule found, and where each stands at the last one. */
interface Found {
  readonly due: DueRule;
  readonly minutes: readonly RuleMinute[];
  readonly episodes: readonly Episode[];
  readonly series: readonly SeriesStatus[];
}

/** @throws LeaseLost, and what the metadata store throws; then nothing is remembered and the next round tries again */
export async function evaluateUnit(context: EvaluatorContext, run: UnitRun): Promise<void> {
  const { unit, minute } = run;
  const due = unit.rules
    .map((rule) => ({ rule, state: context.states.get(rule.row.id) }))
    .filter((each): each is { rule: EvaluatedRule; state: RuleState } => isDue(each.state, minute))
    .map(({ rule, state }): DueRule => {
      const from = firstMinuteOf(state, minute);
      return { rule, state, from, judgedFrom: from - reachOf(rule.alerting, state.episodes.some(isOpen)) + 1 };
    });
  if (due.length === 0) return;
  for (const { state } of due) state.isBusy = true;
  try {
    await evaluateDue(context, run, due);
  } finally {
    for (const { state } of due) state.isBusy = false;
  }
}

/** A rule that has moved to another query may still be under way with the old one. */
function isDue(state: RuleState | undefined, minute: number): boolean {
  return state !== undefined && !state.isBusy && state.cursor < minute;
}

async function evaluateDue(context: EvaluatorContext, run: UnitRun, due: readonly DueRule[]): Promise<void> {
  const { unit, minute, organization } = run;
  const first = Math.min(...due.map((each) => each.judgedFrom - patternMinutes(each.rule)));
  const asked = { query: unit.query, start: first * 60, end: minute * 60, step: 60 };
  const began = performance.now();
  const at = context.now();
  try {
    const answer = await context.ask(unit.source, { ...asked, signal: run.signal });
    const values = toMinutes(answer.series, first, minute);
    const judgedFrom = Math.min(...due.map((each) => each.judgedFrom));
    const patterns = await context.patterns.judgeFor(unit, values, { from: judgedFrom, minute, signal: run.signal });
    const found = due.map((each) => findEvents(context, each, values, patterns, minute));
    await commitFound(context, organization, found, minute);
    const entry = { minute, at, duration: performance.now() - began, start: asked.start, end: asked.end };
    for (const each of found) remember(context, each, { ...entry, ...sizeOf(answer), warnings: answer.warnings }, run);
    await context.watchdog.succeeded(organization.organization, unit.source, minute);
  } catch (error) {
    if (!(error instanceof SourceError) || error.code === 'cancelled') throw error;
    const entry = { minute, at, duration: performance.now() - began, start: asked.start, end: asked.end };
    await fail(context, run, due, error, entry);
  }
}

function sizeOf({ series }: RangeAnswer) {
  return { series: series.length, samples: series.reduce((sum, { values }) => sum + values.length, 0) };
}

/** Minute by minute, so that what was missed gives the same events and the same messages as if it had not been. */
function findEvents(
  context: EvaluatorContext,
  due: DueRule,
  values: readonly MinuteValues[],
  patterns: PatternJudge | undefined,
  minute: number,
): Found {
  const { rule, state, from, judgedFrom } = due;
  const open = new Set(state.episodes.filter(isOpen).map(({ seriesKey }) => seriesKey));
  const limit = context.seriesLimit;
  const series = judgeSeries({ rule, series: values, open, limit, patterns, from: judgedFrom });
  const minutes: RuleMinute[] = [];
  let episodes: readonly Episode[] = state.episodes;
  let statuses: readonly SeriesStatus[] = [];
  for (let each = from; each <= minute; each++) {
    const result = transition({ rule: rule.alerting, episodes, series, from: each, to: each, identify });
    const events = result.events.map((event): AlertEvent => ({ ...event, late: each < minute }));
    episodes = [...episodes.filter((old) => !isOpen(old)), ...result.episodes];
    statuses = result.series;
    minutes.push({ rule, minute: each, events, open: openOf(statuses, patterns, rule, each) });
  }
  return { due, minutes, episodes: keepReachable(episodes, minute), series: statuses };
}

const isOpen = ({ resolvedMinute }: Episode) => resolvedMinute === undefined;

function openOf(
  statuses: readonly SeriesStatus[],
  patterns: PatternJudge | undefined,
  rule: EvaluatedRule,
  minute: number,
): RuleMinute['open'] {
  return statuses
    .filter(({ episode }) => episode !== undefined)
    .map(({ episode, key, value }) => ({
      episode: episode!,
      value,
      explanation: patterns?.explain(rule, key, minute) ?? '',
    }));
}

/** The same text gives the same id in every process: receivers know an episode by it. */
function identify(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

async function commitFound(
  context: EvaluatorContext,
  organization: OrganizationRules,
  found: readonly Found[],
  minute: number,
): Promise<void> {
  const rules = found.map(({ due, minutes }) => ({
    rule: due.rule,
    minutes,
    hasUntoldEnds: due.state.hasUntoldEnds,
    recovered: due.state.hasStoredError,
  }));
  const untold = await commitMinutes(context, organization, rules, minute);
  for (const { due } of found) {
    due.state.hasUntoldEnds = untold.has(due.rule.row.id);
    due.state.hasStoredError = false;
  }
}

type Entry = Omit<Parameters<RuleState['log']['add']>[0], 'from' | 'firing' | 'pending' | 'error'>;

function remember(context: EvaluatorContext, found: Found, entry: Entry, { minute, unit: { slot } }: UnitRun): void {
  const { state, from, rule } = found.due;
  const skipped = from - state.cursor - 1;
  const isFirst = state.log.last === undefined;
  state.cursor = minute;
  state.episodes = found.episodes;
  state.series = found.series;
  state.failing = undefined;
  state.emptySince = entry.series > 0 ? undefined : (state.emptySince ?? minute);
  const count = (wanted: SeriesStatus['state']) => found.series.filter(({ state: is }) => is === wanted).length;
  state.log.add({ ...entry, from, firing: count('firing'), pending: count('pending'), error: undefined });
  context.metrics.evaluated(rule, { skipped, late: minute - from, minute, slot, isFirst, nowMs: context.now() });
}

/** An error changes no state: nothing fires, nothing resolves, and the minutes are evaluated once there is an answer. */
async function fail(
  context: EvaluatorContext,
  { unit, organization, minute }: UnitRun,
  due: readonly DueRule[],
  error: SourceError,
  entry: Omit<Entry, 'series' | 'samples' | 'warnings'>,
): Promise<void> {
  for (const { state, from } of due) {
    state.failing = { since: state.failing?.since ?? minute, error: error.message };
    const none = { series: 0, samples: 0, firing: 0, pending: 0, warnings: [] };
    state.log.add({ ...entry, ...none, from, error: error.message });
  }
  context.metrics.failed(unit, error.code, due.length);
  await context.recordErrors(due, minute);
  if (error.isFaultOfTheSource) {
    await context.watchdog.failed(organization.organization, unit.source, minute, error.message);
  }
}
