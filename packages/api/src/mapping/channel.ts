/** Notification channels between the model and the wire: rows of the organisation, and rows that attach one to an entity. */
import { type ActualChannel, CHANNEL_TYPES, type ChannelBinding, type ChannelType, type Severity } from '@obsiac/model';
import type { ReadChannelRow } from '../client/answers.ts';
import type { AttachRequest } from '../notification-settings.ts';

/** Body of `POST /notification_settings/{id}/attach`. */
export function bindingToWire(binding: ChannelBinding, entityId: string): AttachRequest {
  return { entity_id: entityId, severity: binding.severity, mention: [...binding.mention] };
}

/** Whether the row attaches a channel to an entity; the others are the organisation's channels themselves. */
export function isAttachment(row: ReadChannelRow): boolean {
  return (row.service_fqid ?? '') !== '' && row.global !== true;
}

function modelType(type: string): ChannelType | null {
  const lower = type.toLowerCase();
  return CHANNEL_TYPES.find((known) => known === lower) ?? null;
}

/** `channelName` is that of the organisation's channel; types that a model cannot name are null. */
export function bindingFromWire(row: ReadChannelRow, channelName: string): ChannelBinding {
  return {
    name: channelName,
    type: modelType(row.type),
    severity: (row.severity ?? '') as Severity,
    mention: row.mention ?? [],
  };
}

export function channelFromWire(row: ReadChannelRow): ActualChannel {
  return { id: row.id, name: row.name, type: row.type.toLowerCase() };
}
