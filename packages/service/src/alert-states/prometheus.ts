/** Rules and alerts as Prometheus' HTTP API shows them: https://prometheus.io/docs/prometheus/latest/querying/api/#rules. */
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Incomplete } from '@obsiac/api';
import { type LabelMatcher, labelsOf, labelsTest } from '@obsiac/promql';
import type { FastifyBaseLogger } from 'fastify';
import type { Identity } from '../http/authentication.ts';
import { guarded } from '../metadata/store.ts';
import { type AlertStatesContext, gatherLive } from './gather.ts';
import type { LiveRule } from './live.ts';
import {
  alertingRule,
  type PrometheusAlert,
  type PrometheusRule,
  prometheusAlerts,
  prometheusLabels,
  ZERO_TIME,
} from './prometheus-rule.ts';
import { alertsOf } from './rule-alerts.ts';
import { readEpisodes, readRules, type StoredEpisode, type StoredRule } from './store-reads.ts';

export interface PrometheusRulesQuery {
  /** `record`: there are none. */
  readonly type: 'alert' | 'record' | undefined;
  /** Empty lists let everything through. */
  readonly ruleNames: readonly string[];
  readonly groupNames: readonly string[];
  readonly files: readonly string[];
  /** Rules whose labels one of these takes; empty: all. */
  readonly matchers: readonly (readonly LabelMatcher[])[];
  readonly excludeAlerts: boolean;
}

/** One alert manager. */
export interface PrometheusGroup {
  readonly name: string;
  /** The `external_ref`, which no other group has. */
  readonly file: string;
  /** Seconds. */
  readonly interval: number;
  readonly limit: number;
  readonly rules: readonly PrometheusRule[];
  /** Seconds. */
  readonly evaluationTime: number;
  readonly lastEvaluation: string;
}

export interface PrometheusRules {
  readonly groups: AsyncGenerator<readonly PrometheusGroup[], void>;
  /** The token of the group after the last of this page. */
  readonly nextToken: string | undefined;
  readonly incomplete: Incomplete;
}

export interface Paging {
  /** 0: no paging. */
  readonly limit: number;
  /** Empty: from the first group. */
  readonly token: string;
}

interface Material {
  readonly rules: readonly StoredRule[];
  readonly episodes: ReadonlyMap<string, readonly StoredEpisode[]>;
  readonly live: ReadonlyMap<string, LiveRule>;
  /** Queries of rules that no process has described, as their indicators have them; by rule. */
  readonly queries: ReadonlyMap<string, string>;
  readonly incomplete: Incomplete;
}

/** @returns undefined when the token is that of no group */
export async function readPrometheusRules(
  context: AlertStatesContext,
  identity: Identity,
  query: PrometheusRulesQuery,
  paging: Paging,
  log: FastifyBaseLogger,
): Promise<PrometheusRules | undefined> {
  if (query.type === 'record')
    return { groups: groupPages([], undefined, query), nextToken: undefined, incomplete: [] };
  const rules = await readActiveRules(context, identity, query);
  const groups = [...Map.groupBy(rules, ({ row }) => row.entity_id).values()].sort(byFile);
  const start = paging.token === '' ? 0 : groups.findIndex((group) => tokenOf(group[0]!) === paging.token);
  if (start < 0) return undefined;
  const end = paging.limit === 0 ? groups.length : start + paging.limit;
  const page = groups.slice(start, end);
  const material = await readMaterial(context, identity, page.flat(), log);
  const next = groups[end]?.[0];
  return {
    groups: groupPages(page, material, query),
    nextToken: next && tokenOf(next),
    incomplete: material.incomplete,
  };
}

export async function readPrometheusAlerts(
  context: AlertStatesContext,
  identity: Identity,
  log: FastifyBaseLogger,
): Promise<{ alerts: AsyncGenerator<readonly PrometheusAlert[], void>; incomplete: Incomplete }> {
  const rules = await readActiveRules(context, identity);
  const material = await readMaterial(context, identity, rules, log);
  return { alerts: alertPages(material), incomplete: material.incomplete };
}

/** Prometheus knows no rules that are switched off. */
async function readActiveRules(
  { store }: AlertStatesContext,
  { organizationId }: Identity,
  query?: PrometheusRulesQuery,
): Promise<StoredRule[]> {
  const untilMinute = Math.ceil(store.now() / 60_000);
  const rules = await guarded(store, () => readRules(store.db, { organizationId, untilMinute }));
  const has = (list: readonly string[] | undefined, name: string) => !list?.length || list.includes(name);
  const tests = (query?.matchers ?? []).map(labelsTest);
  return rules.filter(
    (rule) =>
      rule.row.is_disabled === 0 &&
      has(query?.ruleNames, rule.row.rule_name) &&
      has(query?.groupNames, rule.entityName) &&
      has(query?.files, fileOf(rule)) &&
      (tests.length === 0 || tests.some((test) => test(labelsOf(prometheusLabels(rule))))),
  );
}

async function readMaterial(
  context: AlertStatesContext,
  identity: Identity,
  rules: readonly StoredRule[],
  log: FastifyBaseLogger,
): Promise<Material> {
  const { store } = context;
  const { organizationId } = identity;
  const { rules: live, incomplete } = await gatherLive(context, {
    identity,
    entityIds: new Set(rules.map(({ row }) => row.entity_id)),
    query: { series: 'active', limit: 1000, rule: undefined },
    log,
  });
  const minute = Math.ceil(store.now() / 60_000);
  const selection = { organizationId, untilMinute: minute, openAfter: minute };
  const episodes = await guarded(store, () => readEpisodes(store.db, selection));
  const unknown = rules.filter(({ row }) => !live.get(row.id)?.query);
  return {
    rules,
    episodes: Map.groupBy(episodes, ({ row }) => row.rule_id),
    live,
    queries: unknown.length === 0 ? new Map() : await readQueries(context, organizationId, unknown),
    incomplete,
  };
}

async function readQueries(
  { store }: AlertStatesContext,
  organizationId: string,
  rules: readonly StoredRule[],
): Promise<Map<string, string>> {
  const kpis = await guarded(store, () =>
    store.db
      .selectFrom('kpis')
      .select(['entity_id', 'name', 'query'])
      .where('organization_id', '=', organizationId)
      .execute(),
  );
  const byName = new Map(kpis.map((kpi) => [JSON.stringify([kpi.entity_id, kpi.name]), kpi.query]));
  return new Map(
    rules.map(({ row }) => {
      const name = row.pattern_indicator || row.primary_indicator;
      return [row.id, byName.get(JSON.stringify([row.entity_id, name])) ?? ''];
    }),
  );
}

const fileOf = ({ entityRef, row }: StoredRule) => entityRef || row.entity_id;

function byFile([a]: readonly StoredRule[], [b]: readonly StoredRule[]): number {
  return fileOf(a!) < fileOf(b!) ? -1 : 1;
}

function tokenOf(rule: StoredRule): string {
  return createHash('sha256')
    .update(JSON.stringify([fileOf(rule), rule.entityName]))
    .digest('hex')
    .slice(0, 40);
}

/** Rules described between two breaths of the event loop. */
const BREATH = 200;

async function* groupPages(
  groups: readonly (readonly StoredRule[])[],
  material: Material | undefined,
  query: PrometheusRulesQuery,
): PrometheusRules['groups'] {
  for (const group of groups) {
    const rules: PrometheusRule[] = [];
    for (const [index, rule] of group.entries()) {
      if (index % BREATH === BREATH - 1) await breathe();
      rules.push(describe(rule, material!, query.excludeAlerts));
    }
    yield [
      {
        name: group[0]!.entityName,
        file: fileOf(group[0]!),
        interval: 60,
        limit: 0,
        rules,
        evaluationTime: rules.reduce((sum, { evaluationTime }) => sum + evaluationTime, 0),
        lastEvaluation: rules.map(({ lastEvaluation }) => lastEvaluation).reduce(later, ZERO_TIME),
      },
    ];
    await breathe();
  }
}

/** Of two times in RFC 3339 and UTC. */
function later(a: string, b: string): string {
  return a > b ? a : b;
}

function describe(rule: StoredRule, material: Material, excludeAlerts: boolean): PrometheusRule {
  const live = material.live.get(rule.row.id);
  const alerts = alertsOf(material.episodes.get(rule.row.id) ?? [], live, undefined);
  return alertingRule({ rule, live, query: material.queries.get(rule.row.id), alerts, excludeAlerts });
}

async function* alertPages({ rules, episodes, live }: Material): AsyncGenerator<readonly PrometheusAlert[], void> {
  for (const [index, rule] of rules.entries()) {
    if (index % BREATH === BREATH - 1) await breathe();
    const alerts = alertsOf(episodes.get(rule.row.id) ?? [], live.get(rule.row.id), undefined);
    if (alerts.length > 0) yield prometheusAlerts(rule, alerts);
  }
}
