/** Ends episodes that no sample ends: their rule was disabled, or deleted with or without its entity. */
import { type AlertEvent, type EndReason, endEpisodes } from '@obsiac/model';
import { guarded } from '../metadata/store.ts';
import type { AlertEpisodeRow } from '../metadata/tables.ts';
import { enqueueNotifications } from '../notifier/index.ts';
import { type EpisodeFacts, recordEvents, toEpisode } from './episodes.ts';
import type { EvaluatorContext } from './evaluator-context.ts';
import type { OrganizationRules } from './organization-rules.ts';
import { shardOf } from './shards.ts';

/** @param rows open episodes of the organisation @returns how many were ended @throws LeaseLost */
export async function endOrphans(
  context: EvaluatorContext,
  organization: OrganizationRules,
  rows: readonly AlertEpisodeRow[],
  minute: number,
): Promise<number> {
  const living = new Set([...organization.rules, ...organization.unusable].map(({ row }) => row.id));
  const orphans = rows.filter(
    (row) =>
      row.resolved_minute === null && !living.has(row.rule_id) && context.leases.held.has(shardOf(row.entity_id)),
  );
  for (const [ruleId, episodes] of Map.groupBy(orphans, ({ rule_id }) => rule_id)) {
    const reason: EndReason = organization.disabled.has(ruleId) ? 'rule_disabled' : 'rule_deleted';
    await endRule(context, organization, episodes, { reason, minute });
  }
  return orphans.length;
}

async function endRule(
  context: EvaluatorContext,
  { organization }: OrganizationRules,
  rows: readonly AlertEpisodeRow[],
  { reason, minute }: { readonly reason: EndReason; readonly minute: number },
): Promise<void> {
  const { rule_id: ruleId, entity_id: entityId } = rows[0]!;
  const events: AlertEvent[] = endEpisodes(rows.map(toEpisode), minute, reason);
  const facts = new Map(rows.map((row) => [row.id, JSON.parse(row.facts) as EpisodeFacts]));
  const owner = { organizationId: organization.id, entityId, factsOf: ({ id }: { id: string }) => facts.get(id)! };
  await guarded(context.store, () =>
    context.store.db.transaction().execute(async (tx) => {
      await context.leases.require(tx, [shardOf(entityId)]);
      await recordEvents(tx, owner, events);
      const what = { organization, ruleId, entityId, definition: undefined, open: [], events };
      await enqueueNotifications(tx, { ...what, publicUrl: context.publicUrl }, { minute, nowMs: context.now() });
    }),
  );
}
