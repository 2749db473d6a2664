import { createClient, notification, notificationList } from '@obsiac/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { RECEIVER_KINDS, type ReceiverKind, type Receivers, startReceivers } from '../../../test/receivers.ts';
import { BACKENDS, cannotRun, type Service, startService, stopDatabases } from '../../../test/service.ts';
import { closeStore } from '../../metadata/store.ts';

afterAll(stopDatabases);

describe.each(BACKENDS.map((backend) => ({ backend })))('notifications on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;
    let receivers: Receivers;
    let count = 0;

    beforeAll(async () => {
      receivers = await startReceivers();
      const addresses = { pagerduty_url: receivers.origin, opsgenie_url: receivers.origin };
      service = await startService({ backend, settings: { ...addresses, public_url: 'https://obsiac.example.com' } });
    });
    afterAll(async () => {
      await service.stop();
      await receivers.stop();
    });
    beforeEach(() => receivers.clear());

    const addChannel = async (kind: ReceiverKind | 'email', destination = ''): Promise<number> => {
      count += 1;
      const made = await service.call('write', 'POST', '/notification_settings', {
        name: `channel ${count}`,
        type: kind,
        destination: destination || (kind === 'email' ? 'a@example.com' : receivers.destination(kind)),
      });
      expect(made.status).toBe(200);
      return made.body.id;
    };
    const test = (id: number | string) => service.call('write', 'POST', `/notification_settings/${id}/test`);
    const list = async (query = '') => {
      const answer = await service.call('read', 'GET', `/notifications${query}`);
      expect(answer.status).toBe(200);
      return notificationList.parse(answer.body).notifications;
    };

    it.each(RECEIVER_KINDS)('tests a %s channel', async (kind) => {
      const id = await addChannel(kind);
      const answer = await test(id);
      expect([answer.status, answer.body]).toEqual([200, { delivered: true, reason: '' }]);
      expect(receivers.requests).toHaveLength(1);
      const [received] = receivers.accepted(kind);
      expect(received!.problems).toEqual([]);
      expect(JSON.stringify(received!.body)).toContain('asked for this message to see whether it arrives');
      expect(JSON.stringify(received!.body)).toContain('https://obsiac.example.com/organizations/default/');
      const [row] = await list(`?channel=${id}`);
      expect(row).toMatchObject({
        event: 'test',
        status: 'delivered',
        attempts: 1,
        channel_id: id,
        channel_type: kind,
      });
    });

    it('says why a test did not arrive, without the secret', async () => {
      const id = await addChannel('slack');
      receivers.misbehave('slack', { status: 404, body: 'no_service' }, { status: 500 }, 'cut');
      expect((await test(id)).body).toEqual({
        delivered: false,
        reason: 'The receiver refused the message: 404 (no_service).',
      });
      expect((await test(id)).body).toEqual({ delivered: false, reason: 'The receiver failed: 500.' });
      expect((await test(id)).body).toEqual({ delivered: false, reason: 'The connection to the receiver was cut.' });
      const nowhere = await addChannel('slack', 'https://hooks.invalid/services/T1/B1/TopSecret12345');
      const answer = await test(nowhere);
      expect(answer.body).toEqual({ delivered: false, reason: expect.stringContaining('The name of the receiver') });
      expect(answer.text + JSON.stringify(await list()) + service.logs.join('')).not.toContain('TopSecret');
      expect((await test(await addChannel('email'))).body).toEqual({
        delivered: false,
        reason: expect.stringContaining('E-mail is not built'),
      });
      expect((await list('?status=dead')).length).toBeGreaterThanOrEqual(5);
    });

    it('refuses to test what is not there, and whom it does not know', async () => {
      const id = await addChannel('slack');
      expect((await test(999_999)).status).toBe(404);
      expect((await test('x')).status).toBe(400);
      for (const scope of ['read', 'delete'] as const) {
        expect((await service.call(scope, 'POST', `/notification_settings/${id}/test`)).body.code).toBe(
          'scope_too_low',
        );
      }
      const other = await service.addOrganization(`other-${count}`);
      const path = `/api/v4/organizations/other-${count}/notification_settings/${id}/test`;
      expect((await service.fetch('POST', path, { token: other.write })).body.code).toBe('not_found');
      expect((await service.fetch('POST', path)).status).toBe(401);
      expect(receivers.requests).toEqual([]);
    });

    /** A dead and a suppressed message, as rows that an evaluator and a notifier have left. */
    const insert = async (change: Record<string, unknown>): Promise<number> => {
      const store = await service.openStore();
      const [message] = await list();
      const { id: organization_id } = await store.db
        .selectFrom('organizations')
        .select('id')
        .where('slug', '=', 'default')
        .executeTakeFirstOrThrow();
      count += 1;
      const { id } = await store.db
        .insertInto('alert_notifications')
        .values({
          organization_id,
          entity_id: 'e',
          rule_id: 'rule-9',
          unit_id: `unit-${count}`,
          event: 'trigger',
          sequence: 0,
          channel_id: 1,
          channel_name: 'c',
          channel_type: 'slack',
          dedup_key: `unit-${count}`,
          message: JSON.stringify(message!.message),
          minute: 1,
          grouped: 0,
          closed: 1,
          status: 'dead',
          attempts: 3,
          created_at: 1_000_500,
          next_attempt_at: 1_000_500,
          retry_until: 1_000_500,
          claimed_by: 'x',
          claimed_until: 5,
          finished_at: 2_000_000,
          last_error: 'The receiver refused the message: 404.',
          ...change,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      await closeStore(store);
      return id;
    };

    it('lists newest first, by status, channel and rule, page by page', async () => {
      await test(await addChannel('slack'));
      const ids = [await insert({}), await insert({ status: 'delivered' }), await insert({ channel_id: 77 })];
      expect((await list('?rule=rule-9')).map(({ id }) => id)).toEqual(ids.toReversed());
      expect((await list('?rule=rule-9&status=dead')).map(({ id }) => id)).toEqual([ids[2], ids[0]]);
      expect((await list('?channel=77')).map(({ id }) => id)).toEqual([ids[2]]);
      expect((await list('?rule=rule-9&limit=1')).map(({ id }) => id)).toEqual([ids[2]]);
      expect((await list(`?rule=rule-9&limit=1&before=${ids[2]}`)).map(({ id }) => id)).toEqual([ids[1]]);
      expect((await list('?rule=rule-9'))[2]).toMatchObject({
        created_at: 1000.5,
        finished_at: 2000,
        next_attempt_at: null,
        last_error: 'The receiver refused the message: 404.',
      });
      const other = await service.addOrganization(`lists-${count}`);
      const path = `/api/v4/organizations/lists-${count}/notifications`;
      expect((await service.fetch('GET', path, { token: other.read })).body).toEqual({ notifications: [] });
      for (const wrong of ['?status=lost', '?channel=x', '?limit=0', '?limit=1001', '?before=-1']) {
        expect((await service.call('read', 'GET', `/notifications${wrong}`)).status).toBe(400);
      }
      expect((await service.call('delete', 'GET', '/notifications')).status).toBe(403);
    });

    it('makes a dead message due again, and refuses to send what is not sent', async () => {
      const channel = await addChannel('generic_webhook');
      await test(channel);
      const id = await insert({ channel_id: channel, channel_type: 'generic_webhook' });
      const revision = (await service.call('read', 'GET', '')).body.revision;
      const answer = await service.call('write', 'POST', `/notifications/${id}/resend`);
      expect(answer.status).toBe(200);
      expect(notification.parse(answer.body)).toMatchObject({
        id,
        status: 'pending',
        attempts: 0,
        last_error: '',
        finished_at: null,
        next_attempt_at: expect.any(Number),
      });
      expect((await service.call('read', 'GET', '')).body.revision).toBe(revision);
      const audit = await service.call('read', 'GET', `/audit_trail?object_id=${id}`);
      expect(audit.body.entries[0]).toMatchObject({ action: 'resend', kind: 'notification', object_id: String(id) });
      const suppressed = await insert({ status: 'suppressed', last_error: 'The channel was deleted.' });
      const refused = await service.call('write', 'POST', `/notifications/${suppressed}/resend`);
      expect([refused.status, refused.body.error]).toEqual([
        400,
        `The notification ${suppressed} is not sent: The channel was deleted.`,
      ]);
      const [tested] = await list(`?channel=${channel}`).then((rows) => rows.filter(({ event }) => event === 'test'));
      expect((await service.call('write', 'POST', `/notifications/${tested!.id}/resend`)).status).toBe(400);
      expect((await service.call('write', 'POST', '/notifications/999999/resend')).status).toBe(404);
      expect((await service.call('read', 'POST', `/notifications/${id}/resend`)).status).toBe(403);
      const other = await service.addOrganization(`resends-${count}`);
      const path = `/api/v4/organizations/resends-${count}/notifications/${id}/resend`;
      expect((await service.fetch('POST', path, { token: other.write })).status).toBe(404);
    });

    it('is what the client speaks, and what OpenAPI describes', async () => {
      const client = createClient({
        fetch,
        credential: (scope) => ({
          refresh_token: service.refreshTokens[scope],
          api_base_url: `${service.origin}/api/v4`,
          org: 'default',
        }),
      });
      const channel = await addChannel('slack');
      expect(await client.notifications.test(channel)).toEqual({ delivered: true, reason: '' });
      expect((await client.notifications.list({ channel })).map(({ event }) => event)).toEqual(['test']);
      const openapi = (await service.fetch('GET', '/api/v4/openapi.json')).body;
      const base = '/api/v4/organizations/{org}';
      expect(openapi.paths[`${base}/notifications`].get.operationId).toBe('listNotifications');
      expect(openapi.paths[`${base}/notifications/{id}/resend`].post.operationId).toBe('resendNotification');
      expect(openapi.paths[`${base}/notification_settings/{id}/test`].post.operationId).toBe('testNotificationChannel');
      expect(openapi.components.schemas.Notification).toBeDefined();
    });
  });
});
