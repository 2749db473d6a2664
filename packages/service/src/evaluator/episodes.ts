/** Episodes in the metadata store. */
import type { AlertEvent, EndReason, Episode } from '@obsiac/model';
import type { Kysely, Transaction } from 'kysely';
import type { AlertEpisodeRow, Tables } from '../metadata/tables.ts';

/** What an episode row keeps for the time when its rule is gone. */
export interface EpisodeFacts {
  readonly rule_name: string;
  readonly entity_name: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The value, where it is one that no column of numbers takes. */
  readonly infinite?: 1 | -1;
  /** Of a pattern: what it saw when it fired. */
  readonly explanation?: unknown;
}

export interface EpisodeOwner {
  readonly organizationId: string;
  readonly entityId: string;
  factsOf(episode: Episode): EpisodeFacts;
}

/** @returns how many rows are new or changed; an event that is already recorded changes none */
export async function recordEvents(
  tx: Transaction<Tables>,
  owner: EpisodeOwner,
  events: readonly AlertEvent[],
): Promise<number> {
  let changed = 0;
  for (const { kind, episode, late } of events) {
    if (kind === 'fired') {
      const result = await tx
        .insertInto('alert_episodes')
        .values(rowOf(owner, episode, late))
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      changed += Number(result.numInsertedOrUpdatedRows ?? 0n);
      continue;
    }
    const result = await tx
      .updateTable('alert_episodes')
      .set({ resolved_minute: episode.resolvedMinute ?? null, reason: episode.reason ?? '' })
      .where('id', '=', episode.id)
      .where('resolved_minute', 'is', null)
      .executeTakeFirst();
    changed += Number(result.numUpdatedRows);
  }
  return changed;
}

function rowOf(owner: EpisodeOwner, episode: Episode, late: boolean): AlertEpisodeRow {
  return {
    id: episode.id,
    organization_id: owner.organizationId,
    entity_id: owner.entityId,
    rule_id: episode.ruleId,
    group_id: episode.groupId,
    series_key: episode.seriesKey,
    definition: episode.definition,
    first_bad_minute: episode.firstBadMinute,
    fired_minute: episode.firedMinute,
    resolved_minute: null,
    reason: '',
    value: Number.isFinite(episode.value) ? episode.value : null,
    late: late ? 1 : 0,
    facts: JSON.stringify({ ...owner.factsOf(episode), ...infiniteOf(episode.value) }),
  };
}

function infiniteOf(value: number): Pick<EpisodeFacts, 'infinite'> {
  return Math.abs(value) === Number.POSITIVE_INFINITY ? { infinite: value > 0 ? 1 : -1 } : {};
}

export function toEpisode(row: AlertEpisodeRow): Episode {
  const { labels, infinite } = JSON.parse(row.facts) as EpisodeFacts;
  return {
    id: row.id,
    groupId: row.group_id,
    ruleId: row.rule_id,
    seriesKey: row.series_key,
    labels,
    definition: row.definition,
    firstBadMinute: row.first_bad_minute,
    firedMinute: row.fired_minute,
    value: row.value ?? (infinite === undefined ? Number.NaN : infinite * Number.POSITIVE_INFINITY),
    resolvedMinute: row.resolved_minute ?? undefined,
    reason: row.reason === '' ? undefined : (row.reason as EndReason),
  };
}

/** Episodes of an organisation that are open, or ended after a minute. */
export async function episodesSince(
  db: Kysely<Tables>,
  organizationId: string,
  minute: number,
): Promise<AlertEpisodeRow[]> {
  return db
    .selectFrom('alert_episodes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where((row) => row.or([row('resolved_minute', 'is', null), row('resolved_minute', '>=', minute)]))
    .orderBy('fired_minute')
    .execute();
}
