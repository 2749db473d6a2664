import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { alertMonitor, alertSummary, ruleEvaluations, ruleStateAnswer } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MetricSource, startMetricSource } from '../../test/metric-source.ts';
import {
  cannotRun,
  databaseFor,
  entityBody,
  kpiBody,
  ruleBody,
  type Service,
  startService,
  stopDatabases,
  temporaryDir,
} from '../../test/service.ts';
import { type App, createApp } from '../app.ts';
import { shardOf } from '../evaluator/shards.ts';
import { closeStore } from '../metadata/store.ts';
import { settingsSchema } from '../settings/definition.ts';

afterAll(stopDatabases);

/** Minutes since 1970. */
const START = Math.floor(Date.UTC(2026, 5, 1, 12, 0) / 60_000);
const KEY = Buffer.alloc(32, 5).toString('base64');

/** Six seconds after a minute, and more each time, so that every look renews the leases. */
let clock = START * 60_000;

describe.skipIf(cannotRun('postgresql'))('two processes that share the rules', () => {
  let source: MetricSource;
  let one: Service;
  let two: App;
  const entities: string[] = [];
  const rules = new Map<string, string>();

  beforeAll(async () => {
    source = await startMetricSource();
    const databaseUrl = await databaseFor('postgresql');
    const now = () => clock;
    one = await startService({ databaseUrl, background: false, now, settings: { secret_key: KEY } });
    const settings = settingsSchema.parse({
      data_dir: temporaryDir(),
      port: 0,
      database_url: databaseUrl,
      secret_key: KEY,
      logs: false,
      log_level: 'silent',
    });
    two = createApp(settings, { now, background: false, retryDelay: () => 1 });
    await two.start();
    const properties = { flavour: 'prometheus', evaluation_delay_seconds: 0 };
    await one.call('write', 'POST', '/datasources', { name: 'm', url: source.url, is_default: true, properties });
    for (let index = 0; index < 8; index++) await makeRule(index);
    source.series('errors', { host: 'a' }, () => 9);
    source.series('errors', { host: 'b' }, (minute) => (minute === START ? 9 : 1));
    // The first takes everything, gives half of it back when it sees the second, and then both evaluate.
    for (const step of [6, 12, 18, 24, 84, 144]) {
      clock = START * 60_000 + step * 1000;
      await one.app.alerting!.evaluator!.tick();
      await two.alerting!.evaluator!.tick();
    }
  });
  afterAll(async () => {
    await two.stop();
    await one.stop();
    await source.close();
  });

  async function makeRule(index: number): Promise<void> {
    const made = await one.call(
      'write',
      'POST',
      '/entities',
      entityBody({ name: `E${index}`, external_ref: `e${index}` }),
    );
    const { id } = made.body;
    await one.call(
      'write',
      'POST',
      `/entities/${id}/kpis`,
      kpiBody({ definition: { query: 'errors', unit: 'count' } }),
    );
    const body = ruleBody({ alert_condition: 'count_true(result) >= 2', eval_window: 5 });
    rules.set(id, (await one.call('write', 'POST', `/entities/${id}/alert-rules`, body)).body.id);
    entities.push(id);
  }

  const token = () => one.tokens.read;
  const ask = async (origin: string, path: string) => {
    const headers = { authorization: `Bearer ${token()}` };
    return (await fetch(`${origin}${path}`, { headers })).json();
  };
  const api = (origin: string, path: string) => ask(origin, `/api/v4/organizations/default${path}`);
  const origins = () => [one.origin, two.address!.origin];
  const ofTwo = () => entities.filter((id) => two.alerting!.evaluator!.rule(rules.get(id)!)?.state);

  it('answer alike, whichever of them is asked', async () => {
    expect(ofTwo().length).toBeGreaterThan(0);
    expect(ofTwo().length).toBeLessThan(entities.length);
    for (const origin of origins()) {
      const feed = alertMonitor.parse(await api(origin, '/alerts/monitor'));
      expect(feed.incomplete).toEqual([]);
      expect(
        feed.alert_rules.map(({ alerts }) => alerts.map(({ state, current_value }) => [state, current_value])),
      ).toEqual(
        entities.map(() => [
          ['firing', 9],
          ['pending', 1],
        ]),
      );
      const summary = alertSummary.parse(await api(origin, '/alert-states/summary'));
      expect(summary).toMatchObject({ rules: { firing: 8 }, series: { firing: 8, pending: 8 }, incomplete: [] });
      const { data, warnings } = (await ask(origin, '/api/v1/rules')) as {
        data: { groups: unknown[] };
        warnings?: unknown;
      };
      expect([data.groups.length, warnings]).toEqual([8, undefined]);
      for (const id of entities) {
        const base = `/entities/${id}/alert-rules/${rules.get(id)}`;
        const state = ruleStateAnswer.parse(await api(origin, `${base}/state`));
        expect(state).toMatchObject({ counts: { firing: 1, pending: 1 }, health: 'ok', incomplete: [] });
        const { evaluations } = ruleEvaluations.parse(await api(origin, `${base}/evaluations`));
        expect(evaluations.length).toBeGreaterThan(0);
      }
    }
  });

  it('say what is missing when the other does not answer, and tell what the store knows', async () => {
    const gone = createServer((_request, response) => response.writeHead(500).end());
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const store = await one.openStore();
    const { id } = two.alerting!.evaluator!;
    const address = `http://127.0.0.1:${(gone.address() as AddressInfo).port}`;
    await store.db.updateTable('evaluators').set({ address }).where('id', '=', id).execute();
    await expectGap(ofTwo());
    gone.close();

    // Nobody has the shards: what nobody evaluates is missing too.
    const shards = entities.map(shardOf);
    await store.db.updateTable('evaluator_shards').set({ owner: '' }).where('shard', 'in', shards).execute();
    await expectGap(entities);
    await closeStore(store);
  });

  async function expectGap(missing: readonly string[]): Promise<void> {
    const feed = alertMonitor.parse(await api(one.origin, '/alerts/monitor'));
    expect(feed.incomplete).toEqual([{ message: expect.any(String), alert_group_ids: expect.any(Array) }]);
    expect(feed.incomplete[0]!.alert_group_ids.toSorted()).toEqual([...missing].sort());
    for (const rule of feed.alert_rules) {
      const isMissing = missing.includes(rule.alert_group_id);
      expect(rule.health).toBe(isMissing ? 'unknown' : 'ok');
      expect(rule.alerts.map(({ state, current_value }) => [state, current_value])).toEqual(
        isMissing
          ? [['firing', null]]
          : [
              ['firing', 9],
              ['pending', 1],
            ],
      );
    }
    const id = missing[0]!;
    const base = `/entities/${id}/alert-rules/${rules.get(id)}`;
    const state = ruleStateAnswer.parse(await api(one.origin, `${base}/state`));
    expect(state).toMatchObject({
      state: 'firing',
      health: 'unknown',
      last_minute: null,
      series: [{ labels: { host: 'a' }, state: 'firing', minute: 'unknown', value: null }],
    });
    expect(state.incomplete).toHaveLength(1);
    expect(ruleEvaluations.parse(await api(one.origin, `${base}/evaluations`))).toMatchObject({ evaluations: [] });
    const prometheus = (await ask(one.origin, '/api/v1/rules')) as {
      warnings: string[];
      data: { groups: { file: string; rules: unknown[] }[] };
    };
    expect(prometheus.warnings).toEqual([feed.incomplete[0]!.message]);
    const group = prometheus.data.groups.find(({ file }) => file === `e${entities.indexOf(id)}`);
    expect(group!.rules).toMatchObject([
      { state: 'firing', query: 'errors > 5', health: 'unknown', lastEvaluation: '0001-01-01T00:00:00Z' },
    ]);
  }
});
