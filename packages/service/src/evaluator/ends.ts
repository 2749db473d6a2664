/** Ends that no sample brings: a rule was disabled, or deleted with or without its entity. */
import { type AlertEvent, type EndReason, endEpisodes } from '@obsiac/model';
import type { Transaction } from 'kysely';
import { guarded } from '../metadata/store.ts';
import type { AlertEpisodeRow, Tables } from '../metadata/tables.ts';
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
  const living = livingRules(organization);
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

function livingRules({ rules, unusable }: OrganizationRules): ReadonlySet<string> {
  return new Set([...rules, ...unusable].map(({ row }) => row.id));
}

/** Tells ends that a mute held back when the rule went away: nobody can end the mute any more. @throws LeaseLost */
export async function tellUntold(
  context: EvaluatorContext,
  organization: OrganizationRules,
  minute: number,
): Promise<void> {
  const living = livingRules(organization);
  for (const [ruleId, entityId] of organization.untold) {
    if (living.has(ruleId) || !context.leases.held.has(shardOf(entityId))) continue;
    await enqueueEnds(context, organization, { ruleId, entityId, minute }, async () => []);
  }
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
  await enqueueEnds(context, { organization }, { ruleId, entityId, minute }, async (tx) => {
    await recordEvents(tx, owner, events);
    return events;
  });
}

interface Gone {
  readonly ruleId: string;
  readonly entityId: string;
  readonly minute: number;
}

async function enqueueEnds(
  context: EvaluatorContext,
  { organization }: Pick<OrganizationRules, 'organization'>,
  { ruleId, entityId, minute }: Gone,
  write: (tx: Transaction<Tables>) => Promise<readonly AlertEvent[]>,
): Promise<void> {
  await guarded(context.store, () =>
    context.store.db.transaction().execute(async (tx) => {
      await context.leases.require(tx, [shardOf(entityId)]);
      const events = await write(tx);
      const what = { organization, ruleId, entityId, definition: undefined, open: [], events };
      await enqueueNotifications(tx, { ...what, publicUrl: context.publicUrl }, { minute, nowMs: context.now() });
    }),
  );
}
