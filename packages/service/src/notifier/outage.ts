/** Outages of data sources: every channel of the organisation hears of one once, not once for each rule. */
import type { NotificationMessage } from '@obsiac/api';
import type { Transaction } from 'kysely';
import type { Tables } from '../metadata/tables.ts';
import type { NotifyMoment, OutageContext } from './context.ts';
import { isUntil } from './mute.ts';
import { DEFAULT_REPETITION, isDue } from './repeat.ts';
import { resolveDraft, withChannels } from './resolve.ts';
import {
  channelsOf,
  closeTriggers,
  type Draft,
  insertDrafts,
  type KnownChannel,
  lastRepeats,
  type OpenTrigger,
  openTriggers,
  readMessages,
} from './rows.ts';

/**
 * Puts into the outbox what is to be said of an outage: its beginning, every 61 minutes that it lasts, its end. Call it in the
 * transaction that writes the outage, each minute until it is over.
 * @returns how many messages are new
 */
export async function enqueueOutage(
  tx: Transaction<Tables>,
  context: OutageContext,
  moment: NotifyMoment,
): Promise<number> {
  const { organization, outage } = context;
  const told = (await openTriggers(tx, organization.id, outage.data_source_id)).filter(
    ({ unit_id }) => unit_id === outage.id,
  );
  if (outage.ended_minute !== null) return endOutage(tx, context, told, moment);
  const channels = await channelsOf(tx, organization.id);
  const heard = channels.filter(({ snooze_until }) => !isUntil(snooze_until, moment.nowMs));
  const last = new Map((await lastRepeats(tx, [outage.id])).map((repeat) => [repeat.channel_id, repeat]));
  const drafts: Draft[] = [];
  for (const channel of heard) {
    const trigger = told.find(({ channel_id }) => channel_id === channel.id);
    const before = last.get(channel.id);
    if (trigger === undefined) drafts.push(draftOf(context, channel, 'trigger', 0));
    else if (isDue(DEFAULT_REPETITION, before?.minute ?? trigger.minute, moment.minute))
      drafts.push(draftOf(context, channel, 'repeat', (before?.sequence ?? 0) + 1));
  }
  return insertDrafts(tx, drafts, moment);
}

/** A channel that is snoozed hears of the end when it wakes: the outage is over, nobody would ask again. */
async function endOutage(
  tx: Transaction<Tables>,
  { organization, outage }: OutageContext,
  told: readonly OpenTrigger[],
  moment: NotifyMoment,
): Promise<number> {
  const heard = await withChannels(tx, organization, told);
  const ids = heard.map(({ trigger }) => trigger.id);
  const messages = await readMessages(tx, ids);
  const drafts = heard.map(({ trigger, channel }): Draft => {
    const message: NotificationMessage = {
      ...messages.get(trigger.id)!,
      event: 'resolve',
      ended_at: outage.ended_minute! * 60,
      reason: 'The data source answers again.',
    };
    return resolveDraft(organization.id, outage.data_source_id, trigger, channel, message);
  });
  await closeTriggers(tx, ids);
  return insertDrafts(tx, drafts, moment);
}

function draftOf(context: OutageContext, channel: KnownChannel, event: 'trigger' | 'repeat', sequence: number): Draft {
  const { organization, outage } = context;
  return {
    organizationId: organization.id,
    entityId: '',
    ruleId: outage.data_source_id,
    unitId: outage.id,
    grouped: false,
    event,
    sequence,
    channel,
    message: messageOf(context, event),
    closed: event !== 'trigger',
  };
}

function messageOf(
  { organization, outage, publicUrl }: OutageContext,
  event: 'trigger' | 'repeat',
): NotificationMessage {
  return {
    kind: 'outage',
    event,
    title: `Data source ${outage.data_source_name} does not answer`,
    severity: 'breach',
    organization: organization.slug,
    entity: { id: '', name: '', type: '', team: '', tags: [], links: [] },
    rule: { id: '', name: '', type: 'Data Source Outage', condition: '', bad_minutes: 0, total_minutes: 0 },
    indicator: { name: '', query: '', unit: '' },
    data_source: outage.data_source_name,
    description: `Rules over this data source are not evaluated until it answers again. Its last error: ${outage.error}`,
    runbook: '',
    annotations: {},
    notes: [],
    labels: {},
    value: '',
    series: [],
    series_count: 0,
    started_at: outage.first_minute * 60,
    ended_at: null,
    reason: '',
    link: `${publicUrl}/organizations/${encodeURIComponent(organization.slug)}/data-sources`,
    mention: [],
  };
}
