/** The client's side of notifications. */
import type { z } from 'zod';
import {
  type ChannelTestResult,
  channelTestResult,
  type Notification,
  type NotificationQuery,
  notification,
  notificationList,
} from '../notifications.ts';
import { read } from './answers.ts';
import type { Sender } from './send.ts';

interface NotificationsAsk {
  readonly signal?: AbortSignal | undefined;
}

/** Lists with the read token, sends with the write token. */
export interface NotificationsClient {
  list(query?: NotificationQuery, ask?: NotificationsAsk): Promise<Notification[]>;
  resend(id: number, ask?: NotificationsAsk): Promise<Notification>;
  /** Sends a test message through the channel; asked for once, whatever becomes of the answer. */
  test(channelId: number, ask?: NotificationsAsk): Promise<ChannelTestResult>;
}

export function createNotificationsClient(sender: Sender): NotificationsClient {
  const post = async <Schema extends z.ZodType>(
    path: string,
    answer: Schema,
    { signal }: NotificationsAsk,
  ): Promise<z.output<Schema>> => {
    const call = { method: 'POST', path, scope: 'write', once: true, signal } as const;
    return (await sender.send({ ...call, read: (json) => read(answer, json) })).value;
  };
  return {
    list: async (query = {}, { signal } = {}) => {
      const given = Object.entries(query).filter(([, value]) => value !== undefined);
      const text = new URLSearchParams(
        given.map(([name, value]): [string, string] => [name, String(value)]),
      ).toString();
      const path = `/notifications${text === '' ? '' : `?${text}`}`;
      const sent = await sender.send({
        method: 'GET',
        path,
        scope: 'read',
        signal,
        read: (json) => read(notificationList, json),
      });
      return sent.value.notifications;
    },
    resend: (id, ask = {}) => post(`/notifications/${id}/resend`, notification, ask),
    test: (channelId, ask = {}) => post(`/notification_settings/${channelId}/test`, channelTestResult, ask),
  };
}
