/** Ends: told to whom the beginning was told, from what was said then, so that the rule may be gone. */
import type { NotificationMessage } from '@obsiac/api';
import type { EndReason, Episode } from '@obsiac/model';
import type { Kysely } from 'kysely';
import { batchesOf } from '../metadata/batches.ts';
import type { Tables } from '../metadata/tables.ts';
import type { NotifyContext, OrganizationName } from './context.ts';
import { isUntil } from './mute.ts';
import { channelsOf, type Draft, type KnownChannel, type OpenTrigger, readMessages } from './rows.ts';
import { belongs } from './units.ts';

export interface Resolve {
  readonly trigger: OpenTrigger;
  readonly draft: Draft;
}

const REASONS: Readonly<Record<EndReason, string>> = {
  recovered: 'It recovered.',
  no_data: 'There is no data any more.',
  rule_changed: 'The rule was changed.',
  rule_disabled: 'The rule was disabled.',
  rule_deleted: 'The rule was deleted.',
};

/** The resolves of triggers whose units are over; those of snoozed channels come later, while there is a rule. */
export async function resolvesOf(
  tx: Kysely<Tables>,
  context: NotifyContext,
  over: readonly OpenTrigger[],
  nowMs: number,
): Promise<Resolve[]> {
  if (over.length === 0) return [];
  const snoozed = snoozedBindings(context, nowMs);
  // Nobody asks again for a rule that is gone: its messages wait in the outbox until their channels wake.
  const waits = context.definition === undefined;
  const heard = (await withChannels(tx, context.organization, over)).filter(
    ({ channel }) =>
      waits || channel === undefined || !(snoozed.has(channel.id) || isUntil(channel.snooze_until, nowMs)),
  );
  const messages = await readMessages(
    tx,
    heard.map(({ trigger }) => trigger.id),
  );
  const ends = await endsOf(tx, context, over);
  return heard.map(({ trigger, channel }) => {
    const said = messages.get(trigger.id)!;
    const end = ends(trigger);
    const message: NotificationMessage = {
      ...said,
      event: 'resolve',
      ended_at: end.minute * 60,
      reason: REASONS[end.reason],
    };
    return { trigger, draft: resolveDraft(context.organization.id, context.ruleId, trigger, channel, message) };
  });
}

/** Attachments of this rule that are snoozed, while there is a rule. */
function snoozedBindings({ definition }: NotifyContext, nowMs: number): ReadonlySet<number> {
  const snoozed = definition?.bindings.filter(({ snoozeUntil }) => isUntil(snoozeUntil, nowMs)) ?? [];
  return new Set(snoozed.map(({ channelId }) => channelId));
}

export interface Hearing {
  readonly trigger: OpenTrigger;
  /** Undefined: it was deleted. */
  readonly channel: KnownChannel | undefined;
}

/** Triggers with the channels that heard them. */
export async function withChannels(
  tx: Kysely<Tables>,
  organization: OrganizationName,
  triggers: readonly OpenTrigger[],
): Promise<Hearing[]> {
  const channels = new Map((await channelsOf(tx, organization.id)).map((channel) => [channel.id, channel]));
  return triggers.map((trigger) => ({ trigger, channel: channels.get(trigger.channel_id) }));
}

export function resolveDraft(
  organizationId: string,
  ruleId: string,
  trigger: OpenTrigger,
  channel: KnownChannel | undefined,
  message: NotificationMessage,
): Draft {
  return {
    organizationId,
    entityId: trigger.entity_id,
    ruleId,
    unitId: trigger.unit_id,
    grouped: trigger.grouped === 1,
    event: 'resolve',
    sequence: 0,
    channel: { id: trigger.channel_id, name: channel?.name ?? '', type: channel?.type ?? 'generic_webhook' },
    message,
    closed: true,
    suppressed: whySilent(channel),
    notBefore: (channel?.snooze_until ?? 0) * 1000,
  };
}

function whySilent(channel: KnownChannel | undefined): string | undefined {
  if (channel === undefined) return 'The channel was deleted.';
  return channel.send_resolved === 1 ? undefined : 'The channel is set not to be told of ends (send_resolved).';
}

interface End {
  readonly minute: number;
  readonly reason: EndReason;
}

/** When and why each unit ended: from the events of this call, else from the store. */
async function endsOf(
  tx: Kysely<Tables>,
  { events, organization, ruleId }: NotifyContext,
  over: readonly OpenTrigger[],
): Promise<(trigger: OpenTrigger) => End> {
  const now = events.filter(({ kind }) => kind === 'resolved').map(({ episode }) => episode);
  const unknown = over.filter((trigger) => !now.some((episode) => belongs(trigger, episode)));
  const before = await endedEpisodes(tx, organization.id, ruleId, [...new Set(unknown.map(({ unit_id }) => unit_id))]);
  const ended = [...now, ...before];
  return (trigger) => {
    const own = ended.filter((episode) => belongs(trigger, episode) && episode.resolvedMinute !== undefined);
    const last = own.reduce<Ended | undefined>(
      (latest, episode) => (latest && latest.resolvedMinute! >= episode.resolvedMinute! ? latest : episode),
      undefined,
    );
    return { minute: last?.resolvedMinute ?? trigger.minute, reason: last?.reason ?? 'recovered' };
  };
}

type Ended = Pick<Episode, 'id' | 'groupId' | 'resolvedMinute' | 'reason'>;

async function endedEpisodes(
  tx: Kysely<Tables>,
  organizationId: string,
  ruleId: string,
  unitIds: readonly string[],
): Promise<Ended[]> {
  const found: Ended[] = [];
  for (const batch of batchesOf(unitIds)) {
    const rows = await tx
      .selectFrom('alert_episodes')
      .select(['id', 'group_id', 'resolved_minute', 'reason'])
      .where('rule_id', '=', ruleId)
      .where('organization_id', '=', organizationId)
      .where('resolved_minute', 'is not', null)
      .where((row) => row.or([row('id', 'in', batch), row('group_id', 'in', batch)]))
      .execute();
    for (const row of rows) {
      found.push({
        id: row.id,
        groupId: row.group_id,
        resolvedMinute: row.resolved_minute!,
        reason: row.reason as EndReason,
      });
    }
  }
  return found;
}
