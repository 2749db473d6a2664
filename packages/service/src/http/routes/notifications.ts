/** Notifications: what was said to which channel, saying it again, and a test of a channel. */
import { type AuditEntry, channelTestResult, notification, notificationList, notificationQuery } from '@obsiac/api';
import type { FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import { z } from 'zod';
import { type AuditDraft, insertAuditEntries } from '../../metadata/audit.ts';
import { guarded } from '../../metadata/store.ts';
import type { Tables } from '../../metadata/tables.ts';
import { listNotifications, resendNotification } from '../../notifier/history.ts';
import { testChannel } from '../../notifier/test-message.ts';
import type { Settings } from '../../settings/definition.ts';
import { type Api, type Context, READ, reads, WRITE, writes } from '../api.ts';
import { identityOf } from '../authentication.ts';

const tags = ['Notifications'];
const params = z.object({ org: z.string(), id: z.coerce.number().int().positive() });

export function notificationRoutes(app: Api, context: Context, settings: Settings): void {
  listRoute(app, context);
  resendRoute(app, context);
  testRoute(app, context, settings);
}

function listRoute(app: Api, { store }: Context): void {
  app.get(
    '/notifications',
    {
      config: READ,
      schema: {
        tags,
        summary: 'List notifications',
        description:
          'What was said, is to be said, and was given up, newest first; `before` pages backwards by id. `status=dead` are the dead letters.',
        querystring: notificationQuery,
        response: reads(notificationList, 'bad_request'),
      },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      return { notifications: await guarded(store, () => listNotifications(store.db, organizationId, request.query)) };
    },
  );
}

function resendRoute(app: Api, { store }: Context): void {
  app.post(
    '/notifications/:id/resend',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Resend a notification',
        description:
          'One that was given up or delivered is sent again; one that waits for its next attempt waits no longer.',
        params,
        response: writes(notification, 'not_found'),
      },
    },
    async (request) => {
      const { organizationId } = identityOf(request);
      return guarded(store, () =>
        store.queue.run(organizationId, async (tx) => {
          const { before, after } = await resendNotification(tx, organizationId, request.params.id, store.now());
          const object = { object_id: after.id, object_name: after.message.title };
          await recordAudit(tx, request, store.now(), {
            action: 'resend',
            kind: 'notification',
            ...object,
            before,
            after,
          });
          return after;
        }),
      );
    },
  );
}

function testRoute(app: Api, { store }: Context, settings: Settings): void {
  app.post(
    '/notification_settings/:id/test',
    {
      config: WRITE,
      schema: {
        tags,
        summary: 'Test a notification channel',
        description: 'Sends a test message now and answers whether the receiver took it, and if not why.',
        params,
        response: writes(channelTestResult, 'not_found'),
      },
    },
    async (request) => {
      const { organizationId, slug, tokenName } = identityOf(request);
      const result = await guarded(store, () =>
        testChannel(store, {
          organization: { id: organizationId, slug },
          channelId: request.params.id,
          actor: tokenName,
          publicUrl: settings.public_url ?? `${request.protocol}://${request.host}`,
          addresses: settings,
        }),
      );
      const kind = 'notification_setting';
      const draft: AuditDraft = { action: 'test', kind, object_id: request.params.id, object_name: '', after: result };
      await guarded(store, () => store.queue.run(organizationId, (tx) => recordAudit(tx, request, store.now(), draft)));
      return result;
    },
  );
}

/** Neither changes what is configured, so the organisation's revision stays. */
async function recordAudit(
  tx: Transaction<Tables>,
  request: FastifyRequest,
  nowMs: number,
  draft: AuditDraft & { readonly action: AuditEntry['action'] },
): Promise<void> {
  const { organizationId, tokenName, revision } = identityOf(request);
  await insertAuditEntries(tx, { organizationId, actor: tokenName, at: Math.floor(nowMs / 1000), revision }, [draft]);
}
