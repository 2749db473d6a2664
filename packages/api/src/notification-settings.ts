/** Notification channels on the wire: an organisation's channels, and their attachments to entities. */
import { z } from 'zod';

export const WIRE_CHANNEL_TYPES = ['slack', 'pagerduty', 'opsgenie', 'email', 'generic_webhook'] as const;
export const channelType = z
  .string()
  .transform((type) => type.toLowerCase())
  .pipe(z.enum(WIRE_CHANNEL_TYPES));

export const channelProperty = z.looseObject({ webhook_headers: z.record(z.string(), z.string()).optional() });

/** Body of `POST` and `PUT /notification_settings[/{id}]`. */
export const channelDocument = z.object({
  name: z
    .string()
    .min(1)
    .max(1024)
    .refine((name) => !name.includes(':'), 'must not contain a colon'),
  type: channelType,
  /** Webhook address, routing key or API key: a secret, given back only masked. */
  destination: z.string().min(1).max(8192),
  send_resolved: z.boolean().default(true),
  property: channelProperty.nullish(),
});
export type ChannelDocument = z.input<typeof channelDocument>;

/** One row: a channel of the organisation (`global`), or its attachment to the entity `service_fqid` for `severity`. */
export const channelRow = z.object({
  id: z.int(),
  organization_id: z.string(),
  name: z.string(),
  destination: z.string(),
  namespace: z.string(),
  service: z.string(),
  type: z.enum(WIRE_CHANNEL_TYPES),
  snooze_until: z.int(),
  global: z.boolean(),
  priority: z.int(),
  property: channelProperty,
  in_use: z.boolean(),
  usage: z.record(z.string(), z.int()),
  service_fqid: z.string(),
  severity: z.string(),
  send_resolved: z.boolean(),
  services: z.array(z.object({ name: z.string(), namespace: z.string() })),
  /** On attachments: the organisation's channel this row attaches. */
  parent_id: z.int().nullish(),
  /** On attachments: who is mentioned (Slack). */
  mention: z.array(z.string()).optional(),
  created_at: z.int(),
  updated_at: z.int(),
});
export type ChannelRow = z.infer<typeof channelRow>;

/** `GET /notification_settings`: a bare array; `entity_id` or `exact=true` adds the attachments. */
export const channelList = z.array(channelRow);
export const channelListQuery = z.object({
  entity_id: z.string().optional(),
  exact: z.enum(['true', 'false']).optional(),
});

/** Body of `POST /notification_settings/{id}/attach`. */
export const attachRequest = z.object({
  entity_id: z.string().min(1).max(256),
  severity: z.enum(['breach', 'threat']),
  mention: z.array(z.string().max(256)).max(100).optional(),
});
export type AttachRequest = z.infer<typeof attachRequest>;
