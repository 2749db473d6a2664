/** Where one rule stands: its series, whether it can be evaluated, and its last evaluations. */
import type { RuleEvaluations, RuleSeries, RuleStateAnswer, ruleStateQuery } from '@obsiac/api';
import type { FastifyBaseLogger } from 'fastify';
import type { z } from 'zod';
import type { Identity } from '../http/authentication.ts';
import { requireRule } from '../metadata/alert-rules.ts';
import { guarded } from '../metadata/store.ts';
import { type AlertStatesContext, type Gathered, gatherLive } from './gather.ts';
import type { LiveQuery, LiveRule, LiveSeries } from './live.ts';
import { alertsOf, healthOf, type RuleAlert } from './rule-alerts.ts';
import { labelHash, readEpisodes, type StoredEpisode } from './store-reads.ts';

export interface RuleRequest {
  readonly identity: Identity;
  readonly entityId: string;
  readonly ruleId: string;
  readonly log: FastifyBaseLogger;
}

/** @throws Refusal `not_found` */
export async function readRuleState(
  context: AlertStatesContext,
  request: RuleRequest,
  { state: wanted, limit }: z.output<typeof ruleStateQuery>,
): Promise<RuleStateAnswer> {
  const { store } = context;
  const { entityId, ruleId } = request;
  const { organizationId } = request.identity;
  const row = await guarded(store, () => requireRule(store.db, organizationId, entityId, ruleId));
  const gathered = await gatherRule(context, request, { series: 'all', limit: 10_000 }, row.is_disabled === 1);
  const live = gathered.rules.get(ruleId);
  const now = Math.floor(store.now() / 60_000);
  const selection = { organizationId, entityId, ruleId, untilMinute: now + 1, openAfter: now + 1 };
  const open = await guarded(store, () => readEpisodes(store.db, selection));
  const series = seriesOf(open, live);
  const counts = countsOf(series, live);
  const chosen = wanted === undefined ? series : series.filter(({ state }) => state === wanted);
  const total = wanted === undefined ? counts.normal + counts.pending + counts.firing : counts[wanted];
  const { health, error, since } = healthOf(row, live);
  return {
    state: counts.firing > 0 ? 'firing' : counts.pending > 0 ? 'pending' : 'normal',
    health,
    last_error: error,
    error_since: since,
    last_minute: live?.minute == null ? null : live.minute * 60,
    empty_since: live?.empty_since == null ? null : live.empty_since * 60,
    bad_minutes: row.bad_minutes,
    total_minutes: row.eval_window,
    recover_minutes: live?.recover_minutes ?? null,
    query: live?.query ?? '',
    data_source: live?.data_source ?? '',
    counts,
    total,
    series: chosen.slice(0, limit),
    incomplete: gathered.incomplete,
  };
}

/** @throws Refusal `not_found` */
export async function readEvaluations(context: AlertStatesContext, request: RuleRequest): Promise<RuleEvaluations> {
  const { store } = context;
  const { entityId, ruleId, identity } = request;
  const row = await guarded(store, () => requireRule(store.db, identity.organizationId, entityId, ruleId));
  const gathered = await gatherRule(context, request, { series: 'none', limit: 0 }, row.is_disabled === 1);
  const live = gathered.rules.get(ruleId);
  return {
    query: live?.query ?? '',
    data_source: live?.data_source ?? '',
    evaluations: live?.evaluations ?? [],
    source_share: live?.source_share ?? null,
    shared_by: live?.shared_by ?? 1,
    incomplete: gathered.incomplete,
  };
}

/** A disabled rule is evaluated by nobody, so nobody is missed. */
async function gatherRule(
  context: AlertStatesContext,
  { identity, entityId, ruleId, log }: RuleRequest,
  query: Omit<LiveQuery, 'rule'>,
  isDisabled: boolean,
): Promise<Gathered> {
  if (isDisabled) return { rules: new Map(), incomplete: [], outages: [] };
  return gatherLive(context, { identity, entityIds: [entityId], query: { ...query, rule: ruleId }, log });
}

/** What fires first, then what is pending, then the rest. */
function seriesOf(open: readonly StoredEpisode[], live: LiveRule | undefined): RuleSeries[] {
  const bySeries = new Map((live?.series ?? []).map((each) => [each.key, each]));
  const alerts = alertsOf(open, live, undefined);
  const alerting = new Set(alerts.map(({ seriesKey }) => seriesKey));
  const rest = (live?.series ?? []).filter(({ key }) => !alerting.has(key));
  return [...alerts.map((alert) => ofAlert(alert, bySeries.get(alert.seriesKey))), ...rest.map(ofNormal)];
}

function ofAlert(alert: RuleAlert, live: LiveSeries | undefined): RuleSeries {
  return {
    labels: { ...alert.labels },
    label_hash: labelHash(alert.seriesKey),
    state: alert.state === 'firing' ? 'firing' : 'pending',
    minute: live?.quality ?? 'unknown',
    bad_minutes: alert.badMinutes,
    value: alert.value,
    since: alert.since * 60,
    episode_id: alert.episodeId === '' ? null : alert.episodeId,
  };
}

function ofNormal(live: LiveSeries): RuleSeries {
  return {
    labels: { ...live.labels },
    label_hash: labelHash(live.key),
    state: 'normal',
    minute: live.quality,
    bad_minutes: live.bad_minutes,
    value: live.value,
    since: null,
    episode_id: null,
  };
}

/** The evaluator has counted also the series that it did not send. */
function countsOf(series: readonly RuleSeries[], live: LiveRule | undefined): RuleStateAnswer['counts'] {
  const counts = { normal: 0, pending: 0, firing: 0 };
  for (const { state } of series) counts[state] += 1;
  if (!live || live.series.length === live.counts.normal + live.counts.pending + live.counts.firing) return counts;
  return {
    normal: Math.max(counts.normal, live.counts.normal),
    pending: Math.max(counts.pending, live.counts.pending),
    firing: Math.max(counts.firing, live.counts.firing),
  };
}
