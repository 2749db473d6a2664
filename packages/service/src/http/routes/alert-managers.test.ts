import {
  alertRule,
  alertRuleList,
  entity,
  entityAlertRules,
  entityList,
  kpi,
  kpiList,
  metadata,
  type Scope,
} from '@obsiac/api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  BACKENDS,
  cannotRun,
  entityBody,
  kpiBody,
  ruleBody,
  type Service,
  startService,
  stopDatabases,
} from '../../../test/service.ts';

afterAll(stopDatabases);

describe.each(BACKENDS.map((backend) => ({ backend })))('entities, KPIs and rules on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;
    let clock = 0;
    let count = 0;
    let id = '';
    let base = '';

    beforeAll(async () => {
      service = await startService({ backend, now: () => (clock === 0 ? Date.now() : clock) });
    });
    afterAll(() => service.stop());

    /** Every test has an entity of its own, with the indicators Errors and Latency. */
    beforeEach(async () => {
      clock = 0;
      count += 1;
      const made = await service.call('write', 'POST', '/entities', entityBody({ external_ref: `own-${count}` }));
      id = made.body.id;
      base = `/entities/${id}`;
      await service.call('write', 'POST', `${base}/kpis`, kpiBody());
      await service.call('write', 'POST', `${base}/kpis`, kpiBody({ name: 'Latency' }));
    });

    const rules = async () => (await service.call('read', 'GET', `${base}/alert-rules`)).body.rules;
    const kpis = async () => (await service.call('read', 'GET', `${base}/kpis`)).body;

    describe('entities', () => {
      it('creates one, fills every default and gives it back the same', async () => {
        const body = entityBody({ external_ref: `created-${count}`, team: 'ignored', tags: ['ignored'], whatever: 1 });
        const made = await service.call('write', 'POST', '/entities', body);
        expect(made.status).toBe(200);
        expect(entity.parse(made.body)).toEqual(made.body);
        expect(made.body).toMatchObject({
          name: 'Checkout',
          type: 'service',
          external_ref: `created-${count}`,
          entity_class: 'alert-manager',
          description: '',
          data_source: '',
          data_source_id: '',
          namespace: '',
          tier: '',
          workspace: '',
          ui_readonly: false,
          metadata: { entity_id: made.body.id, team: 'default', tags: [], labels: {}, links: [], adhoc_filter: null },
        });
        expect(made.body.id).toMatch(/^[0-9a-f-]{36}$/);
        const read = await service.call('read', 'GET', `/entities/${made.body.id}`);
        expect(read.body).toEqual(made.body);
      });

      it('keeps every field that it takes', async () => {
        const fields = {
          name: 'Zahlung "€" \\ 😀',
          type: 'rds-alerts',
          external_ref: `full ${count}/x`,
          description: 'two\nlines',
          data_source: 'embedded',
          data_source_id: 'some-id',
          namespace: 'prod',
          tier: '1',
          workspace: 'w',
          entity_class: 'grafana-alerts',
          ui_readonly: true,
        };
        const made = await service.call('write', 'POST', '/entities', fields);
        expect(made.body).toMatchObject(fields);
        const listed = await service.call(
          'read',
          'GET',
          `/entities?external_ref=${encodeURIComponent(`full ${count}/x`)}`,
        );
        expect(entityList.parse(listed.body)).toEqual({ entities: [made.body] });
      });

      it('lists by external_ref and class, and an unknown reference as an empty list', async () => {
        const found = await service.call(
          'read',
          'GET',
          `/entities?external_ref=own-${count}&entity_class=alert-manager`,
        );
        expect(found.body.entities.map((each: { id: string }) => each.id)).toEqual([id]);
        expect((await service.call('read', 'GET', '/entities?external_ref=nobody')).body).toEqual({ entities: [] });
        expect((await service.call('read', 'GET', '/entities?entity_class=nothing')).body).toEqual({ entities: [] });
        const all = await service.call('read', 'GET', '/entities');
        const ids = all.body.entities.map((each: { id: string }) => each.id);
        expect(ids).toContain(id);
        expect(ids.toSorted()).toEqual(ids);
      });

      it('replaces one and keeps id, metadata, creation and a reference that is not sent', async () => {
        await service.call('write', 'PUT', `${base}/metadata`, { team: 'payments' });
        const before = (await service.call('read', 'GET', base)).body;
        const put = await service.call('write', 'PUT', base, { name: 'New', type: 'component', data_source_id: 'x' });
        expect(put.status).toBe(200);
        expect(put.body).toMatchObject({
          id,
          name: 'New',
          type: 'component',
          external_ref: `own-${count}`,
          entity_class: '',
        });
        expect(put.body.metadata).toEqual(before.metadata);
        expect(put.body.created_at).toBe(before.created_at);
        const moved = await service.call('write', 'PUT', base, entityBody({ external_ref: `moved-${count}` }));
        expect(moved.body).toMatchObject({ id, external_ref: `moved-${count}` });
      });

      it('refuses a taken external_ref with 409', async () => {
        const again = await service.call('write', 'POST', '/entities', entityBody({ external_ref: `own-${count}` }));
        expect(again.status).toBe(409);
        expect(again.body).toMatchObject({
          code: 'duplicate_external_ref',
          details: [{ path: 'body.external_ref', message: expect.any(String) }],
        });
        const other = await service.call('write', 'POST', '/entities', entityBody({ external_ref: `other-${count}` }));
        const clash = { ...entityBody(), external_ref: `own-${count}` };
        expect((await service.call('write', 'PUT', `/entities/${other.body.id}`, clash)).status).toBe(409);
        expect((await service.call('write', 'PUT', base, clash)).status).toBe(200);
      });

      it('makes KPIs of inline indicators, all or none', async () => {
        const indicators = [
          { name: 'a', query: 'up' },
          { name: 'b', query: 'down', unit: 'ms' },
        ];
        const made = await service.call(
          'write',
          'POST',
          '/entities',
          entityBody({ external_ref: `in-${count}`, indicators }),
        );
        const list = (await service.call('read', 'GET', `/entities/${made.body.id}/kpis`)).body;
        expect(list).toMatchObject([
          { name: 'a', definition: { query: 'up', unit: 'count', source: 'levitate' }, kpi_type: 'custom' },
          { name: 'b', definition: { query: 'down', unit: 'ms' } },
        ]);
        const twice = [...indicators, { name: 'a', query: 'x' }];
        const refused = await service.call(
          'write',
          'POST',
          '/entities',
          entityBody({ external_ref: `no-${count}`, indicators: twice }),
        );
        expect(refused.status).toBe(409);
        expect(refused.body.details[0].path).toBe('body.indicators.2.name');
        expect((await service.call('read', 'GET', `/entities?external_ref=no-${count}`)).body.entities).toEqual([]);
      });

      it('makes thousands of inline indicators', async () => {
        const indicators = Array.from({ length: 3000 }, (_, index) => ({ name: `i${index}`, query: 'up' }));
        const made = await service.call(
          'write',
          'POST',
          '/entities',
          entityBody({ external_ref: `many-${count}`, indicators }),
        );
        expect(made.status).toBe(200);
        const list = (await service.call('read', 'GET', `/entities/${made.body.id}/kpis`)).body;
        expect(list.map((each: { name: string }) => each.name)).toEqual(indicators.map((each) => each.name));
      });

      it('deletes one with all that hangs on it', async () => {
        await service.call('write', 'POST', `${base}/alert-rules`, ruleBody());
        const gone = await service.call('delete', 'DELETE', base);
        expect(gone.status).toBe(200);
        expect(gone.body).toEqual({ message: 'success' });
        expect((await service.call('read', 'GET', base)).status).toBe(404);
        expect((await service.call('delete', 'DELETE', base)).status).toBe(404);
        const left = [
          ...(await service.call('read', 'GET', '/kpis')).body,
          ...(await service.call('read', 'GET', '/alert-rules')).body,
        ];
        expect(left.filter((each: { entity_id: string }) => each.entity_id === id)).toEqual([]);
      });
    });

    describe('ui_readonly', () => {
      it('closes the entity and what belongs to it to the dashboard, and to nobody else', async () => {
        const rule = (await service.call('write', 'POST', `${base}/alert-rules`, ruleBody())).body;
        const [errors, latency] = await kpis();
        const channel = { name: `c ${count}`, type: 'slack', destination: 'https://x' };
        const channelId = (await service.call('write', 'POST', '/notification_settings', channel)).body.id;
        const attach = { entity_id: id, severity: 'breach' };
        const attached = (await service.call('write', 'POST', `/notification_settings/${channelId}/attach`, attach))
          .body;
        await service.call('write', 'PUT', base, entityBody({ ui_readonly: true }));
        const edits: [Scope, string, string, unknown?][] = [
          ['write', 'PUT', `${base}/metadata`, {}],
          ['write', 'POST', `${base}/kpis`, kpiBody({ name: 'New' })],
          ['write', 'PUT', `${base}/kpis/${errors.id}`, kpiBody()],
          ['write', 'POST', `${base}/alert-rules`, ruleBody({ rule_name: 'New' })],
          ['write', 'PUT', `${base}/alert-rules/${rule.id}`, ruleBody()],
          ['write', 'POST', `/notification_settings/${channelId}/attach`, { ...attach, severity: 'threat' }],
          ['write', 'DELETE', `/notification_settings/${attached.id}/attach`],
          ['delete', 'DELETE', `${base}/kpis/${latency.id}`],
          ['delete', 'DELETE', `${base}/alert-rules/${rule.id}`],
          ['write', 'PUT', base, entityBody({ ui_readonly: true })],
          ['delete', 'DELETE', base],
        ];
        for (const [scope, method, path, body] of edits) {
          const refused = await service.call(scope, method, path, body, { 'x-obsiac-client': 'dashboard' });
          expect([refused.status, refused.body.code], `${method} ${path}`).toEqual([403, 'ui_readonly']);
        }
        const dashboard = { 'x-obsiac-client': 'dashboard' };
        const snooze = await service.call('write', 'POST', `${base}/alert-rules/snooze`, { until: 0 }, dashboard);
        expect(snooze.status).toBe(200);
        for (const [scope, method, path, body] of edits) {
          expect((await service.call(scope, method, path, body)).status, `${method} ${path}`).toBe(200);
        }
      });
    });

    describe('metadata', () => {
      it('is replaced as its own document and nested in the entity', async () => {
        const document = {
          team: 'payments',
          tags: ['b', 'a'],
          labels: { zone: 'eu', app: 'x' },
          links: [{ name: 'wiki', url: 'https://wiki' }],
          adhoc_filter: { data_source: 'prod', labels: { cluster: 'a' } },
          renotify_enabled: true,
          renotify_interval_seconds: 600,
          renotify_occurrences: -1,
        };
        const put = await service.call('write', 'PUT', `${base}/metadata`, document);
        expect(put.status).toBe(200);
        expect(metadata.parse(put.body)).toEqual(put.body);
        expect(put.body).toMatchObject({ ...document, entity_id: id });
        expect((await service.call('read', 'GET', base)).body.metadata).toEqual(put.body);
        const reset = await service.call('write', 'PUT', `${base}/metadata`, { tags: null });
        expect(reset.body).toEqual({
          id: put.body.id,
          entity_id: id,
          team: 'default',
          tags: [],
          labels: {},
          links: [],
          adhoc_filter: null,
        });
      });
    });

    describe('renotifying', () => {
      it.each([
        [{ renotify_occurrences: 0 }, 'body.renotify_occurrences'],
        [{ renotify_occurrences: -2 }, 'body.renotify_occurrences'],
        [{ renotify_interval_seconds: 0 }, 'body.renotify_interval_seconds'],
      ])('refuses %j', async (document, path) => {
        const answer = await service.call('write', 'PUT', `${base}/metadata`, document);
        expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
      });
    });

    describe('snooze', () => {
      it('mutes the group until a time, and 0 ends it', async () => {
        expect((await service.call('read', 'GET', `${base}/snooze`)).body).toEqual({ alert_snoozed_until: 0 });
        const set = await service.call('write', 'POST', `${base}/alert-rules/snooze`, { until: 2_000_000_000 });
        expect(set.body).toEqual({ alert_snoozed_until: 2_000_000_000 });
        expect((await service.call('read', 'GET', `${base}/snooze`)).body).toEqual(set.body);
        expect((await service.call('read', 'GET', `${base}/alert-rules`)).body.snoozed_until).toBe(2_000_000_000);
        await service.call('write', 'POST', `${base}/alert-rules/snooze`, { until: 0 });
        expect((await service.call('read', 'GET', `${base}/snooze`)).body).toEqual({ alert_snoozed_until: 0 });
      });
    });

    describe('KPIs', () => {
      it('creates, reads, lists, replaces and deletes', async () => {
        const made = await service.call('write', 'POST', `${base}/kpis`, {
          name: '5xx / % & >',
          definition: { query: 'up' },
        });
        expect(made.status).toBe(200);
        expect(kpi.parse(made.body)).toEqual(made.body);
        expect(made.body).toMatchObject({
          name: '5xx / % & >',
          entity_id: id,
          definition: { query: 'up', source: 'levitate', unit: 'count' },
          kpi_type: 'custom',
        });
        const one = `${base}/kpis/${made.body.id}`;
        expect((await service.call('read', 'GET', one)).body).toEqual(made.body);
        expect(kpiList.parse(await kpis()).map((each) => each.name)).toEqual(['Errors', 'Latency', '5xx / % & >']);
        const put = await service.call('write', 'PUT', one, {
          name: '5xx',
          definition: { query: 'down', unit: '', source: 'x', data_source: 'eu' },
          description: 'text',
        });
        expect(put.body).toMatchObject({
          id: made.body.id,
          name: '5xx',
          definition: { query: 'down', unit: '', source: 'x', data_source: 'eu' },
          description: 'text',
        });
        expect((await service.call('delete', 'DELETE', one)).body).toEqual({ message: 'success' });
        expect((await service.call('read', 'GET', one)).status).toBe(404);
      });

      it('are unique by name within their entity', async () => {
        const again = await service.call('write', 'POST', `${base}/kpis`, kpiBody());
        expect(again.status).toBe(409);
        expect(again.body).toMatchObject({ code: 'duplicate_name', details: [{ path: 'body.name' }] });
        const [, latency] = await kpis();
        expect((await service.call('write', 'PUT', `${base}/kpis/${latency.id}`, kpiBody())).status).toBe(409);
        expect((await service.call('write', 'POST', `${base}/kpis`, kpiBody({ name: 'errors' }))).status).toBe(200);
      });

      it('cannot go while a rule uses them, by name or inside a macro', async () => {
        const made = await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({ expression: 'high_spike(2, Latency)' }),
        );
        for (const used of await kpis()) {
          const refused = await service.call('delete', 'DELETE', `${base}/kpis/${used.id}`);
          expect(refused.status).toBe(409);
          expect(refused.body.code).toBe('in_use');
          expect(refused.body.error).toContain('Too many errors');
        }
        await service.call('delete', 'DELETE', `${base}/alert-rules/${made.body.id}`);
        for (const free of await kpis()) {
          expect((await service.call('delete', 'DELETE', `${base}/kpis/${free.id}`)).status).toBe(200);
        }
      });

      it('take their rules along when they are renamed', async () => {
        const args = { Errors: { variables: { service: 'a' } }, Latency: { variables: {} } };
        await service.call('write', 'POST', `${base}/alert-rules`, ruleBody({ expression_args: args }));
        await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({ rule_name: 'p', expression: 'low_spike(1, Errors)', primary_indicator: 'Latency' }),
        );
        await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({ rule_name: 'q', primary_indicator: 'Latency' }),
        );
        const untouched = (await rules())[2];
        const [errors] = await kpis();
        expect(
          (await service.call('write', 'PUT', `${base}/kpis/${errors.id}`, kpiBody({ name: 'Failures' }))).status,
        ).toBe(200);
        const [first, second, third] = await rules();
        expect(first).toMatchObject({
          primary_indicator: 'Failures',
          expression: 'Failures',
          expression_args: { Failures: { variables: { service: 'a' } }, Latency: { variables: {} } },
        });
        expect(second).toMatchObject({ primary_indicator: 'Latency', expression: 'low_spike(1, Failures)' });
        expect(third).toEqual(untouched);
      });
    });

    describe('alert rules', () => {
      it('creates one, fills every default and gives it back the same', async () => {
        const made = await service.call('write', 'POST', `${base}/alert-rules`, ruleBody());
        expect(made.status).toBe(200);
        expect(alertRule.parse(made.body)).toEqual(made.body);
        expect(made.body).toMatchObject({
          entity_id: id,
          rule_name: 'Too many errors',
          primary_indicator: 'Errors',
          expression: 'Errors',
          condition: 'expr > 5.000000',
          alert_condition: 'count_true(result) >= 5',
          eval_window: 10,
          severity: 'breach',
          is_disabled: false,
          mute_until: 0,
          group_timeseries_notifications: true,
          properties: {},
          expression_args: {},
          recurring_mute_schedule: null,
          state: 'active',
          error_since: null,
          algorithm: 'static_threshold',
          external_ref: `own-${count}-too-many-errors`,
          deleted_at: null,
        });
        expect((await service.call('read', 'GET', `${base}/alert-rules/${made.body.id}`)).body).toEqual(made.body);
        const list = await service.call('read', 'GET', `${base}/alert-rules`);
        expect(entityAlertRules.parse(list.body)).toEqual({ rules: [made.body], snoozed_until: 0 });
        const everywhere = alertRuleList.parse((await service.call('read', 'GET', '/alert-rules')).body);
        expect(everywhere.find((each) => each.id === made.body.id)).toEqual(made.body);
      });

      it('keeps every field that it takes', async () => {
        const fields = {
          severity: 'threat',
          is_disabled: true,
          mute_until: -1,
          group_timeseries_notifications: false,
          properties: {
            description: '{{ $labels.x }} is "bad"\n',
            runbook: { link: 'https://runbook' },
            annotations: { 'Check Logs': '{{ $value }}', team: 'ü' },
          },
          expression_args: { Errors: { id: 'some', variables: { service: 'checkout|cart' } } },
          recurring_mute_schedule: {
            enabled: true,
            timezone: 'Europe/Berlin',
            windows: [{ weekdays: ['sat', 'sun'], start_time: '22:00', end_time: '06:30' }],
          },
        };
        const made = await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({ ...fields, notification_channels: ['x'] }),
        );
        expect(made.body).toMatchObject({ ...fields, state: 'disabled' });
        expect((await rules())[0]).toEqual(made.body);
      });

      it('normalises condition, alert condition and expression', async () => {
        const made = await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({
            condition: ' expr<=1e-7',
            alert_condition: 'count_true( result )>=3',
            expression: 'increasing_trend( 9.0,  Latency )',
          }),
        );
        expect(made.body).toMatchObject({
          condition: 'expr <= 1e-7',
          alert_condition: 'count_true(result) >= 3',
          expression: 'increasing_trend(9, Latency)',
          algorithm: 'inc_trend',
        });
      });

      it.each([
        ['body.rule_name', { rule_name: '' }],
        ['body.rule_name', { rule_name: undefined }],
        ['body.primary_indicator', { primary_indicator: 'Nothing' }],
        ['body.expression', { expression: 'high_spike(2, Nothing)' }],
        ['body.expression', { expression: 'avg(2, Errors)' }],
        ['body.expression', { expression: 'high_spike(11, Errors)' }],
        ['body.condition', { condition: 'expr > many' }],
        ['body.condition', { condition: undefined }],
        ['body.alert_condition', { alert_condition: 'count_true(result) >= 11' }],
        ['body.alert_condition', { alert_condition: 'count_true(result) >= 0' }],
        ['body.alert_condition', { alert_condition: 'sometimes' }],
        ['body.eval_window', { eval_window: 1441 }],
        ['body.eval_window', { eval_window: 0 }],
        ['body.eval_window', { eval_window: '10' }],
        ['body.severity', { severity: 'warning' }],
        ['body.is_disabled', { is_disabled: 'yes' }],
        ['body.mute_until', { mute_until: -2 }],
        [
          'body.recurring_mute_schedule.timezone',
          { recurring_mute_schedule: { enabled: true, timezone: 'Mars/Olympus', windows: [] } },
        ],
        ['body.properties.annotations.a', { properties: { annotations: { a: 1 } } }],
        ['body.expression_args.Errors.variables.x', { expression_args: { Errors: { variables: { x: [] } } } }],
        [
          'body.recurring_mute_schedule.windows.0.start_time',
          {
            recurring_mute_schedule: {
              enabled: true,
              timezone: 'UTC',
              windows: [{ weekdays: ['sat'], start_time: '25:00', end_time: '06:00' }],
            },
          },
        ],
      ])('names %s when it is wrong: %j', async (path, change) => {
        const before = (await service.call('read', 'GET', '')).body.revision;
        const refused = await service.call('write', 'POST', `${base}/alert-rules`, ruleBody(change));
        expect(refused.status).toBe(400);
        expect(refused.body).toMatchObject({ code: 'bad_request', error: expect.stringContaining(path) });
        expect(refused.body.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
        expect(await rules()).toEqual([]);
        expect((await service.call('read', 'GET', '')).body.revision).toBe(before);
      });

      it('replaces one under the same id', async () => {
        const made = await service.call(
          'write',
          'POST',
          `${base}/alert-rules`,
          ruleBody({ severity: 'threat', mute_until: -1 }),
        );
        const one = `${base}/alert-rules/${made.body.id}`;
        const put = await service.call(
          'write',
          'PUT',
          one,
          ruleBody({ rule_name: 'Renamed', primary_indicator: 'Latency' }),
        );
        expect(put.status).toBe(200);
        expect(put.body).toMatchObject({
          id: made.body.id,
          rule_name: 'Renamed',
          primary_indicator: 'Latency',
          expression: 'Latency',
          severity: 'breach',
          mute_until: 0,
          external_ref: made.body.external_ref,
          created_at: made.body.created_at,
        });
        expect(await rules()).toEqual([put.body]);
        const partial = await service.call('write', 'PUT', one, { rule_name: 'Only this' });
        expect(partial.status).toBe(400);
      });

      it('are unique by name within their entity', async () => {
        await service.call('write', 'POST', `${base}/alert-rules`, ruleBody());
        const again = await service.call('write', 'POST', `${base}/alert-rules`, ruleBody());
        expect(again.status).toBe(409);
        expect(again.body).toMatchObject({ code: 'duplicate_name', details: [{ path: 'body.rule_name' }] });
        const other = await service.call('write', 'POST', `${base}/alert-rules`, ruleBody({ rule_name: 'Other' }));
        const put = await service.call('write', 'PUT', `${base}/alert-rules/${other.body.id}`, ruleBody());
        expect(put.status).toBe(409);
      });

      it('are muted until their time has come', async () => {
        const until = Math.floor(Date.now() / 1000) + 100;
        await service.call('write', 'POST', `${base}/alert-rules`, ruleBody({ mute_until: until }));
        expect((await rules())[0].state).toBe('muted');
        clock = (until + 1) * 1000;
        expect((await rules())[0]).toMatchObject({ state: 'active', mute_until: until });
      });

      it('cannot be reached through another entity', async () => {
        const made = await service.call('write', 'POST', `${base}/alert-rules`, ruleBody());
        const other = await service.call('write', 'POST', '/entities', entityBody({ external_ref: `else-${count}` }));
        const path = `/entities/${other.body.id}/alert-rules/${made.body.id}`;
        expect((await service.call('read', 'GET', path)).status).toBe(404);
        expect((await service.call('write', 'PUT', path, ruleBody())).status).toBe(404);
        expect((await service.call('delete', 'DELETE', path)).status).toBe(404);
        expect(await rules()).toHaveLength(1);
      });
    });

    it('lists more than a page, whole and in order', async () => {
      const total = 1203;
      for (let from = 0; from < total; from += 50) {
        const names = Array.from({ length: Math.min(50, total - from) }, (_, index) => `rule ${from + index}`);
        await Promise.all(
          names.map((rule_name) => service.call('write', 'POST', `${base}/alert-rules`, ruleBody({ rule_name }))),
        );
      }
      const list = entityAlertRules.parse((await service.call('read', 'GET', `${base}/alert-rules`)).body);
      expect(new Set(list.rules.map((rule) => rule.rule_name)).size).toBe(total);
      const ids = list.rules.map((rule) => rule.id);
      expect(ids.toSorted()).toEqual(ids);
      const everywhere = alertRuleList.parse((await service.call('read', 'GET', '/alert-rules')).body);
      expect(everywhere.filter((rule) => rule.entity_id === id).map((rule) => rule.id)).toEqual(ids);
      expect((await service.call('delete', 'DELETE', base)).status).toBe(200);
    });
  });
});
