import { auditList, channelList, channelRow } from '@obsiac/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BACKENDS, cannotRun, entityBody, type Service, startService, stopDatabases } from '../../../test/service.ts';

afterAll(stopDatabases);

const WEBHOOK = 'https://hooks.slack.com/services/T00000000/B00000000/SecretSecretSecret1234';

describe.each(BACKENDS.map((backend) => ({ backend })))('notification channels on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;
    let count = 0;
    let entityId = '';
    let channelId = 0;
    let name = '';

    beforeAll(async () => {
      service = await startService({ backend });
    });
    afterAll(() => service.stop());

    beforeEach(async () => {
      count += 1;
      name = `channel ${count}`;
      const entity = await service.call(
        'write',
        'POST',
        '/entities',
        entityBody({ external_ref: `e-${count}`, namespace: 'prod' }),
      );
      entityId = entity.body.id;
      const channel = await service.call('write', 'POST', '/notification_settings', {
        name,
        type: 'Slack',
        destination: WEBHOOK,
      });
      channelId = channel.body.id;
    });

    const attach = (body: Record<string, unknown> = {}) =>
      service.call('write', 'POST', `/notification_settings/${channelId}/attach`, {
        entity_id: entityId,
        severity: 'breach',
        ...body,
      });
    const rows = async (query = '') =>
      channelList.parse((await service.call('read', 'GET', `/notification_settings${query}`)).body);
    const removeChannel = (id: number, workspace = 'default') =>
      service.fetch('DELETE', `/api/organizations/default/workspace/${workspace}/notification_settings/${id}`, {
        token: service.tokens.delete,
      });

    it('creates one: lower-case type, defaults, a masked destination', async () => {
      const [made] = (await rows()).filter((row) => row.id === channelId);
      expect(made).toEqual({
        id: channelId,
        organization_id: expect.any(String),
        name,
        type: 'slack',
        destination: 'https://hooks.slack.com/********1234',
        namespace: '',
        service: '',
        snooze_until: 0,
        global: true,
        priority: 0,
        property: {},
        in_use: false,
        usage: { entities: 0 },
        service_fqid: '',
        severity: '',
        send_resolved: true,
        services: [],
        parent_id: null,
        mention: [],
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      });
    });

    it.each([
      ['body.name', { name: 'with:colon' }],
      ['body.name', { name: '' }],
      ['body.type', { type: 'carrier-pigeon' }],
      ['body.destination', { destination: '' }],
      ['body.destination', { destination: undefined }],
      ['body.send_resolved', { send_resolved: 'yes' }],
      ['body.property.webhook_headers.a', { property: { webhook_headers: { a: 1 } } }],
    ])('names %s when it is wrong: %j', async (path, change) => {
      const body = { name: 'other', type: 'slack', destination: WEBHOOK, ...change };
      const refused = await service.call('write', 'POST', '/notification_settings', body);
      expect(refused.status).toBe(400);
      expect(refused.body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
    });

    it('are unique by name and type', async () => {
      const again = { name, destination: 'key-key-key-key-key' };
      expect((await service.call('write', 'POST', '/notification_settings', { ...again, type: 'SLACK' })).status).toBe(
        409,
      );
      const other = await service.call('write', 'POST', '/notification_settings', { ...again, type: 'PagerDuty' });
      expect(other.status).toBe(200);
      const put = await service.call('write', 'PUT', `/notification_settings/${other.body.id}`, {
        ...again,
        type: 'slack',
      });
      expect(put.status).toBe(409);
    });

    it('attaches to an entity for a severity, and again without a second row', async () => {
      const attached = await attach({ mention: ['@anna'] });
      expect(attached.status).toBe(200);
      expect(channelRow.parse(attached.body)).toEqual(attached.body);
      expect(attached.body).toMatchObject({
        name,
        type: 'slack',
        destination: 'https://hooks.slack.com/********1234',
        global: false,
        service: 'Checkout',
        namespace: 'prod',
        service_fqid: entityId,
        severity: 'breach',
        parent_id: channelId,
        mention: ['@anna'],
      });
      expect(attached.body.id).not.toBe(channelId);
      const again = await attach({ mention: [] });
      expect(again.body).toMatchObject({ id: attached.body.id, mention: [] });
      const threat = await attach({ severity: 'threat' });
      expect(threat.body.id).not.toBe(attached.body.id);
    });

    it('lists attachments only when asked', async () => {
      const attached = (await attach()).body;
      await attach({ severity: 'threat' });
      expect((await rows()).every((row) => row.global)).toBe(true);
      expect((await rows('?exact=false')).every((row) => row.global)).toBe(true);
      expect((await rows()).find((row) => row.id === channelId)).toMatchObject({
        in_use: true,
        usage: { entities: 1 },
        services: [{ name: 'Checkout', namespace: 'prod' }],
      });
      const ofEntity = (await rows(`?entity_id=${entityId}`)).filter((row) => !row.global);
      expect(ofEntity.map((row) => row.severity)).toEqual(['breach', 'threat']);
      expect(ofEntity[0]).toEqual(attached);
      expect((await rows('?exact=true')).filter((row) => row.service_fqid === entityId)).toEqual(ofEntity);
      expect((await rows('?entity_id=nobody')).filter((row) => !row.global)).toEqual([]);
    });

    it('refuses to attach without severity, in the words that clients know', async () => {
      for (const body of [{ entity_id: entityId }, { entity_id: entityId, severity: '' }]) {
        const refused = await service.call('write', 'POST', `/notification_settings/${channelId}/attach`, body);
        expect(refused.status).toBe(400);
        expect(refused.body).toMatchObject({ error: 'severity required', code: 'severity_required' });
      }
      expect((await attach({ severity: 'warning' })).body.details[0].path).toBe('body.severity');
    });

    it('answers 404 for a channel, an entity or an attachment that is not there', async () => {
      const attached = (await attach()).body;
      expect((await attach({ entity_id: 'nobody' })).status).toBe(404);
      const post = (id: number) =>
        service.call('write', 'POST', `/notification_settings/${id}/attach`, {
          entity_id: entityId,
          severity: 'breach',
        });
      expect((await post(999_999)).status).toBe(404);
      expect((await post(attached.id)).status).toBe(404);
      const body = { name, type: 'slack', destination: WEBHOOK };
      expect((await service.call('write', 'PUT', `/notification_settings/${attached.id}`, body)).status).toBe(404);
      expect((await service.call('delete', 'DELETE', '/notification_settings/999999/attach')).status).toBe(404);
      expect((await service.call('delete', 'DELETE', `/notification_settings/${channelId}/attach`)).status).toBe(404);
      expect((await removeChannel(999_999)).status).toBe(404);
      expect((await service.call('write', 'PUT', '/notification_settings/abc', body)).status).toBe(400);
    });

    it('detaches by channel and entity, every severity at once', async () => {
      await attach();
      await attach({ severity: 'threat' });
      const path = `/notification_settings/${channelId}/attach?entity_id=${entityId}`;
      expect((await service.call('delete', 'DELETE', path)).body).toEqual({ message: 'success' });
      expect((await rows(`?entity_id=${entityId}`)).filter((row) => !row.global)).toEqual([]);
      expect((await service.call('delete', 'DELETE', path)).status).toBe(404);
    });

    it('detaches one attachment by its own id, with the write token too', async () => {
      const attached = (await attach()).body;
      const threat = (await attach({ severity: 'threat' })).body;
      expect((await service.call('write', 'DELETE', `/notification_settings/${attached.id}/attach`)).status).toBe(200);
      const left = (await rows(`?entity_id=${entityId}`)).filter((row) => !row.global);
      expect(left.map((row) => row.id)).toEqual([threat.id]);
      expect((await service.call('read', 'DELETE', `/notification_settings/${threat.id}/attach`)).status).toBe(403);
    });

    it('is deleted at the odd path, once nothing uses it', async () => {
      const attached = (await attach()).body;
      const refused = await removeChannel(channelId);
      expect(refused.status).toBe(409);
      expect(refused.body.error).toContain('Checkout');
      expect((await removeChannel(attached.id)).body).toEqual({ message: 'success' });
      expect((await removeChannel(channelId, 'other')).status).toBe(404);
      expect((await removeChannel(channelId)).body).toEqual({ message: 'success' });
      expect((await rows()).some((row) => row.id === channelId)).toBe(false);
    });

    it('never gives an id twice', async () => {
      await removeChannel(channelId);
      const next = await service.call('write', 'POST', '/notification_settings', {
        name,
        type: 'slack',
        destination: WEBHOOK,
      });
      expect(next.body.id).toBeGreaterThan(channelId);
    });

    it('loses its attachments with the entity', async () => {
      await attach();
      await service.call('delete', 'DELETE', `/entities/${entityId}`);
      expect((await rows()).find((row) => row.id === channelId)).toMatchObject({ in_use: false, services: [] });
      expect((await rows('?exact=true')).filter((row) => row.service_fqid === entityId)).toEqual([]);
    });

    it('keeps secrets that come back masked, and takes new ones', async () => {
      const property = { webhook_headers: { Authorization: 'Bearer 0123456789abcdef', Other: 'x' }, region: 'eu' };
      const body = { name: `hook ${count}`, type: 'generic_webhook', destination: WEBHOOK, property };
      const made = (await service.call('write', 'POST', '/notification_settings', body)).body;
      expect(made.property).toEqual({
        webhook_headers: { Authorization: '********cdef', Other: '********' },
        region: 'eu',
      });
      const put = await service.call('write', 'PUT', `/notification_settings/${made.id}`, {
        ...made,
        send_resolved: false,
      });
      expect(put.body).toMatchObject({ destination: made.destination, property: made.property, send_resolved: false });
      const store = await service.openStore();
      const row = () =>
        store.db.selectFrom('notification_settings').selectAll().where('id', '=', made.id).executeTakeFirstOrThrow();
      try {
        expect(store.vault.open((await row()).destination)).toBe(WEBHOOK);
        expect(JSON.parse(store.vault.open((await row()).property))).toEqual(property);
        await service.call('write', 'PUT', `/notification_settings/${made.id}`, {
          ...body,
          destination: 'https://new.example',
        });
        expect(store.vault.open((await row()).destination)).toBe('https://new.example');
        expect(JSON.stringify(await row())).not.toContain('hooks.slack.com');
      } finally {
        await store.db.destroy();
      }
    });

    it('tells the audit trail, without the secret', async () => {
      const attached = (await attach()).body;
      const entries = async (id: number) =>
        auditList.parse((await service.call('read', 'GET', `/audit_trail?object_id=${id}`)).body).entries;
      expect(await entries(channelId)).toMatchObject([
        { action: 'create', kind: 'notification_setting', actor: 'first-start-write', before: null },
      ]);
      expect(await entries(attached.id)).toMatchObject([{ action: 'attach', object_name: name, after: attached }]);
      const everything = await service.call('read', 'GET', '/audit_trail?limit=1000');
      expect(everything.text).not.toContain('SecretSecret');
    });
  });
});
