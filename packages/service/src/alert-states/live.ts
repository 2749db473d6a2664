/** What only the process that evaluates a rule knows: where each series stands, values, the last evaluations. */
import { setImmediate as breathe } from 'node:timers/promises';
import { ruleEvaluation, SERIES_STATES } from '@obsiac/api';
import { BAD, GOOD, type SeriesStatus } from '@obsiac/model';
import { z } from 'zod';
import type { Evaluation, Evaluator, RuleView } from '../evaluator/index.ts';

/** Rules described or read between two breaths of the event loop. */
const BREATH = 500;

const QUALITIES = ['good', 'bad', 'missing'] as const;
const number = z.number().nullable();

const liveSeries = z.object({
  key: z.string(),
  labels: z.record(z.string(), z.string()),
  state: z.enum(SERIES_STATES),
  quality: z.enum(QUALITIES),
  bad_minutes: z.int(),
  value: number,
  /** Minutes since 1970: pending since, or fired. */
  since: z.int().nullable(),
  first_bad_minute: z.int().nullable(),
  episode_id: z.string().nullable(),
  /** The worst bad value when it fired. */
  worst: number,
});
export type LiveSeries = z.infer<typeof liveSeries>;

/** A rule as its process sees it. Minutes count from 1970. */
const liveRule = z.object({
  rule_id: z.string(),
  entity_id: z.string(),
  /** Why it cannot be evaluated as it is written; null: it can. */
  problem: z.string().nullable(),
  query: z.string(),
  data_source: z.string(),
  recover_minutes: z.int().nullable(),
  /** Null: not evaluated yet. */
  minute: z.int().nullable(),
  failing: z.object({ since: z.int(), error: z.string() }).nullable(),
  empty_since: z.int().nullable(),
  counts: z.object({ normal: z.int(), pending: z.int(), firing: z.int() }),
  series: z.array(liveSeries),
  /** Unix milliseconds and milliseconds of the last evaluation; null: none. */
  last: z.object({ at: z.number(), duration: z.number() }).nullable(),
  /** Newest first; empty unless it was asked for. */
  evaluations: z.array(ruleEvaluation),
  source_share: number,
  shared_by: z.int(),
});
export type LiveRule = z.infer<typeof liveRule>;

export const liveAnswer = z.object({
  /** Of the evaluator. */
  id: z.string(),
  rules: z.array(liveRule),
  outages: z.array(
    z.object({ data_source_id: z.string(), data_source_name: z.string(), first_minute: z.int(), error: z.string() }),
  ),
});
export type LiveAnswer = z.infer<typeof liveAnswer>;

const envelope = liveAnswer.extend({ rules: z.array(z.unknown()) });

/** Reads what another process has answered. @throws ZodError */
export async function readLiveAnswer(json: unknown): Promise<LiveAnswer> {
  const { rules: unread, ...answer } = envelope.parse(json);
  const rules: LiveRule[] = [];
  for (const [index, rule] of unread.entries()) {
    if (index % BREATH === BREATH - 1) await breathe();
    rules.push(liveRule.parse(rule));
  }
  return { ...answer, rules };
}

/** Query of the route between processes. */
export const liveQuery = z.object({
  /** One rule, with its evaluations. */
  rule: z.string().max(256).optional(),
  series: z.enum(['none', 'active', 'all']).default('active'),
  /** Series of a rule at most: those that fire, then pending ones. */
  limit: z.coerce.number().int().min(0).max(10_000).default(1000),
});
export type LiveQuery = z.output<typeof liveQuery>;

/** What this process knows of an organisation's rules, or of one of them. */
export async function liveRulesOf(evaluator: Evaluator, organizationId: string, query: LiveQuery): Promise<LiveAnswer> {
  const outages = [...evaluator.outages.values()]
    .filter(({ organization_id }) => organization_id === organizationId)
    .map(({ data_source_id, data_source_name, first_minute, error }) => ({
      data_source_id,
      data_source_name,
      first_minute,
      error,
    }));
  const views = viewsOf(evaluator, organizationId, query.rule);
  const rules: LiveRule[] = [];
  for (const [index, view] of views.entries()) {
    if (index % BREATH === BREATH - 1) await breathe();
    const described = describe(view, query);
    if (query.rule !== undefined) Object.assign(described, costOf(view, evaluator.rules(organizationId)));
    rules.push(described);
  }
  return { id: evaluator.id, rules, outages };
}

function viewsOf(evaluator: Evaluator, organizationId: string, ruleId: string | undefined): readonly RuleView[] {
  if (ruleId === undefined) return evaluator.rules(organizationId);
  const view = evaluator.rule(ruleId);
  return view?.rule.row.organization_id === organizationId ? [view] : [];
}

function describe({ rule, state }: RuleView, query: LiveQuery): LiveRule {
  const usable = 'problem' in rule ? undefined : rule;
  const last = state?.log.last;
  return {
    rule_id: rule.row.id,
    entity_id: rule.entity.id,
    problem: 'problem' in rule ? rule.problem : null,
    query: usable?.query ?? '',
    data_source: usable?.source.name ?? '',
    recover_minutes: usable?.alerting.recoverMinutes ?? null,
    minute: state?.log.last ? state.cursor : null,
    failing: state?.failing ? { since: state.failing.since, error: state.failing.error } : null,
    empty_since: state?.emptySince ?? null,
    counts: countStates(state?.series ?? []),
    series: chooseSeries(state?.series ?? [], query).map(describeSeries),
    last: last ? { at: last.at, duration: last.duration } : null,
    evaluations: [],
    source_share: null,
    shared_by: 1,
  };
}

function countStates(series: readonly SeriesStatus[]): LiveRule['counts'] {
  const counts = { normal: 0, pending: 0, firing: 0 };
  for (const { state } of series) counts[state] += 1;
  return counts;
}

const ORDER = { firing: 0, pending: 1, normal: 2 } as const;

function chooseSeries(series: readonly SeriesStatus[], { series: wanted, limit }: LiveQuery): readonly SeriesStatus[] {
  if (wanted === 'none') return [];
  const chosen = wanted === 'all' ? [...series] : series.filter(({ state }) => state !== 'normal');
  return chosen.sort((a, b) => ORDER[a.state] - ORDER[b.state]).slice(0, limit);
}

function describeSeries(status: SeriesStatus): LiveSeries {
  const { key, labels, state, quality, badMinutes, value, since, episode } = status;
  return {
    key,
    labels: { ...labels },
    state,
    quality: quality === GOOD ? 'good' : quality === BAD ? 'bad' : 'missing',
    bad_minutes: badMinutes,
    value: finite(value),
    since: since ?? null,
    first_bad_minute: episode?.firstBadMinute ?? (state === 'pending' ? (since ?? null) : null),
    episode_id: episode?.id ?? null,
    worst: episode ? finite(episode.value) : null,
  };
}

/** JSON has neither NaN nor infinities. */
export function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

/** The evaluations of a rule, and what part of its data source's time they are. */
function costOf(
  { rule, state }: RuleView,
  all: readonly RuleView[],
): Pick<LiveRule, 'evaluations' | 'source_share' | 'shared_by'> {
  if ('problem' in rule) return { evaluations: [], source_share: null, shared_by: 1 };
  const times = new Map<string, { readonly mean: number; rules: number }>();
  for (const { rule: other, state: otherState } of all) {
    if ('problem' in other || other.source.id !== rule.source.id || !otherState) continue;
    const known = times.get(other.query);
    if (known) known.rules += 1;
    else times.set(other.query, { mean: meanDuration(otherState.log.entries()), rules: 1 });
  }
  const own = times.get(rule.query);
  const total = [...times.values()].reduce((sum, { mean }) => sum + mean, 0);
  return {
    evaluations: (state?.log.entries() ?? []).map((entry) => describeEvaluation(rule, entry)),
    source_share: own && total > 0 ? own.mean / own.rules / total : null,
    shared_by: own?.rules ?? 1,
  };
}

function meanDuration(entries: readonly Evaluation[]): number {
  return entries.length === 0 ? 0 : entries.reduce((sum, { duration }) => sum + duration, 0) / entries.length;
}

function describeEvaluation(
  rule: Exclude<RuleView['rule'], { readonly problem: string }>,
  entry: Evaluation,
): z.infer<typeof ruleEvaluation> {
  const { start, end } = entry;
  return {
    at: entry.at / 1000,
    minute: entry.minute * 60,
    first_minute: entry.from * 60,
    start,
    end,
    duration: Math.round(entry.duration * 1000) / 1_000_000,
    series: entry.series,
    samples: entry.samples,
    firing: entry.firing,
    pending: entry.pending,
    error: entry.error ?? null,
    warnings: [...entry.warnings],
    curl: rule.source.client.curl({ query: rule.query, start, end, step: 60 }),
  };
}
