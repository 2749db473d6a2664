/** The state feed: every rule with its alerts, now or at a moment of the past. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { AlertMonitorQuery, alertMonitorQuery, Incomplete, MonitoredAlert, MonitoredRule } from '@obsiac/api';
import { type AnchoredRegex, compileRegex } from '@obsiac/promql';
import type { FastifyBaseLogger } from 'fastify';
import type { z } from 'zod';
import type { Identity } from '../http/authentication.ts';
import { guarded } from '../metadata/store.ts';
import { refuseField } from '../refusal.ts';
import { type Condition, parseCondition } from '../rules/condition.ts';
import { type AlertStatesContext, gatherLive } from './gather.ts';
import type { LiveRule } from './live.ts';
import { renderTexts, textsOf } from './rendered-texts.ts';
import { alertsOf, healthOf, type RuleAlert, worstState } from './rule-alerts.ts';
import { labelHash, readEpisodes, readRules, type StoredEpisode, type StoredRule } from './store-reads.ts';

/** A moment so many seconds ago at most is now: answers take time, and clocks differ. */
const NOW = 60;

const TEXT_NAMES = { description: 'description', runbook: 'runbook' } as const;

type Query = z.output<typeof alertMonitorQuery>;

export interface MonitorFeed {
  readonly timestamp: number;
  readonly window: number;
  readonly incomplete: Incomplete;
  readonly pages: AsyncGenerator<readonly MonitoredRule[], void>;
}

interface Filters {
  readonly ruleName: AnchoredRegex | undefined;
  readonly groupName: AnchoredRegex | undefined;
  readonly labels: ReadonlyMap<string, string>;
  readonly states: Query['state'];
}

interface Moment {
  readonly seconds: number;
  /** Undefined: now. */
  readonly pastMinute: number | undefined;
}

/** @throws Refusal `bad_request` for a filter that cannot be read */
export async function readMonitor(
  context: AlertStatesContext,
  identity: Identity,
  query: Query,
  log: FastifyBaseLogger,
): Promise<MonitorFeed> {
  const filters = readFilters(query);
  const moment = momentOf(query.timestamp, context.store.now());
  const minute = Math.floor(moment.seconds / 60);
  const where = { organizationId: identity.organizationId, entityId: query.alert_group_id, untilMinute: minute };
  const { db } = context.store;
  const all = await guarded(context.store, () => readRules(db, where));
  const rules = all.filter((rule) => isWanted(rule, filters));
  const live =
    moment.pastMinute === undefined
      ? await gatherLive(context, {
          identity,
          entityIds: new Set(rules.map(({ row }) => row.entity_id)),
          query: { series: 'active', limit: 1000, rule: undefined },
          log,
        })
      : { rules: new Map<string, LiveRule>(), incomplete: [] };
  // After the live states: an episode that has begun in between is then in both.
  const openAfter = Math.floor((moment.seconds - query.window) / 60);
  const episodes = await guarded(context.store, () => readEpisodes(db, { ...where, openAfter }));
  const byRule = Map.groupBy(episodes, ({ row }) => row.rule_id);
  const known = new Set(all.map(({ row }) => row.id));
  const gone = [...byRule.keys()].filter((id) => !known.has(id));
  return {
    timestamp: Math.floor(moment.seconds),
    window: query.window,
    incomplete: live.incomplete,
    pages: monitorPages({ rules, gone, episodes: byRule, live: live.rules }, filters, moment),
  };
}

function momentOf(timestamp: number | undefined, nowMs: number): Moment {
  const now = nowMs / 1000;
  if (timestamp === undefined || timestamp >= now - NOW)
    return { seconds: Math.min(timestamp ?? now, now), pastMinute: undefined };
  return { seconds: timestamp, pastMinute: Math.floor(timestamp / 60) };
}

function readFilters(query: Query): Filters {
  return {
    ruleName: readRegex('rule_name', query.rule_name),
    groupName: readRegex('alert_group_name', query.alert_group_name),
    labels: readLabels(query.label_filters),
    states: query.state,
  };
}

function readRegex(name: keyof AlertMonitorQuery, pattern: string | undefined): AnchoredRegex | undefined {
  if (pattern === undefined || pattern === '') return undefined;
  const result = compileRegex(pattern);
  if (!result.ok) throw refuseField(`query.${name}`, `is not a regular expression (RE2): ${result.message}`);
  return result.regex;
}

/** `k=v,k2=v2`; a comma inside a value is one that no `name=` follows. */
function readLabels(text: string | undefined): ReadonlyMap<string, string> {
  if (text === undefined || text.trim() === '') return new Map();
  const pairs = text.split(/,(?=\s*[A-Za-z_][\w.:/-]*\s*=)/).map((pair) => {
    const [, name, value] = /^\s*([^=\s][^=]*?)\s*=([\s\S]*)$/.exec(pair) ?? [];
    if (name === undefined) throw refuseField('query.label_filters', 'must be like "host=a,device=b"');
    return [name, value!.trim()] as const;
  });
  return new Map(pairs);
}

function isWanted(
  { row, entityName }: Pick<StoredRule, 'entityName'> & { row: { rule_name: string } },
  filters: Filters,
) {
  return (filters.ruleName?.matches(row.rule_name) ?? true) && (filters.groupName?.matches(entityName) ?? true);
}

/** Rules described between two breaths of the event loop. */
const PAGE = 200;

interface Material {
  readonly rules: readonly StoredRule[];
  /** Ids of rules that have been deleted and have episodes. */
  readonly gone: readonly string[];
  /** By rule. */
  readonly episodes: ReadonlyMap<string, readonly StoredEpisode[]>;
  readonly live: ReadonlyMap<string, LiveRule>;
}

async function* monitorPages(
  { rules, gone, episodes, live }: Material,
  filters: Filters,
  moment: Moment,
): MonitorFeed['pages'] {
  let page: MonitoredRule[] = [];
  for (const [index, rule] of rules.entries()) {
    const { row } = rule;
    const isBorn = row.created_at <= moment.seconds || episodes.has(row.id);
    const described = isBorn
      ? describeRule(rule, episodes.get(row.id) ?? [], live.get(row.id), filters, moment)
      : undefined;
    if (described) page.push(described);
    if (index % PAGE < PAGE - 1) continue;
    yield page;
    page = [];
    await breathe();
  }
  for (const id of gone) {
    const described = describeGone(episodes.get(id)!, filters, moment);
    if (described) page.push(described);
  }
  yield page;
}

function describeRule(
  rule: StoredRule,
  episodes: readonly StoredEpisode[],
  live: LiveRule | undefined,
  filters: Filters,
  moment: Moment,
): MonitoredRule | undefined {
  const { row } = rule;
  const all = alertsOf(episodes, live, moment.pastMinute);
  const alerts = chooseAlerts(all, filters);
  if (!alerts) return undefined;
  const texts = textsOf(row, TEXT_NAMES);
  const condition = row.algorithm === 'static_threshold' ? parseCondition(row.condition) : undefined;
  const { health, error } = healthOf(row, live);
  const state = worstState(all);
  return {
    alert_group_id: row.entity_id,
    alert_group_name: rule.entityName,
    rule_id: row.id,
    rule_name: row.rule_name,
    state,
    severity: row.severity,
    rule_type: row.algorithm === 'static_threshold' ? 'static' : 'anomaly',
    last_fired_at: (rule.lastFired ?? 0) * 60,
    since: sinceOf(all, state),
    rule_properties: propertiesOf(row),
    ...(moment.pastMinute === undefined ? { health, last_error: error } : { health: 'unknown', last_error: '' }),
    alerts: alerts.map((alert) => describeAlert(alert, row.eval_window, texts, condition)),
  };
}

/** A rule that has been deleted since is known by the facts of its episodes. */
function describeGone(episodes: readonly StoredEpisode[], filters: Filters, moment: Moment): MonitoredRule | undefined {
  const { row, facts } = episodes.at(-1)!;
  if (!isWanted({ row: facts, entityName: facts.entity_name }, filters)) return undefined;
  const all = alertsOf(episodes, undefined, moment.pastMinute);
  const alerts = chooseAlerts(all, filters);
  if (!alerts) return undefined;
  const state = worstState(all);
  return {
    alert_group_id: row.entity_id,
    alert_group_name: facts.entity_name,
    rule_id: row.rule_id,
    rule_name: facts.rule_name,
    state,
    severity: facts.severity,
    rule_type: facts.explanation === undefined ? 'static' : 'anomaly',
    last_fired_at: Math.max(...episodes.map((episode) => episode.row.fired_minute)) * 60,
    since: sinceOf(all, state),
    rule_properties: {},
    health: 'unknown',
    last_error: '',
    alerts: alerts.map((alert) => describeAlert(alert, 0, {}, undefined)),
  };
}

/** The alerts that the filters let through; undefined: the rule is not part of the answer. */
function chooseAlerts(all: readonly RuleAlert[], { labels, states }: Filters): readonly RuleAlert[] | undefined {
  const alerts = all.filter((alert) => {
    if (states && !states.includes(alert.state)) return false;
    return [...labels].every(([name, value]) => (alert.labels[name] ?? '') === value);
  });
  if (alerts.length > 0 || (labels.size === 0 && states === undefined)) return alerts;
  const isNormal = all.length === 0 && labels.size === 0 && states?.includes('normal') === true;
  return isNormal ? alerts : undefined;
}

function sinceOf(alerts: readonly RuleAlert[], state: MonitoredRule['state']): number {
  const same = alerts.filter((alert) => alert.state === state).map(({ since }) => since);
  if (same.length === 0) return 0;
  return (state === 'resolved' ? Math.max(...same) : Math.min(...same)) * 60;
}

function propertiesOf(row: StoredRule['row']): Record<string, unknown> {
  return {
    ...(JSON.parse(row.properties) as Record<string, unknown>),
    primary_indicator: row.primary_indicator,
    expression: row.expression,
    condition: row.condition,
    bad_minutes: row.bad_minutes,
    total_minutes: row.eval_window,
    algorithm: row.algorithm,
    is_disabled: row.is_disabled === 1,
    mute_until: row.mute_until,
  };
}

function describeAlert(
  alert: RuleAlert,
  totalMinutes: number,
  texts: Readonly<Record<string, string>>,
  condition: Condition | undefined,
): MonitoredAlert {
  return {
    state: alert.state,
    label_hash: labelHash(alert.seriesKey),
    annotations: renderTexts(texts, alert),
    group_labels: { ...alert.labels },
    metric_degradation: degradation(alert.value ?? alert.worst, condition),
    current_value: alert.value,
    last_fired_at: (alert.firedMinute ?? 0) * 60,
    since: alert.since * 60,
    bad_minutes: alert.badMinutes,
    total_minutes: totalMinutes,
    worst_value: alert.worst,
    episode_id: alert.episodeId,
    reason: alert.reason,
  };
}

/** Percent of the threshold by which a value is beyond it; negative when it is on the good side. */
function degradation(value: number | null, condition: Condition | undefined): number | null {
  if (value === null || !condition || condition.threshold === 0) return null;
  const { operator, threshold } = condition;
  const beyond = operator.startsWith('<') ? threshold - value : value - threshold;
  const share =
    (100 * (operator.startsWith('=') || operator.startsWith('!') ? Math.abs(beyond) : beyond)) / Math.abs(threshold);
  return Number.isFinite(share) ? share : null;
}
