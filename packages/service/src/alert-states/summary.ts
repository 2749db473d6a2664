/** How many rules and series of each alert manager are in which state. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { AlertSummary } from '@obsiac/api';
import type { FastifyBaseLogger } from 'fastify';
import type { Kysely } from 'kysely';
import type { Identity } from '../http/authentication.ts';
import { guarded } from '../metadata/store.ts';
import type { Tables } from '../metadata/tables.ts';
import { type AlertStatesContext, gatherLive } from './gather.ts';
import type { LiveRule } from './live.ts';
import { healthOf } from './rule-alerts.ts';

type Group = AlertSummary['alert_groups'][number];

interface RuleFacts {
  readonly id: string;
  readonly entity_id: string;
  readonly is_disabled: number;
  readonly error_since: number | null;
}

/** Rules read between two breaths of the event loop. */
const PAGE = 1000;

export async function readSummary(
  context: AlertStatesContext,
  identity: Identity,
  log: FastifyBaseLogger,
): Promise<AlertSummary> {
  const { store } = context;
  const { organizationId } = identity;
  const { entities, rules } = await guarded(store, () => readNames(store.db, organizationId));
  const live = await gatherLive(context, {
    identity,
    entityIds: new Set(rules.filter(({ is_disabled }) => is_disabled === 0).map(({ entity_id }) => entity_id)),
    query: { series: 'none', limit: 0, rule: undefined },
    log,
  });
  const open = new Map(
    (await guarded(store, () => openEpisodes(store.db, organizationId))).map((row) => [row.rule_id, row]),
  );
  const outages = await guarded(store, () => openOutages(store.db, organizationId));
  const groups = new Map(entities.map(({ id, name }) => [id, emptyGroup(id, name)]));
  for (const rule of rules) {
    const group = groups.get(rule.entity_id);
    if (group) count(group, rule, live.rules.get(rule.id), open.get(rule.id));
  }
  const all = [...groups.values()];
  return {
    alert_groups: all,
    rules: sum(
      all.map((group) => group.rules),
      { normal: 0, pending: 0, firing: 0, disabled: 0, err: 0 },
    ),
    series: sum(
      all.map((group) => group.series),
      { normal: 0, pending: 0, firing: 0 },
    ),
    outages,
    incomplete: live.incomplete,
  };
}

async function readNames(db: Kysely<Tables>, organizationId: string) {
  const entities = await db
    .selectFrom('entities')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .orderBy('name')
    .orderBy('id')
    .execute();
  const rules: RuleFacts[] = [];
  for (let after = ''; ; ) {
    const page = await rulePage(db, organizationId, after);
    rules.push(...page);
    if (page.length < PAGE) break;
    after = page.at(-1)!.id;
    await breathe();
  }
  return { entities, rules };
}

function rulePage(db: Kysely<Tables>, organizationId: string, after: string): Promise<RuleFacts[]> {
  return db
    .selectFrom('alert_rules')
    .select(['id', 'entity_id', 'is_disabled', 'error_since'])
    .where('organization_id', '=', organizationId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(PAGE)
    .execute();
}

function openEpisodes(db: Kysely<Tables>, organizationId: string) {
  return db
    .selectFrom('alert_episodes')
    .select('rule_id')
    .select((row) => [row.fn.countAll<number>().as('firing'), row.fn.min('fired_minute').as('since')])
    .where('organization_id', '=', organizationId)
    .where('resolved_minute', 'is', null)
    .groupBy('rule_id')
    .execute();
}

async function openOutages(db: Kysely<Tables>, organizationId: string): Promise<AlertSummary['outages']> {
  const rows = await db
    .selectFrom('data_source_outages')
    .select(['data_source_id', 'data_source_name', 'first_minute', 'error'])
    .where('organization_id', '=', organizationId)
    .where('ended_minute', 'is', null)
    .orderBy('first_minute')
    .execute();
  return rows.map(({ first_minute, ...row }) => ({ ...row, since: first_minute * 60 }));
}

function emptyGroup(id: string, name: string): Group {
  return {
    alert_group_id: id,
    alert_group_name: name,
    state: 'normal',
    rules: { normal: 0, pending: 0, firing: 0, disabled: 0, err: 0 },
    series: { normal: 0, pending: 0, firing: 0 },
    firing_since: null,
  };
}

function count(
  group: Group,
  rule: RuleFacts,
  live: LiveRule | undefined,
  open: { readonly firing: number; readonly since: number } | undefined,
): void {
  if (rule.is_disabled === 1) {
    group.rules.disabled += 1;
    return;
  }
  if (healthOf(rule, live).health === 'err') group.rules.err += 1;
  const firing = Number(open?.firing ?? 0);
  const pending = live?.counts.pending ?? 0;
  const state = firing > 0 ? 'firing' : pending > 0 ? 'pending' : 'normal';
  group.rules[state] += 1;
  group.series.firing += firing;
  group.series.pending += pending;
  group.series.normal += live?.counts.normal ?? 0;
  if (state === 'firing' || (state === 'pending' && group.state === 'normal')) group.state = state;
  if (open) group.firing_since = Math.min(group.firing_since ?? Number.POSITIVE_INFINITY, open.since * 60);
}

function sum<T extends Record<string, number>>(parts: readonly T[], zero: T): T {
  const total: Record<string, number> = { ...zero };
  for (const part of parts)
    for (const [name, number] of Object.entries(part)) total[name] = (total[name] ?? 0) + number;
  return total as T;
}
