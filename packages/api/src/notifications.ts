/** Notifications on the wire: what was said to which channel, and how its delivery went. */
import { z } from 'zod';
import { WIRE_CHANNEL_TYPES } from './notification-settings.ts';

/** `repeat`: it still fires. `test`: somebody asked for a message to see whether it arrives. */
export const NOTIFICATION_EVENTS = ['trigger', 'repeat', 'resolve', 'test'] as const;
export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/**
 * `pending`: to be sent, perhaps again. `dead`: given up, `last_error` says why. `suppressed`: the end of what the channel
 * was told, which it does not hear of.
 */
export const NOTIFICATION_STATUSES = ['pending', 'delivered', 'dead', 'suppressed'] as const;

const labels = z.record(z.string(), z.string());

export const notificationSeries = z.object({
  labels,
  /** For people: with the indicator's unit. */
  value: z.string(),
  /** Unix seconds when it fired. */
  since: z.int(),
  /** A pattern in a sentence; empty for a static rule. */
  explanation: z.string(),
});

/** What a message says, before it takes the form of its receiver. */
export const notificationMessage = z.object({
  kind: z.enum(['alert', 'outage', 'test']),
  event: z.enum(NOTIFICATION_EVENTS),
  title: z.string(),
  severity: z.enum(['breach', 'threat']),
  organization: z.string(),
  entity: z.object({
    id: z.string(),
    name: z.string(),
    type: z.string(),
    team: z.string(),
    tags: z.array(z.string()),
    links: z.array(z.object({ name: z.string(), url: z.string() })),
  }),
  rule: z.object({
    id: z.string(),
    name: z.string(),
    /** `Static Threshold`, `High Spike` and so on. */
    type: z.string(),
    /** `> 100` */
    condition: z.string(),
    bad_minutes: z.int(),
    total_minutes: z.int(),
  }),
  indicator: z.object({ name: z.string(), query: z.string(), unit: z.string() }),
  data_source: z.string(),
  /** Rendered, or the template as it is when it fails; `notes` then says why. */
  description: z.string(),
  runbook: z.string(),
  annotations: labels,
  notes: z.array(z.string()),
  /** Of the series; of a group what its series agree on. */
  labels,
  /** The worst value, for people. */
  value: z.string(),
  /** The first of `series_count`. */
  series: z.array(notificationSeries),
  series_count: z.int(),
  /** Unix seconds. */
  started_at: z.int(),
  /** Unix seconds; null while it fires. */
  ended_at: z.int().nullable(),
  /** Why it ended; empty while it fires. */
  reason: z.string(),
  /** The page of the rule in the dashboard. */
  link: z.string(),
  mention: z.array(z.string()),
});
export type NotificationMessage = z.infer<typeof notificationMessage>;

export const notification = z.object({
  id: z.int(),
  organization_id: z.string(),
  /** Empty for the outage of a data source. */
  entity_id: z.string(),
  /** The rule, or the data source of an outage. */
  rule_id: z.string(),
  /** The episode, the group of episodes, or the outage that it tells of: the receiver knows it by this key. */
  dedup_key: z.string(),
  event: z.enum(NOTIFICATION_EVENTS),
  /** Counts the repeats from 1; 0 for other events. */
  sequence: z.int(),
  channel_id: z.int(),
  channel_name: z.string(),
  channel_type: z.enum(WIRE_CHANNEL_TYPES),
  status: z.enum(NOTIFICATION_STATUSES),
  attempts: z.int(),
  /** Unix seconds. */
  created_at: z.number(),
  /** Unix seconds when it is tried next; null when it is not. */
  next_attempt_at: z.number().nullable(),
  /** Unix seconds when it was delivered or given up; null before. */
  finished_at: z.number().nullable(),
  /** Why the last attempt failed, in a sentence; empty when it did not. */
  last_error: z.string(),
  message: notificationMessage,
});
export type Notification = z.infer<typeof notification>;

/** `GET /notifications`: newest first; `before` pages backwards by id. */
export const notificationQuery = z.object({
  status: z.enum(NOTIFICATION_STATUSES).optional(),
  /** Id of a channel. */
  channel: z.coerce.number().int().positive().optional(),
  /** Id of a rule, or of a data source for its outages. */
  rule: z.string().min(1).max(256).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  before: z.coerce.number().int().positive().optional(),
});
export type NotificationQuery = z.input<typeof notificationQuery>;
export const notificationList = z.object({ notifications: z.array(notification) });

/** `POST /notification_settings/{id}/test`: whether the test message arrived, and if not why. */
export const channelTestResult = z.object({ delivered: z.boolean(), reason: z.string() });
export type ChannelTestResult = z.infer<typeof channelTestResult>;
