/** `alerts` and `explain` against a stand-in of the API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AlertMonitor, MonitoredAlert, MonitoredRule, RuleStateAnswer } from '@obsiac/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ago, labelsText, numberText } from '../src/alerts/texts.ts';
import { watchAlerts } from '../src/alerts/watch.ts';
import { type Reply, type SeenRequest, type StubServer, startStub } from './cloudflare-api.ts';
import { runCli } from './run-cli.ts';

let directory: string;
let api: StubServer | undefined;
beforeEach(() => {
  directory = mkdtempSync('/tmp/obsiac-alerts-');
});
afterEach(async () => {
  await api?.close();
  api = undefined;
  rmSync(directory, { recursive: true });
});

type Answers = Readonly<Record<string, unknown>>;

/** Answers of the API by path below the organisation; a path that is not there is 404. */
async function run(argv: readonly string[], answers: Answers, more = {}) {
  await api?.close();
  api = await startStub((request) => replyTo(request, answers));
  const credential = { refresh_token: 'a-refresh-token', api_base_url: `${api.origin}/api/v4`, org: 'default' };
  const config = {
    api_config: { read: credential, write: credential, delete: credential },
    state_lock_file_path: 'state.json',
  };
  writeFileSync(path.join(directory, 'config.json'), JSON.stringify(config));
  const result = await runCli(argv, { cwd: directory, ...more });
  const asked = api.seen
    .map(({ url }) => url.replace(/^.*\/organizations\/default/, ''))
    .filter((url) => !url.endsWith('access_token'));
  return { ...result, asked };
}

function replyTo({ url }: SeenRequest, answers: Answers): Reply {
  if (url.endsWith('/oauth/access_token')) {
    const now = Math.floor(Date.now() / 1000);
    return { body: JSON.stringify({ access_token: 'an-access-token', issued_at: now, expires_at: now + 3600 }) };
  }
  const [where = ''] = url.replace(/^.*\/organizations\/default/, '').split('?');
  if (!(where in answers)) return { status: 404, body: '{"error":"not here","code":"not_found"}' };
  const answer = answers[where];
  return {
    body: JSON.stringify(typeof answer === 'function' ? answer(new URL(url, 'http://x').searchParams) : answer),
  };
}

const events = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** 2026-11-21T07:00:00Z */
const NOW = 1_795_244_400;

function alert(change: Partial<MonitoredAlert> = {}): MonitoredAlert {
  return {
    state: 'firing',
    label_hash: 'aaaa',
    annotations: {},
    group_labels: { host: 'a' },
    metric_degradation: 50,
    current_value: 7.5,
    last_fired_at: NOW - 540,
    since: NOW - 540,
    bad_minutes: 3,
    total_minutes: 5,
    worst_value: 9,
    episode_id: 'e1',
    reason: '',
    ...change,
  };
}

function rule(alerts: MonitoredAlert[], change: Partial<MonitoredRule> = {}): MonitoredRule {
  return {
    alert_group_id: 'e-shop',
    alert_group_name: 'Shop',
    rule_id: 'r-1',
    rule_name: 'Too many errors',
    state: 'firing',
    severity: 'breach',
    rule_type: 'static',
    last_fired_at: NOW - 540,
    since: NOW - 540,
    rule_properties: {},
    health: 'ok',
    last_error: '',
    alerts,
    ...change,
  };
}

const feedOf = (rules: MonitoredRule[], incomplete: AlertMonitor['incomplete'] = []): AlertMonitor => ({
  timestamp: NOW,
  window: 900,
  alert_rules: rules,
  incomplete,
});

describe('alerts', () => {
  const feed = feedOf([
    rule(
      [
        alert({
          group_labels: { host: 'b', path: '/x y' },
          label_hash: 'bbbb',
          since: NOW - 90_000,
          current_value: null,
        }),
      ],
      {
        rule_id: 'r-2',
        rule_name: 'Slow',
        severity: 'threat',
      },
    ),
    rule([
      alert(),
      alert({
        state: 'pending',
        group_labels: {},
        label_hash: 'cccc',
        bad_minutes: 1,
        since: NOW - 60,
        current_value: 0.123456789,
      }),
    ]),
    rule(
      [
        alert({
          state: 'resolved',
          label_hash: 'dddd',
          bad_minutes: null,
          current_value: null,
          reason: 'no_data',
          since: NOW - 30,
        }),
      ],
      { rule_id: 'r-3' },
    ),
  ]);

  test('a table of what fires: breaches first, then the oldest', async () => {
    const { code, stdout, stderr, asked } = await run(['-c', 'config.json', 'alerts'], { '/alerts/monitor': feed });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(asked).toEqual(['/alerts/monitor?state=firing']);
    expect(stdout).toBe(
      [
        'STATE   SEVERITY  ALERT MANAGER  RULE             VALUE  BAD  SINCE                 AGE    LABELS',
        'firing  breach    Shop           Too many errors  7.5    3/5  2026-11-21T06:51:00Z  9m     host=a',
        'firing  threat    Shop           Slow             9      3/5  2026-11-20T06:00:00Z  1d 1h  host=b, path="/x y"',
        '',
      ].join('\n'),
    );
  });

  test('all states, filters, and another moment', async () => {
    const { stdout, asked } = await run(
      [
        'alerts',
        '-c',
        'config.json',
        '--state',
        'all',
        '--rule',
        'Too.*',
        '--label',
        'host=a',
        '--label',
        'x=1,2',
        '--window',
        '1h',
        '--at',
        '2026-11-21T07:00:00Z',
        '--entity',
        'Shop',
      ],
      { '/alerts/monitor': feed, '/entities': { entities: [{ id: 'e-shop', name: 'Shop', external_ref: 'shop' }] } },
    );
    const asking = new URLSearchParams(asked.at(-1)!.split('?')[1]);
    expect(Object.fromEntries(asking)).toEqual({
      state: 'firing,pending,resolved',
      rule_name: 'Too.*',
      label_filters: 'host=a,x=1,2',
      window: '3600',
      timestamp: String(NOW),
      alert_group_id: 'e-shop',
    });
    const rows = stdout.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(/ {2,}/)[0])).toEqual(['firing', 'firing', 'pending', 'resolved']);
    expect(rows[2]).toContain('0.123457  1/5');
  });

  test('events', async () => {
    const { stdout } = await run(['-c', 'config.json', 'alerts', '--json'], { '/alerts/monitor': feed });
    expect(events(stdout).filter(({ type }) => type === 'alert')).toMatchObject([
      {
        '@message': 'firing: Shop / Too many errors host=a',
        alert: {
          rule_name: 'Too many errors',
          alert_group_id: 'e-shop',
          severity: 'breach',
          state: 'firing',
          current_value: 7.5,
          since: NOW - 540,
        },
      },
      { alert: { rule_name: 'Slow', current_value: null, worst_value: 9 } },
    ]);
  });

  test('nothing, and what is not known', async () => {
    const incomplete = [{ message: 'Nobody answers.', alert_group_ids: ['e-shop'] }];
    const { code, stdout, stderr } = await run(['-c', 'config.json', 'alerts', '--state', 'pending'], {
      '/alerts/monitor': feedOf([], incomplete),
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: '',
      stderr: 'Nothing is pending.\nWarning: Nobody answers.\n',
    });
  });

  test('the feed of the hosted service is enough', async () => {
    const { health: _, last_error: __, ...old } = rule([]);
    const { bad_minutes: _1, total_minutes: _2, worst_value: _3, episode_id: _4, reason: _5, ...series } = alert();
    const hosted = { timestamp: NOW, window: 900, alert_rules: [{ ...old, alerts: [series] }] };
    const { stdout } = await run(['-c', 'config.json', 'alerts'], { '/alerts/monitor': hosted });
    expect(stdout).toContain('7.5    -    2026-11-21T06:51:00Z');
  });

  test.each([
    [['--state', 'fireing'], '--state is one of firing, pending, resolved, all'],
    [['--rule', '('], '--rule is no regular expression'],
    [['--label', 'host'], '--label is NAME=VALUE'],
    [['--window', '2h'], '--window is from 1s to 1h'],
    [['--at', 'noon'], '--at does not read as a time'],
    [['--watch', '--at', '1h'], '--watch shows now'],
  ])('%j is refused', async (argv, sentence) => {
    const { code, stderr, asked } = await run(['-c', 'config.json', 'alerts', ...argv], {});
    expect([code, asked]).toEqual([3, []]);
    expect(stderr).toContain(sentence);
  });

  test('an alert manager that is not there, or there twice', async () => {
    const entities = [
      { id: '1', name: 'Shop', external_ref: 'shop-eu' },
      { id: '2', name: 'Shop', external_ref: 'shop-us' },
    ];
    const ask = (name: string) => run(['-c', 'config.json', 'alerts', '--entity', name], { '/entities': { entities } });
    expect(await ask('Shop')).toMatchObject({ code: 3, stderr: expect.stringContaining('shop-eu, shop-us') });
    expect(await ask('shop-euu')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "shop-eu"?'),
    });
  });

  test('watching shows the table, then each change', async () => {
    const controller = new AbortController();
    const resolved = alert({ state: 'resolved', since: NOW + 60, reason: 'recovered' });
    const feeds = [
      feedOf([rule([alert(), alert({ state: 'pending', label_hash: 'p', since: NOW })])]),
      feedOf([rule([alert()])]),
      null,
      feedOf([rule([resolved])]),
    ];
    const seen: unknown[] = [];
    const read = async () => {
      const feed = feeds.shift();
      if (feed === undefined) throw new Error('asked too often');
      if (feeds.length === 0) setTimeout(() => controller.abort(), 5);
      if (feed === null) {
        const { ApiError } = await import('@obsiac/api');
        throw new ApiError('unreachable', 'Gone.', { retryable: true });
      }
      return feed;
    };
    for await (const event of watchAlerts(read, controller.signal, 20)) {
      seen.push('rows' in event ? [event.kind, ...event.rows.map((row) => row.alert.state)] : [event.kind]);
    }
    expect(seen).toEqual([
      ['all', 'firing', 'pending'],
      ['changed', 'normal'],
      ['broken'],
      ['back'],
      ['changed', 'resolved'],
    ]);
  });

  test('--watch ends with an interrupt', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 500);
    const { code, stdout, asked } = await run(
      ['-c', 'config.json', 'alerts', '--watch'],
      { '/alerts/monitor': feed },
      { cancelled: controller.signal },
    );
    expect([code, asked]).toEqual([0, ['/alerts/monitor?state=firing%2Cresolved']]);
    expect(stdout).not.toContain('resolved');
    expect(stdout.split('\n').length).toBe(4);
  });
});

test('texts', () => {
  expect([0, 5, 60, 125, 3600, 3661, 90_000, 200_000].map(ago)).toEqual([
    '0s',
    '5s',
    '1m',
    '2m',
    '1h',
    '1h 1m',
    '1d 1h',
    '2d 7h',
  ]);
  expect([null, 0, 1234567, 0.1 + 0.2, 1e21].map(numberText)).toEqual(['-', '0', '1234570', '0.3', '1e+21']);
  expect(labelsText({ b: 'x', a: '', c: 'p,q' })).toBe('a="", b=x, c="p,q"');
});

const MODEL = `entities:
  - name: Shop
    type: service
    external_ref: shop
    data_source: metrics
    adhoc_filter: {data_source: metrics, labels: {env: prod}}
    indicators:
      - name: 5xx
        query: sum by (host) (rate(errors_total{region="$region"}[5m]))
        unit: rpm
      - name: Latency
        query: latency_seconds
    alert_rules:
      - name: Too many errors
        indicator: 5xx
        greater_than: 2
        bad_minutes: 3
        total_minutes: 5
        label_filter: {region: eu}
        runbook: {link: "https://runbook.example"}
      - name: Latency spike
        indicator: Latency
        expression: high_spike(2, Latency)
        bad_minutes: 1
        total_minutes: 1
        severity: threat
        mute: true
    notification_channels:
      - {name: ops, type: Slack, severity: breach, mention: [oncall]}
`;

describe('explain', () => {
  const now = NOW;
  const kpi = (name: string, query: string, unit = 'count') => ({
    id: `k-${name}`,
    entity_id: 'e-shop',
    name,
    definition: { query, unit, source: 'levitate' },
  });
  const wireRule = (id: string, change: object) => ({
    id,
    entity_id: 'e-shop',
    rule_name: 'Too many errors',
    primary_indicator: '5xx',
    expression: '5xx',
    condition: 'expr > 2.000000',
    alert_condition: 'count_true(result) >= 3',
    eval_window: 5,
    severity: 'breach',
    expression_args: { '5xx': { id: 'k-5xx', variables: { region: 'eu' } } },
    properties: { description: '', runbook: { link: 'https://runbook.example' } },
    ...change,
  });
  const entity = {
    id: 'e-shop',
    name: 'Shop',
    type: 'service',
    external_ref: 'shop',
    data_source: 'metrics',
    metadata: { adhoc_filter: { data_source: 'metrics', labels: { env: 'prod' } } },
  };
  const state: RuleStateAnswer = {
    state: 'firing',
    health: 'ok',
    last_error: '',
    error_since: null,
    last_minute: now - 60,
    empty_since: null,
    bad_minutes: 3,
    total_minutes: 5,
    recover_minutes: 10,
    query: 'x',
    data_source: 'metrics',
    counts: { normal: 4, pending: 0, firing: 1 },
    total: 5,
    series: [
      {
        labels: { host: 'a' },
        label_hash: 'h',
        state: 'firing',
        minute: 'bad',
        bad_minutes: 4,
        value: 7.25,
        since: now - 300,
        episode_id: 'e',
      },
    ],
    incomplete: [],
  };
  const episode = {
    id: 'e',
    group_id: 'e',
    state: 'firing',
    severity: 'breach',
    labels: { host: 'a' },
    label_hash: 'h',
    first_bad_at: now - 420,
    fired_at: now - 300,
    resolved_at: null,
    duration: 300,
    reason: null,
    value: 9.5,
    late: false,
  };
  const evaluation = (change: object) => ({
    at: now - 60.5,
    minute: now - 60,
    first_minute: now - 60,
    start: now - 900,
    end: now - 60,
    duration: 0.004,
    series: 5,
    samples: 75,
    firing: 1,
    pending: 0,
    error: null,
    warnings: [],
    curl: 'curl -sS http://metrics/api/v1/query_range',
    ...change,
  });
  const base = '/entities/e-shop/alert-rules/r-1';
  const answers = {
    '/entities': { entities: [entity] },
    '/kpis': [
      kpi('5xx', 'sum by (host) (rate(errors_total{region="$region"}[5m]))', 'rpm'),
      kpi('Latency', 'latency_seconds'),
    ],
    '/alert-rules': [wireRule('r-1', {})],
    '/notification_settings': [
      { id: 1, name: 'ops', type: 'slack', global: true },
      {
        id: 2,
        name: 'ops',
        type: 'slack',
        service_fqid: 'e-shop',
        severity: 'breach',
        parent_id: 1,
        mention: ['oncall'],
      },
    ],
    '/datasources': [{ id: 'd', name: 'metrics', is_default: true }],
    [`${base}/state`]: state,
    [`${base}/evaluations`]: {
      query: 'x',
      data_source: 'metrics',
      evaluations: [
        evaluation({}),
        evaluation({ duration: 0.002 }),
        evaluation({ error: 'connection refused', series: 0, samples: 0 }),
      ],
      source_share: 0.125,
      shared_by: 2,
      incomplete: [],
    },
    [`${base}/history`]: (query: URLSearchParams) => {
      const isMonth = !query.has('from');
      return {
        from: now - (isMonth ? 30 : 7) * 86_400,
        to: now,
        total: isMonth ? 3 : 1,
        firing_seconds: isMonth ? 4000 : 300,
        last_fired_at: now - 300,
        episodes: query.get('limit') === '0' ? [] : [episode],
        next: null,
      };
    },
  };
  const explain = (argv: readonly string[], more: Answers = {}) => {
    writeFileSync(path.join(directory, 'model.yaml'), MODEL);
    return run([...argv], { ...answers, ...more });
  };

  test('a rule of the service', async () => {
    const { code, stdout, stderr } = await explain(['-c', 'config.json', 'explain', 'Too many errors']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`Too many errors  breach, Shop (shop)

  Fires, for each series by itself, when "5xx" is greater than 2 rpm in at least 3 of the last 5
  minutes; resolves when that has not been so for 10 minutes in a row.
  Series that fire together are told in one notification.

  Standing      In the service.
  Query         sum by (host) (rate(errors_total{region="eu", env="prod"}[5m]))
  Data source   metrics
  Tells         ops (slack) mentioning oncall
  Runbook       https://runbook.example
  State         firing: 1 series firing, 0 pending, 4 normal
                firing for 5m, 4 of 5 minutes bad, now 7.25  host=a
  Last fired    2026-11-21T06:55:00Z and fires for 5m, worst value 9.5  host=a
  How often     1 time (5m) in 7 days, 3 times (1h 6m) in 30 days
  Costs         5 series, 75 samples, 3 ms an evaluation (mean of the last 2); 12.5 % of the time of its data source; 2 rules share each answer

  Last error, 2026-11-21T06:58:59Z: connection refused
    curl -sS http://metrics/api/v1/query_range
`);
  });

  test('as an event', async () => {
    const { stdout } = await explain(['-c', 'config.json', 'explain', 'Too many errors', '--json']);
    expect(events(stdout).find(({ type }) => type === 'rule_explained')).toMatchObject({
      addr: 'shop/alert_rules/Too many errors',
      entity: { external_ref: 'shop', name: 'Shop', id: 'e-shop' },
      rule: { id: 'r-1', name: 'Too many errors', bad_minutes: 3 },
      standing: 'service_only',
      meaning: [expect.stringContaining('Fires'), expect.any(String)],
      query: 'sum by (host) (rate(errors_total{region="eu", env="prod"}[5m]))',
      data_source: 'metrics',
      channels: [{ name: 'ops', type: 'slack', mention: ['oncall'] }],
      state: { state: 'firing', counts: { firing: 1 } },
      last_fired: { labels: { host: 'a' }, value: 9.5 },
      last_7_days: { episodes: 1, firing_seconds: 300 },
      last_30_days: { episodes: 3, firing_seconds: 4000 },
      cost: { evaluations: 2, series: 5, samples: 75, share: 0.125, shared_by: 2 },
      last_error: { error: 'connection refused' },
    });
  });

  test('a rule of the model, as it stands to the service', async () => {
    const standing = async (argv: readonly string[], more: Answers = {}) => {
      const { stdout, stderr } = await explain(argv, more);
      return [...stdout.matchAll(/^ {2}Standing\s+(.*)$/gm)].map(([, text]) => text)[0] ?? stderr;
    };
    const both = ['-mf', 'model.yaml', '-c', 'config.json', 'explain'];
    expect(await standing([...both, 'Too many errors'])).toBe('In the model and in the service, alike.');
    expect(
      await standing([...both, 'Too many errors'], { '/alert-rules': [wireRule('r-1', { eval_window: 6 })] }),
    ).toContain('not alike');
    expect(await standing([...both, 'Latency spike'])).toBe('In the model only: it is not applied yet.');
    expect(await standing([...both, 'Old'], { '/alert-rules': [wireRule('r-1', { rule_name: 'Old' })] })).toBe(
      'In the service.',
    );
  });

  test('a pattern that is muted, from the model alone, by its address', async () => {
    const { code, stdout, asked } = await explain(['-mf', 'model.yaml', 'explain', 'shop/alert_rules/Latency spike']);
    expect([code, asked]).toEqual([0, []]);
    expect(stdout).toBe(`Latency spike  threat, Shop (shop)

  Fires, for each series by itself, when "Latency" lies more than 3.8 noise widths above the median
  of the hour before it in the last minute; resolves when that has not been so for 10 minutes in a
  row (unless the service is set otherwise).
  A noise width is how far the series moves when nothing happens, learnt from the last 24 hours. The
  tolerance 2 of high_spike makes the limit 3.8 of them (3 + 0.4 × tolerance): a larger one fires
  less easily. What is usual at this time of the day does not count.
  Series that fire together are told in one notification.
  It is muted: it is evaluated, and nobody is told.

  Standing      In the model; the service was not asked (-c).
  Written in    model.yaml:21:15
  Query         latency_seconds{env="prod"}
  Data source   metrics
  Tells         nobody: no channel is attached for the severity threat
`);
  });

  test('names that are nearly right, or not enough', async () => {
    const asking = (...words: string[]) => explain(['-c', 'config.json', 'explain', ...words]);
    expect(await asking('Too many erors')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "Too many errors"?'),
    });
    expect(await asking('Too many errors', '--entity', 'shopp')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Did you mean "shop"?'),
    });
    const twice = {
      '/entities': { entities: [entity, { ...entity, id: 'e-2', external_ref: 'shop-2' }] },
      '/alert-rules': [wireRule('r-1', {}), wireRule('r-2', { entity_id: 'e-2' })],
    };
    const { code, stderr } = await explain(['-c', 'config.json', 'explain', 'Too many errors'], twice);
    expect(code).toBe(1);
    expect(stderr).toContain("obsiac -c config.json explain 'Too many errors' --entity shop-2");
    const chosen = await explain(['-c', 'config.json', 'explain', 'Too many errors', '--entity', 'shop'], twice);
    expect(chosen.code).toBe(0);
  });

  test('a service that tells nothing of states, and a rule that never ran', async () => {
    const lists = Object.fromEntries(Object.entries(answers).filter(([where]) => !where.startsWith(base)));
    writeFileSync(path.join(directory, 'model.yaml'), MODEL);
    const hosted = await run(['-c', 'config.json', 'explain', 'Too many errors'], lists);
    expect(hosted.code).toBe(0);
    expect(hosted.stdout).not.toContain('State');
    const broken = {
      [`${base}/state`]: {
        ...state,
        state: 'normal',
        health: 'err',
        last_error: 'There is no data source "x".',
        error_since: now - 600,
        counts: { normal: 0, pending: 0, firing: 0 },
        series: [],
        incomplete: [{ message: 'Nobody answers.', alert_group_ids: ['e-shop'] }],
      },
      [`${base}/evaluations`]: {
        query: '',
        data_source: '',
        evaluations: [],
        source_share: null,
        shared_by: 1,
        incomplete: [],
      },
      [`${base}/history`]: {
        from: 1,
        to: now,
        total: 0,
        firing_seconds: 0,
        last_fired_at: null,
        episodes: [],
        next: null,
      },
    };
    const { stdout } = await explain(['-c', 'config.json', 'explain', 'Too many errors'], broken);
    expect(stdout).toContain(`  State         normal: 0 series firing, 0 pending, 0 normal; it cannot be evaluated
  Last fired    never
  How often     never in 7 days, never in 30 days
  Costs         not known: no evaluation went well yet

  It cannot be evaluated since 2026-11-21T06:50:00Z: There is no data source "x".

  Nobody answers.
`);
  });
});
