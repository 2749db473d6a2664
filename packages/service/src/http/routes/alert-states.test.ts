import { alertHistory, alertMonitor, alertSummary, ruleEvaluations, ruleStateAnswer } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MetricSource, startMetricSource } from '../../../test/metric-source.ts';
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

/** Minutes since 1970. */
const START = Math.floor(Date.UTC(2026, 5, 1, 12, 0) / 60_000);
const at = (minute: number) => (START + minute) * 60;

interface Made {
  readonly entity: string;
  readonly rule: string;
}

describe.each(BACKENDS.map((backend) => ({ backend })))('alert states on $backend', ({ backend }) => {
  describe.skipIf(cannotRun(backend))('the API', () => {
    let service: Service;
    let source: MetricSource;
    let minute = 0;
    let shop: Made;
    let quiet: Made;

    beforeAll(async () => {
      source = await startMetricSource();
      service = await startService({
        backend,
        background: false,
        now: () => (START + minute) * 60_000 + 5000,
        settings: { recover_minutes: 3, rate_limit: 100_000 },
      });
      await service.call('write', 'POST', '/datasources', {
        name: 'metrics',
        url: source.url,
        is_default: true,
        properties: { flavour: 'prometheus', evaluation_delay_seconds: 0 },
      });
      shop = await make('Shop', 'errors', {
        severity: 'threat',
        properties: {
          description: 'Host {{ $labels.host }} has {{ $value }} errors',
          runbook: { link: 'https://runbook.example/errors' },
          annotations: { team: 'payments', broken: '{{ .Nothing' },
        },
      });
      quiet = await make('Quiet', 'nothing', { rule_name: 'Never (ever)' });
      await service.call('write', 'PUT', `/entities/${shop.entity}/metadata`, { team: 'x', labels: { tier: '1' } });
      // Host a: bad from minute 1 to 4. Host b: one bad minute, 6. Host c: never. Host d: bad from minute 5 on.
      source.series('errors', { host: 'a' }, (each) => (each >= START + 1 && each <= START + 4 ? 7.5 : 1));
      source.series('errors', { host: 'b' }, (each) => (each === START + 6 ? 9 : 2));
      source.series('errors', { host: 'c,d' }, () => 3);
      source.series('errors', { host: 'd' }, (each) => (each >= START + 5 ? 20 : 0));
      for (minute = 0; minute <= 12; minute++) {
        await service.app.alerting!.evaluator!.tick();
        if (minute === 3) await expectFiring();
        if (minute === 7) await expectPending();
      }
      minute = 12;
    });
    afterAll(async () => {
      await service.stop();
      await source.close();
    });

    async function make(name: string, query: string, rule: Record<string, unknown> = {}): Promise<Made> {
      const ref = { name, external_ref: name.toLowerCase() };
      const { id } = (await service.call('write', 'POST', '/entities', entityBody(ref))).body;
      const kpi = kpiBody({ definition: { query, unit: 'count' } });
      await service.call('write', 'POST', `/entities/${id}/kpis`, kpi);
      const window = { alert_condition: 'count_true(result) >= 3', eval_window: 5 };
      const made = await service.call('write', 'POST', `/entities/${id}/alert-rules`, ruleBody({ ...window, ...rule }));
      return { entity: id, rule: made.body.id };
    }

    const get = async (path: string) => (await service.call('read', 'GET', path)).body;
    const monitor = async (query = '') => alertMonitor.parse(await get(`/alerts/monitor?${query}`));
    const ofRule = ({ entity, rule }: Made, what: string) => `/entities/${entity}/alert-rules/${rule}/${what}`;
    const hosts = (alerts: readonly { state: string; group_labels: Record<string, string> }[]) =>
      alerts.map(({ state, group_labels }) => `${group_labels['host']} ${state}`);

    async function expectFiring(): Promise<void> {
      const feed = await monitor('state=firing');
      expect(feed).toMatchObject({ timestamp: at(3) + 5, window: 900, incomplete: [] });
      expect(feed.alert_rules).toEqual([
        {
          alert_group_id: shop.entity,
          alert_group_name: 'Shop',
          rule_id: shop.rule,
          rule_name: 'Too many errors',
          state: 'firing',
          severity: 'threat',
          rule_type: 'static',
          last_fired_at: at(3),
          since: at(3),
          rule_properties: expect.objectContaining({ condition: 'expr > 5.000000', bad_minutes: 3, total_minutes: 5 }),
          health: 'ok',
          last_error: '',
          alerts: [
            {
              state: 'firing',
              label_hash: expect.stringMatching(/^[0-9a-f]{16}$/),
              annotations: {
                description: 'Host a has 7.5 errors',
                runbook: 'https://runbook.example/errors',
                team: 'payments',
                broken: '{{ .Nothing',
              },
              group_labels: { host: 'a' },
              metric_degradation: 50,
              current_value: 7.5,
              last_fired_at: at(3),
              since: at(3),
              bad_minutes: 3,
              total_minutes: 5,
              worst_value: 7.5,
              episode_id: expect.stringMatching(/^[0-9a-f]{32}$/),
              reason: '',
            },
          ],
        },
      ]);
    }

    async function expectPending(): Promise<void> {
      const [rule] = (await monitor('')).alert_rules.filter(({ rule_id }) => rule_id === shop.rule);
      expect(hosts(rule!.alerts)).toEqual(['a firing', 'd firing', 'b pending']);
      expect(rule!.alerts[2]).toMatchObject({
        since: at(6),
        bad_minutes: 1,
        current_value: 2,
        last_fired_at: 0,
        episode_id: '',
        metric_degradation: -60,
      });
      const pending = (await monitor('state=pending,normal')).alert_rules;
      expect(pending.map(({ rule_name, alerts }) => [rule_name, hosts(alerts)])).toEqual(
        expect.arrayContaining([
          ['Too many errors', ['b pending']],
          ['Never (ever)', []],
        ]),
      );
      const state = ruleStateAnswer.parse(await get(ofRule(shop, 'state?limit=3')));
      expect(state).toMatchObject({ counts: { firing: 2, pending: 1, normal: 1 }, total: 4 });
      expect(state.series.map(({ labels, minute: quality, value }) => [labels['host'], quality, value])).toEqual([
        ['a', 'good', 1],
        ['d', 'bad', 20],
        ['b', 'good', 2],
      ]);
      expect((await get(ofRule(shop, 'state?state=normal'))).series).toMatchObject([
        { labels: { host: 'c,d' }, state: 'normal', since: null, episode_id: null, bad_minutes: 0 },
      ]);
    }

    it('tells what has ended within the window', async () => {
      const [rule] = (await monitor(`alert_group_id=${shop.entity}`)).alert_rules;
      expect(hosts(rule!.alerts)).toEqual(['d firing', 'a resolved']);
      expect(rule!.alerts[1]).toMatchObject({
        since: at(9),
        last_fired_at: at(3),
        reason: 'recovered',
        worst_value: 7.5,
      });
      expect(hosts((await monitor(`alert_group_id=${shop.entity}&window=100`)).alert_rules[0]!.alerts)).toEqual([
        'd firing',
      ]);
    });

    it('filters by names, labels and states', async () => {
      const names = async (query: string) =>
        (await monitor(query)).alert_rules.map(({ rule_name }) => rule_name).sort();
      expect(await names('')).toEqual(['Never (ever)', 'Too many errors']);
      expect(await names('rule_name=Too.*')).toEqual(['Too many errors']);
      expect(await names('rule_name=Too')).toEqual([]);
      expect(await names(`rule_name=${encodeURIComponent('Never \\(ever\\)|x')}`)).toEqual(['Never (ever)']);
      expect(await names('alert_group_name=Sh.p')).toEqual(['Too many errors']);
      expect(await names('label_filters=host=d')).toEqual(['Too many errors']);
      expect(await names('label_filters=host=d,other=x')).toEqual([]);
      expect(await names('label_filters=host=a&state=firing')).toEqual([]);
      expect(await names('state=normal')).toEqual(['Never (ever)']);
      expect(await names('state=resolved')).toEqual(['Too many errors']);
      expect(await names('alert_group_id=nobody')).toEqual([]);
    });

    it('tells what fired at a moment of the past, from the episodes', async () => {
      const past = async (seconds: number, more = '') => {
        const feed = await monitor(`timestamp=${seconds}&alert_group_id=${shop.entity}${more}`);
        return feed.alert_rules.flatMap(({ alerts }) => hosts(alerts));
      };
      expect(await past(at(2) + 59)).toEqual([]);
      expect(await past(at(3))).toEqual(['a firing']);
      expect(await past(at(8))).toEqual(['a firing', 'd firing']);
      expect(await past(at(9))).toEqual(['d firing', 'a resolved']);
      expect(await past(at(10) + 30, '&window=60')).toEqual(['d firing']);
      const feed = await monitor(`timestamp=${at(4)}.7&window=60`);
      expect(feed).toMatchObject({ timestamp: at(4), window: 60, incomplete: [] });
      expect(feed.alert_rules.find(({ rule_id }) => rule_id === shop.rule)).toMatchObject({
        state: 'firing',
        since: at(3),
        last_fired_at: at(3),
        alerts: [{ current_value: null, worst_value: 7.5, bad_minutes: null }],
      });
    });

    it.each([
      ['window=3601', 'query.window'],
      ['window=0', 'query.window'],
      ['window=1.5', 'query.window'],
      ['timestamp=yesterday', 'query.timestamp'],
      ['timestamp=-1', 'query.timestamp'],
      ['state=burning', 'query.state.0'],
      ['rule_name=(', 'query.rule_name'],
      ['alert_group_name=%5Ba', 'query.alert_group_name'],
      ['label_filters=host', 'query.label_filters'],
    ])('refuses %s', async (query, path) => {
      const answer = await service.call('read', 'GET', `/alerts/monitor?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ code: 'bad_request', details: [{ path }] });
    });

    it('gives the history of a rule, page by page', async () => {
      const history = alertHistory.parse(await get(ofRule(shop, 'history')));
      expect(history).toMatchObject({ to: at(12) + 5, total: 2, last_fired_at: at(7), next: null });
      expect(history.firing_seconds).toBe(9 * 60 + 5);
      expect(history.episodes).toMatchObject([
        {
          state: 'firing',
          labels: { host: 'd' },
          first_bad_at: at(5),
          fired_at: at(7),
          resolved_at: null,
          duration: 305,
        },
        {
          state: 'resolved',
          severity: 'threat',
          labels: { host: 'a' },
          first_bad_at: at(1),
          fired_at: at(3),
          resolved_at: at(9),
          duration: 360,
          reason: 'recovered',
          value: 7.5,
          late: false,
        },
      ]);
      const first = alertHistory.parse(await get(ofRule(shop, 'history?limit=1')));
      expect(first).toMatchObject({ total: 2, episodes: [{ id: history.episodes[0]!.id }] });
      const second = alertHistory.parse(await get(ofRule(shop, `history?limit=1&before=${first.next}`)));
      expect(second).toMatchObject({ total: 2, next: null, episodes: [{ id: history.episodes[1]!.id }] });
      const early = alertHistory.parse(await get(ofRule(shop, `history?from=${at(0)}&to=${at(5)}`)));
      expect(early).toMatchObject({ total: 1, firing_seconds: 120, last_fired_at: at(7) });
      expect(alertHistory.parse(await get(ofRule(quiet, 'history')))).toMatchObject({ total: 0, last_fired_at: null });
      expect((await service.call('read', 'GET', ofRule(shop, 'history?before=x'))).status).toBe(400);
      expect((await service.call('read', 'GET', ofRule(shop, 'history?from=5&to=4'))).status).toBe(400);
      const other = { entity: quiet.entity, rule: shop.rule };
      expect((await service.call('read', 'GET', ofRule(other, 'history'))).status).toBe(404);
    });

    it('gives the last evaluations with a line for the shell', async () => {
      const answer = ruleEvaluations.parse(await get(ofRule(shop, 'evaluations')));
      expect(answer).toMatchObject({ query: 'errors', data_source: 'metrics', shared_by: 1, incomplete: [] });
      expect(answer.evaluations.length).toBe(13);
      expect(answer.evaluations[0]).toMatchObject({
        minute: at(12),
        first_minute: at(12),
        end: at(12),
        series: 4,
        firing: 1,
        pending: 0,
        error: null,
        warnings: [],
      });
      expect(answer.evaluations[0]!.curl).toContain(`--data-urlencode query=errors`);
      expect(answer.source_share).toBeGreaterThan(0);
      expect(answer.source_share).toBeLessThanOrEqual(1);
    });

    it('counts by alert manager', async () => {
      const summary = alertSummary.parse(await get('/alert-states/summary'));
      expect(summary).toMatchObject({
        rules: { firing: 1, normal: 1, pending: 0, disabled: 0, err: 0 },
        series: { firing: 1, normal: 3 },
        outages: [],
        incomplete: [],
      });
      expect(summary.alert_groups).toMatchObject([
        { alert_group_name: 'Quiet', state: 'normal', firing_since: null },
        { alert_group_name: 'Shop', state: 'firing', firing_since: at(7) },
      ]);
    });

    describe('in the shape of Prometheus', () => {
      const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`any:${token}`).toString('base64')}` });
      const ask = async (path: string) =>
        (await service.fetch('GET', path, { headers: basic(service.refreshTokens.read) })).body;

      it('gives groups of rules', async () => {
        const { status, data } = await ask('/api/v1/rules');
        expect(status).toBe('success');
        expect(data.groups.map(({ name, file }: { name: string; file: string }) => [name, file])).toEqual([
          ['Quiet', 'quiet'],
          ['Shop', 'shop'],
        ]);
        expect(data.groups[1]).toMatchObject({ interval: 60, limit: 0, lastEvaluation: '2026-06-01T12:12:05.000Z' });
        expect(data.groups[1].rules).toEqual([
          {
            state: 'firing',
            name: 'Too many errors',
            query: 'errors > 5',
            duration: 120,
            keepFiringFor: 180,
            labels: { severity: 'threat', tier: '1' },
            annotations: {
              description: 'Host {{ $labels.host }} has {{ $value }} errors',
              runbook_url: 'https://runbook.example/errors',
              team: 'payments',
              broken: '{{ .Nothing',
            },
            alerts: [
              {
                labels: { host: 'd', alertname: 'Too many errors', severity: 'threat', tier: '1' },
                annotations: expect.objectContaining({ description: 'Host d has 20 errors' }),
                state: 'firing',
                activeAt: '2026-06-01T12:05:00.000Z',
                value: '2e+01',
              },
            ],
            health: 'ok',
            evaluationTime: expect.any(Number),
            lastEvaluation: '2026-06-01T12:12:05.000Z',
            type: 'alerting',
          },
        ]);
        expect((await ask('/prometheus/embedded/api/v1/rules')).data).toEqual(data);
      });

      it('gives alerts', async () => {
        const { data } = await ask('/api/v1/alerts');
        expect(data.alerts).toMatchObject([{ state: 'firing', labels: { alertname: 'Too many errors', host: 'd' } }]);
      });

      it.each([
        ['type=record', []],
        ['type=alert', ['Never (ever)', 'Too many errors']],
        ['rule_name[]=Too%20many%20errors', ['Too many errors']],
        ['rule_name[]=a&rule_name[]=Too%20many%20errors', ['Too many errors']],
        ['rule_group[]=Quiet', ['Never (ever)']],
        ['file[]=shop', ['Too many errors']],
        ['file[]=shop&rule_group[]=Quiet', []],
        ['match[]={severity="breach"}', ['Never (ever)']],
        ['match[]={tier=~"1|2"}&match[]={severity="breach"}', ['Never (ever)', 'Too many errors']],
      ])('filters by %s', async (query, names) => {
        const { data } = await ask(`/api/v1/rules?${query}`);
        const found = data.groups.flatMap(({ rules }: { rules: { name: string }[] }) => rules.map(({ name }) => name));
        expect(found).toEqual(names);
      });

      it('leaves alerts out, and pages', async () => {
        const { data } = await ask('/api/v1/rules?exclude_alerts=true&rule_group[]=Shop');
        expect(data.groups[0].rules[0]).toMatchObject({ state: 'firing', alerts: [] });
        const first = (await ask('/api/v1/rules?group_limit=1')).data;
        expect(first.groups.map(({ name }: { name: string }) => name)).toEqual(['Quiet']);
        const second = (await ask(`/api/v1/rules?group_limit=1&group_next_token=${first.groupNextToken}`)).data;
        expect(second.groups.map(({ name }: { name: string }) => name)).toEqual(['Shop']);
        expect(second.groupNextToken).toBeUndefined();
      });

      it.each([
        ['/api/v1/rules?type=other', 400, 'bad_data'],
        ['/api/v1/rules?exclude_alerts=perhaps', 400, 'bad_data'],
        ['/api/v1/rules?group_next_token=x', 400, 'bad_data'],
        ['/api/v1/rules?group_limit=1&group_next_token=x', 400, 'bad_data'],
        ['/api/v1/rules?match[]=sum(x)', 400, 'bad_data'],
        ['/api/v1/rules?match[]={', 400, 'bad_data'],
      ])('refuses %s', async (path, status, errorType) => {
        const answer = await service.fetch('GET', path, { headers: basic(service.refreshTokens.read) });
        expect([answer.status, answer.body]).toEqual([
          status,
          { status: 'error', errorType, error: expect.any(String) },
        ]);
      });

      it('takes access tokens as Bearer, and asks for one', async () => {
        const bearer = { authorization: `Bearer ${service.tokens.read}` };
        expect((await service.fetch('GET', '/api/v1/alerts', { headers: bearer })).status).toBe(200);
        const none = await service.fetch('GET', '/api/v1/alerts');
        expect([none.status, none.body.errorType]).toEqual([401, 'unauthorized']);
        const wrong = await service.fetch('GET', '/api/v1/rules', { headers: basic(service.refreshTokens.delete) });
        expect([wrong.status, wrong.body.errorType]).toEqual([403, 'forbidden']);
      });
    });

    it('shows another organisation nothing', async () => {
      const other = await service.addOrganization('other');
      const bearer = { authorization: `Bearer ${other.read}` };
      expect((await service.fetch('GET', '/api/v1/rules', { headers: bearer })).body.data.groups).toEqual([]);
      const there = (path: string) => service.fetch('GET', `/api/v4/organizations/other${path}`, { token: other.read });
      expect((await there('/alerts/monitor')).body.alert_rules).toEqual([]);
      expect((await there(ofRule(shop, 'history'))).status).toBe(404);
      expect((await there(ofRule(shop, 'state'))).status).toBe(404);
      expect((await there(`/alert-states/live?rule=${shop.rule}`)).body.rules).toEqual([]);
    });

    it('tells of rules that cannot be evaluated, that are disabled, and that are gone', async () => {
      source.fail(500);
      minute = 13;
      await service.app.alerting!.evaluator!.tick();
      const failing = await get(ofRule(shop, 'state'));
      expect(failing).toMatchObject({ state: 'firing', health: 'err', error_since: at(13), last_minute: at(12) });
      expect(failing.last_error).not.toBe('');
      const { evaluations } = await get(ofRule(shop, 'evaluations'));
      expect(evaluations[0]).toMatchObject({ minute: at(13), error: expect.any(String), series: 0 });
      const [rule] = (await monitor('rule_name=Too.*')).alert_rules;
      expect(rule).toMatchObject({ state: 'firing', health: 'err', last_error: failing.last_error });
      source.fail(undefined);

      const lost = await make('Lost', 'x', { rule_name: 'No source' });
      const entity = { ...entityBody({ name: 'Lost', external_ref: 'lost' }), data_source: 'nowhere' };
      await service.call('write', 'PUT', `/entities/${lost.entity}`, entity);
      minute = 14;
      await service.app.alerting!.evaluator!.tick();
      const [unusable] = (await monitor('rule_name=No source')).alert_rules;
      expect(unusable).toMatchObject({
        state: 'normal',
        health: 'err',
        last_error: expect.stringContaining('nowhere'),
      });

      const disabled = ruleBody({ rule_name: 'Never (ever)', is_disabled: true });
      await service.call('write', 'PUT', `/entities/${quiet.entity}/alert-rules/${quiet.rule}`, disabled);
      expect(await get(ofRule(quiet, 'state'))).toMatchObject({ state: 'normal', health: 'unknown', incomplete: [] });
      expect((await get('/alert-states/summary')).rules).toMatchObject({ firing: 1, disabled: 1, err: 1 });

      await service.call('delete', 'DELETE', `/entities/${shop.entity}/alert-rules/${shop.rule}`);
      const gone = (await monitor('rule_name=Too.*&state=firing')).alert_rules;
      expect(gone).toMatchObject([
        { rule_id: shop.rule, alert_group_name: 'Shop', alerts: [{ group_labels: { host: 'd' } }] },
      ]);
      minute = 15;
      await service.app.alerting!.evaluator!.tick();
      expect((await monitor('state=firing')).alert_rules).toEqual([]);
      const history = await get(ofRule(shop, 'history'));
      expect(history.episodes[0]).toMatchObject({ reason: 'rule_deleted', labels: { host: 'd' } });
      expect((await service.call('read', 'GET', ofRule(shop, 'state'))).status).toBe(404);
      const then = (await monitor(`timestamp=${at(8)}&rule_name=Too.*`)).alert_rules;
      expect(then).toMatchObject([{ state: 'firing', alerts: [{ state: 'firing' }, { state: 'firing' }] }]);
    });
  });
});
