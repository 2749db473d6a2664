/** Writes what a unit found: episodes and messages in one transaction, under the lease of its shards. */
import type { AlertEvent, Episode } from '@obsiac/model';
import type { Transaction } from 'kysely';
import { guarded } from '../metadata/store.ts';
import type { Tables } from '../metadata/tables.ts';
import { enqueueNotifications, type OpenEpisode } from '../notifier/index.ts';
import { type EpisodeFacts, recordEvents } from './episodes.ts';
import type { EvaluatedRule } from './evaluated-rule.ts';
import type { EvaluatorContext } from './evaluator-context.ts';
import type { OrganizationRules } from './organization-rules.ts';
import { untoldRules } from './untold.ts';

/** What one rule found at one minute. */
export interface RuleMinute {
  readonly rule: EvaluatedRule;
  readonly minute: number;
  readonly events: readonly AlertEvent[];
  readonly open: readonly OpenEpisode[];
}

export interface RuleMinutes {
  readonly rule: EvaluatedRule;
  readonly minutes: readonly RuleMinute[];
  /** Ends of episodes that a mute held back. */
  readonly hasUntoldEnds: boolean;
  /** It could not be evaluated before. */
  readonly recovered: boolean;
}

/** @returns ids of the rules that still have ends to tell @throws LeaseLost */
export async function commitMinutes(
  context: EvaluatorContext,
  organization: OrganizationRules,
  rules: readonly RuleMinutes[],
  minute: number,
): Promise<ReadonlySet<string>> {
  const busy = rules.filter(
    (rule) =>
      rule.hasUntoldEnds || rule.recovered || rule.minutes.some(({ events, open }) => events.length + open.length > 0),
  );
  const untold = new Set<string>();
  if (busy.length === 0) return untold;
  await guarded(context.store, () =>
    context.store.db.transaction().execute(async (tx) => {
      await context.leases.require(
        tx,
        busy.map(({ rule }) => rule.shard),
      );
      for (const each of busy) {
        if (await commitRule(context, tx, organization, each, minute)) untold.add(each.rule.row.id);
      }
    }),
  );
  return untold;
}

async function commitRule(
  context: EvaluatorContext,
  tx: Transaction<Tables>,
  organization: OrganizationRules,
  { rule, minutes, recovered, hasUntoldEnds: hadUntold }: RuleMinutes,
  last: number,
): Promise<boolean> {
  const { row, entity } = rule;
  if (recovered) await tx.updateTable('alert_rules').set({ error_since: null }).where('id', '=', row.id).execute();
  const definition = {
    rule: row,
    entity,
    indicator: rule.kpi,
    query: rule.query,
    dataSource: rule.source.name,
    bindings: organization.bindings.get(entity.id) ?? [],
  };
  let ended = hadUntold;
  for (const { minute, events, open } of minutes) {
    const isBusy = events.length + open.length > 0 || (hadUntold && minute === last);
    if (!isBusy) continue;
    const explanations = new Map(open.map(({ episode, explanation }) => [episode.id, explanation]));
    const owner = {
      organizationId: organization.organization.id,
      entityId: entity.id,
      factsOf: (episode: Episode) => factsOf(rule, episode, explanations.get(episode.id)),
    };
    await recordEvents(tx, owner, events);
    const names = { organization: organization.organization, ruleId: row.id, entityId: entity.id };
    const moment = { minute, nowMs: context.now() };
    await enqueueNotifications(tx, { ...names, definition, open, events, publicUrl: context.publicUrl }, moment);
    ended ||= events.some(({ kind }) => kind === 'resolved');
  }
  if (!ended) return false;
  return (await untoldRules(tx, organization.organization.id, [row.id])).has(row.id);
}

function factsOf(rule: EvaluatedRule, episode: Episode, explanation: string | undefined): EpisodeFacts {
  return {
    rule_name: rule.row.rule_name,
    entity_name: rule.entity.name,
    severity: rule.row.severity,
    labels: episode.labels,
    ...(explanation ? { explanation } : {}),
  };
}
