/** Reads what an organisation wants evaluated: the part of it that this process holds by its shards. */
import { setImmediate as breathe } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { ResolvedSource } from '../data-source/sources.ts';
import type { AlertRuleRow, EntityRow, KpiRow, Tables } from '../metadata/tables.ts';
import type { ChannelBinding } from '../notifier/index.ts';
import { listBindings } from '../notifier/index.ts';
import { type EvaluatedRule, readRule, type UnusableRule, type WindowOptions } from './evaluated-rule.ts';
import { shardOf } from './shards.ts';
import { untoldRules } from './untold.ts';

export interface OrganizationName {
  readonly id: string;
  readonly slug: string;
}

export interface OrganizationRules {
  readonly organization: OrganizationName;
  readonly revision: number;
  readonly rules: readonly EvaluatedRule[];
  readonly unusable: readonly UnusableRule[];
  /** Rules that are disabled: their episodes end. */
  readonly disabled: ReadonlySet<string>;
  /** Attached channels by entity. */
  readonly bindings: ReadonlyMap<string, readonly ChannelBinding[]>;
  /** Rules with messages whose end has not been told. */
  readonly untold: ReadonlySet<string>;
}

/** Finds the data source of an indicator, or says why there is none. */
export type ResolveSource = (kpi: KpiRow, entity: EntityRow) => ResolvedSource | { readonly problem: string };

export interface LoadRequest {
  readonly organization: OrganizationName;
  readonly revision: number;
  readonly shards: { has(shard: number): boolean };
  readonly window: WindowOptions;
  readonly resolve: ResolveSource;
}

/** Rules read between two breaths of the event loop. */
const BREATH = 100;

export async function loadOrganizationRules(db: Kysely<Tables>, request: LoadRequest): Promise<OrganizationRules> {
  const { organization, revision, shards } = request;
  const entities = await selectAll(db, 'entities', organization.id);
  const mine = new Map(entities.filter(({ id }) => shards.has(shardOf(id))).map((entity) => [entity.id, entity]));
  if (mine.size === 0) return empty(organization, revision);
  const rows = (await selectAll(db, 'alert_rules', organization.id)).filter(({ entity_id }) => mine.has(entity_id));
  const kpis = (await selectAll(db, 'kpis', organization.id)).filter(({ entity_id }) => mine.has(entity_id));
  const bindings = await listBindings(db, organization.id);
  const { rules, unusable } = await readRules(rows, mine, kpis, request);
  const disabled = new Set(rows.filter(({ is_disabled }) => is_disabled === 1).map(({ id }) => id));
  const untold = await untoldRules(db, organization.id);
  return { organization, revision, rules, unusable, disabled, bindings, untold };
}

async function readRules(
  rows: readonly AlertRuleRow[],
  entities: ReadonlyMap<string, EntityRow>,
  kpis: readonly KpiRow[],
  { window, resolve }: LoadRequest,
): Promise<{ rules: EvaluatedRule[]; unusable: UnusableRule[] }> {
  const byEntity = new Map<string, Map<string, KpiRow>>();
  for (const kpi of kpis) {
    const named = byEntity.get(kpi.entity_id) ?? new Map<string, KpiRow>();
    byEntity.set(kpi.entity_id, named.set(kpi.name, kpi));
  }
  const rules: EvaluatedRule[] = [];
  const unusable: UnusableRule[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % BREATH === BREATH - 1) await breathe();
    if (row.is_disabled === 1) continue;
    const entity = entities.get(row.entity_id)!;
    const read = readRule({ row, entity, kpis: byEntity.get(row.entity_id) ?? new Map() }, window, resolve);
    if ('problem' in read) unusable.push(read);
    else rules.push(read);
  }
  return { rules, unusable };
}

function empty(organization: OrganizationName, revision: number): OrganizationRules {
  const none = { rules: [], unusable: [], disabled: new Set<string>(), bindings: new Map(), untold: new Set<string>() };
  return { organization, revision, ...none };
}

function selectAll<T extends 'entities' | 'alert_rules' | 'kpis'>(
  db: Kysely<Tables>,
  table: T,
  organizationId: string,
) {
  return db
    .selectFrom(table as 'entities')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute() as unknown as Promise<(T extends 'entities' ? EntityRow : T extends 'kpis' ? KpiRow : AlertRuleRow)[]>;
}
