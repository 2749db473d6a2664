/** What the metadata store knows of rules and their episodes. */
import { createHash } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { EpisodeFacts } from '../evaluator/episodes.ts';
import type { AlertEpisodeRow, AlertRuleRow, Tables } from '../metadata/tables.ts';

export interface StoredRule {
  readonly row: AlertRuleRow;
  readonly entityName: string;
  readonly entityRef: string;
  /** Labels of the alert manager. */
  readonly entityLabels: Readonly<Record<string, string>>;
  /** Minutes since 1970; undefined: never. */
  readonly lastFired: number | undefined;
}

/** An episode with its facts read. */
export interface StoredEpisode {
  readonly row: AlertEpisodeRow;
  readonly facts: EpisodeFacts;
}

export interface RuleSelection {
  readonly organizationId: string;
  readonly entityId?: string | undefined;
  readonly ruleId?: string | undefined;
  /** Last firings up to and including this minute. */
  readonly untilMinute: number;
}

/** Rules read between two breaths of the event loop. */
const PAGE = 500;

/** In the order of their ids. */
export async function readRules(db: Kysely<Tables>, selection: RuleSelection): Promise<StoredRule[]> {
  const entities = await readEntities(db, selection);
  const rules: StoredRule[] = [];
  for (let after = ''; ; ) {
    const rows = await rulePage(db, selection, after);
    for (const { last_fired, ...row } of rows) {
      const entity = entities.get(row.entity_id);
      // Made or deleted between the two reads.
      if (entity) rules.push({ row, ...entity, lastFired: last_fired ?? undefined });
    }
    if (rows.length < PAGE) return rules;
    after = rows.at(-1)!.id;
    await breathe();
  }
}

type EntityFacts = Pick<StoredRule, 'entityName' | 'entityRef' | 'entityLabels'>;

async function readEntities(db: Kysely<Tables>, selection: RuleSelection): Promise<Map<string, EntityFacts>> {
  let select = db
    .selectFrom('entities')
    .select(['id', 'name', 'external_ref', 'metadata'])
    .where('organization_id', '=', selection.organizationId);
  if (selection.entityId !== undefined) select = select.where('id', '=', selection.entityId);
  const rows = await select.execute();
  return new Map(
    rows.map((row) => {
      const { labels } = JSON.parse(row.metadata) as { labels?: Record<string, string> | null };
      return [row.id, { entityName: row.name, entityRef: row.external_ref, entityLabels: labels ?? {} }];
    }),
  );
}

function rulePage(db: Kysely<Tables>, selection: RuleSelection, after: string) {
  const { organizationId, entityId, ruleId, untilMinute } = selection;
  let select = db
    .selectFrom('alert_rules')
    .selectAll()
    .select((rule) =>
      rule
        .selectFrom('alert_episodes')
        .select((episode) => episode.fn.max('fired_minute').as('fired'))
        .whereRef('alert_episodes.rule_id', '=', 'alert_rules.id')
        .where('alert_episodes.fired_minute', '<=', untilMinute)
        .as('last_fired'),
    )
    .where('organization_id', '=', organizationId);
  if (entityId !== undefined) select = select.where('entity_id', '=', entityId);
  if (ruleId !== undefined) select = select.where('id', '=', ruleId);
  return select.where('id', '>', after).orderBy('id').limit(PAGE).execute();
}

export interface EpisodeSelection {
  readonly organizationId: string;
  readonly entityId?: string | undefined;
  readonly ruleId?: string | undefined;
  /** Those that had fired at this minute … */
  readonly untilMinute: number;
  /** … and were open after this one. */
  readonly openAfter: number;
}

/** By the minute in which they fired. */
export async function readEpisodes(db: Kysely<Tables>, selection: EpisodeSelection): Promise<StoredEpisode[]> {
  const { organizationId, entityId, ruleId, untilMinute, openAfter } = selection;
  let select = db
    .selectFrom('alert_episodes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('fired_minute', '<=', untilMinute)
    .where((row) => row.or([row('resolved_minute', 'is', null), row('resolved_minute', '>', openAfter)]));
  if (entityId !== undefined) select = select.where('entity_id', '=', entityId);
  if (ruleId !== undefined) select = select.where('rule_id', '=', ruleId);
  const rows = await select.orderBy('fired_minute').orderBy('id').execute();
  return rows.map(withFacts);
}

export function withFacts(row: AlertEpisodeRow): StoredEpisode {
  return { row, facts: JSON.parse(row.facts) as EpisodeFacts };
}

/** A short name of a label set: 16 hexadecimal digits, made of the series' key. */
export function labelHash(seriesKey: string): string {
  return createHash('sha256').update(seriesKey).digest('hex').slice(0, 16);
}
