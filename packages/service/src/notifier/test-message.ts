/** A message on demand, to see whether a channel works: sent at once, by the same code as any other. */
import { randomUUID } from 'node:crypto';
import type { ChannelTestResult, NotificationMessage } from '@obsiac/api';
import type { Store } from '../metadata/store.ts';
import { notFound } from '../refusal.ts';
import type { OrganizationName } from './context.ts';
import { readChannel, type SendableChannel } from './deliver/channel.ts';
import { send } from './deliver/send.ts';
import { ATTEMPT_TIMEOUT, createAgent } from './notifier.ts';
import type { ReceiverAddresses } from './receivers/receiver.ts';

export interface ChannelTest {
  readonly organization: OrganizationName;
  readonly channelId: number;
  /** Who asked: the name of a token. */
  readonly actor: string;
  readonly publicUrl: string;
  readonly addresses: ReceiverAddresses;
}

/** Sends a test message and records it in the outbox. @throws Refusal `not_found` */
export async function testChannel(store: Store, test: ChannelTest): Promise<ChannelTestResult> {
  const { organization, channelId } = test;
  const channel = await readChannel(store.db, store.vault, organization.id, channelId);
  if (channel === undefined) throw notFound('notification channel', channelId);
  const dedupKey = `test-${randomUUID()}`;
  const message = testMessage(test, channel, store.now());
  const { destination, webhookHeaders } = channel;
  const dispatcher = createAgent();
  try {
    const delivery = { message, dedupKey, destination, webhookHeaders };
    const options = { addresses: test.addresses, dispatcher, timeout: ATTEMPT_TIMEOUT, nowMs: store.now() };
    const result = await send(channel.type, delivery, options);
    const reason = result.kind === 'delivered' ? '' : result.reason;
    await record(store, organization.id, channel, { dedupKey, message, reason });
    return { delivered: result.kind === 'delivered', reason };
  } finally {
    await dispatcher.destroy();
  }
}

interface Outcome {
  readonly dedupKey: string;
  readonly message: NotificationMessage;
  /** Empty when it was delivered. */
  readonly reason: string;
}

async function record(
  store: Store,
  organizationId: string,
  channel: SendableChannel,
  { dedupKey, message, reason }: Outcome,
): Promise<void> {
  const now = store.now();
  await store.db
    .insertInto('alert_notifications')
    .values({
      organization_id: organizationId,
      entity_id: '',
      rule_id: '',
      unit_id: dedupKey,
      event: 'test',
      sequence: 0,
      channel_id: channel.id,
      channel_name: channel.name,
      channel_type: channel.type,
      dedup_key: dedupKey,
      message: JSON.stringify(message),
      minute: Math.floor(now / 60_000),
      grouped: 0,
      closed: 1,
      status: reason === '' ? 'delivered' : 'dead',
      attempts: 1,
      created_at: now,
      next_attempt_at: now,
      retry_until: now,
      claimed_by: '',
      claimed_until: 0,
      finished_at: now,
      last_error: reason,
    })
    .execute();
}

function testMessage({ organization, actor, publicUrl }: ChannelTest, channel: SendableChannel, nowMs: number) {
  const message: NotificationMessage = {
    kind: 'test',
    event: 'test',
    title: `A test of the channel ${channel.name}`,
    severity: 'threat',
    organization: organization.slug,
    entity: { id: '', name: '', type: '', team: '', tags: [], links: [] },
    rule: { id: '', name: '', type: 'Test', condition: '', bad_minutes: 0, total_minutes: 0 },
    indicator: { name: '', query: '', unit: '' },
    data_source: '',
    description: `${actor} asked for this message to see whether it arrives. Nothing is wrong; it can be closed.`,
    runbook: '',
    annotations: {},
    notes: [],
    labels: {},
    value: '',
    series: [],
    series_count: 0,
    started_at: Math.floor(nowMs / 1000),
    ended_at: null,
    reason: '',
    link: `${publicUrl}/organizations/${encodeURIComponent(organization.slug)}/notification-channels`,
    mention: [],
  };
  return message;
}
