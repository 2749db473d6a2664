/**
 * The same rules over the same samples in Prometheus, in VictoriaMetrics and in the service itself: the same messages in the same
 * minutes. And rules over the logs that the service keeps.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { prometheusBinary, startPrometheus } from '../../tasks/prometheus.ts';
import { remoteWriteBodies, type WrittenSeries } from '../../tasks/remote-write.ts';
import { isMissing, useWorlds } from './servers.ts';
import { line, START, type World } from './world.ts';

const worlds = useWorlds();
const prometheus = await prometheusBinary();

const MINUTES = 46;
const OWN = {
  logs: true,
  disk_reserve: 0,
  engine_memory: 1_073_741_824,
  log_retention: '36500d',
  metric_retention: '36500d',
} as const;

interface Intake {
  readonly endpoint: string;
  readonly authorization: string;
}

async function send(world: World, where: string, body: string | Uint8Array<ArrayBuffer>, type: string): Promise<void> {
  const { endpoint, authorization } = JSON.parse(readFileSync(world.app.intakeFile!, 'utf8')) as Intake;
  const encoding = type === 'application/x-protobuf' ? { 'content-encoding': 'snappy' } : {};
  const headers = { authorization, 'content-type': type, ...encoding };
  const answer = await fetch(`${endpoint}${where}`, { method: 'POST', body, headers });
  if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
}

/** Every 15 seconds a sample; `perMinute` says how much the counter grows in each minute. */
function counter(name: string, perMinute: (minute: number) => number): WrittenSeries {
  const times: number[] = [];
  const values: number[] = [];
  let total = 0;
  for (let quarter = -40; quarter <= MINUTES * 4; quarter++) {
    total += perMinute(Math.ceil(quarter / 4)) / 4;
    times.push((START * 4 + quarter) * 15_000);
    values.push(total);
  }
  return { labels: { __name__: name, job: 'api' }, times, values };
}

function gauge(host: string, text: string): WrittenSeries {
  const kept = line(text)
    .map((value, index) => ({ value, time: (START + index) * 60_000 }))
    .filter(({ value }) => !Number.isNaN(value));
  return {
    labels: { __name__: 'queue', job: 'api', host },
    times: kept.map(({ time }) => time),
    values: kept.map(({ value }) => value),
  };
}

const SERIES: readonly WrittenSeries[] = [
  gauge('a', 'g*5b*6g*10...b*5g*31'),
  gauge('b', 'g*20b*4.........g*27'),
  gauge('c', `${'bgg'.repeat(8)}g*36`),
  counter('requests_total', () => 600),
  counter('errors_total', (minute) => (minute > 15 && minute <= 25 ? 120 : minute > 40 ? 200 : 6)),
];

/** The part of the samples that belongs to a minute. */
function within(minute: number): WrittenSeries[] {
  const from = (START + minute - 1) * 60_000;
  return SERIES.map((series) => {
    const chosen = Array.from(series.times, (time, index) => ({ time, value: series.values[index]! })).filter(
      ({ time }) => time <= from + 60_000 && (time > from || minute === 0),
    );
    return { ...series, times: chosen.map(({ time }) => time), values: chosen.map(({ value }) => value) };
  }).filter(({ times }) => times.length > 0);
}

/** Far from its threshold in every minute: `rate` differs by some percent where a counter changes its pace within the window. */
const RATIO = '100 * sum by (job) (rate(errors_total[2m])) / sum by (job) (rate(requests_total[2m]))';
const RULES = [
  { name: 'each', query: 'last_over_time(queue[1m])', condition: '> 5', bad: 3, total: 5 },
  { name: 'worst', query: 'max by (job) (last_over_time(queue[1m]))', condition: '>= 9', bad: 2, total: 4 },
  { name: 'ratio', query: RATIO, condition: '> 5', bad: 3, total: 5 },
  { name: 'absent', query: 'absent(last_over_time(queue{host="b"}[1m]))', condition: '== 1', bad: 2, total: 3 },
  { name: 'few', query: 'count(last_over_time(queue[1m]))', condition: '< 3', bad: 2, total: 2 },
] as const;

describe.skipIf(isMissing || prometheus.binary === undefined)('three kinds of data source', () => {
  it('give the same alerts on the same samples', async () => {
    const other = await startPrometheus({ binary: prometheus.binary!.path });
    try {
      const world = await worlds.open({ channels: ['hook'], settings: OWN });
      await world.app.logs!.store.whenReady(AbortSignal.timeout(60_000));
      const delay = { evaluation_delay_seconds: 0 };
      const prom = { name: 'prom', url: other.url, properties: { flavour: 'prometheus', ...delay } };
      await world.call('POST', '/datasources', prom);
      await world.call('POST', '/datasources', { name: 'own', url: '', properties: { flavour: 'embedded', ...delay } });
      await worlds.server.write(SERIES);
      await worlds.server.flush();
      await other.write(SERIES);
      const sources = { metrics: 'metrics', prom: 'prom', own: 'own' };
      for (const source of Object.values(sources)) {
        for (const { name, query, condition, bad, total } of RULES) {
          const document = {
            rule_name: `${source} ${name}`,
            condition: `expr ${condition}`,
            alert_condition: `count_true(result) >= ${bad}`,
            eval_window: total,
          };
          await world.rule(document, { query, source });
        }
      }
      for (let minute = 0; minute < MINUTES; minute++) {
        for (const body of remoteWriteBodies(within(minute))) {
          await send(world, '/api/v1/write', body as Uint8Array<ArrayBuffer>, 'application/x-protobuf');
        }
        await world.pass(1);
      }
      const told = (source: string) =>
        Object.fromEntries(
          RULES.map(({ name }) => [name, world.heard({ channel: 'hook', rule: `${source} ${name}` })]),
        );
      const reference = told('prom');
      expect(told('metrics')).toEqual(reference);
      expect(told('own')).toEqual(reference);
      // And these are not empty.
      expect(reference['each']).toEqual([
        '7 trigger host=a, job=api',
        '15 resolve host=a, job=api',
        '22 trigger host=b, job=api',
        '26 trigger host=a, job=api',
        '30 resolve host=b, job=api',
        '33 resolve host=a, job=api',
      ]);
      // It was absent before the first sample, too.
      expect(reference['absent']).toEqual(['0 trigger', '4 resolve', '25 trigger', '37 resolve']);
      expect(reference['ratio']).toHaveLength(3);
    } finally {
      await other.stop();
    }
  });
});

describe.skipIf(isMissing)('the logs as a data source', () => {
  it('alert on the share of errors that the edge answered', async () => {
    const world = await worlds.open({ channels: ['pager'], settings: OWN });
    await world.app.logs!.store.whenReady(AbortSignal.timeout(60_000));
    const properties = { flavour: 'logs', evaluation_delay_seconds: 0 };
    await world.call('POST', '/datasources', { name: 'edge', url: '', properties });
    const query = '100 * sum(rate(edge_requests_total{status_class="5xx"}[2m])) / sum(rate(edge_requests_total[2m]))';
    await world.rule({ rule_name: 'edge errors' }, { query, source: 'edge' });
    for (let minute = 0; minute < 30; minute++) {
      const failed = minute >= 10 && minute < 15 ? 10 : 1;
      const requests = Array.from({ length: 40 }, (_, index) => requestAt(minute, index, index < failed ? 503 : 200));
      await send(world, '/cloudflare?dataset=http_requests', `${requests.join('\n')}\n`, 'text/plain');
      await world.app.logs!.store.loaded(AbortSignal.timeout(60_000));
      await world.pass(1);
    }
    // Over two minutes the share is above 5 % from 10 to 15; met from 12 to 17.
    expect(world.heard({ channel: 'pager', rule: 'edge errors' })).toEqual(['12 trigger', '20 resolve']);
  });
});

/** A record as Logpush delivers it, of the minute that ends at `minute`. */
function requestAt(minute: number, index: number, status: number): string {
  const start = ((START + minute - 1) * 60 + 1 + index) * 1_000_000_000;
  return JSON.stringify({
    EdgeStartTimestamp: start,
    EdgeEndTimestamp: start + 5_000_000,
    EdgeResponseStatus: status,
    ClientRequestHost: 'shop.example.com',
    ClientRequestMethod: 'GET',
    ClientRequestURI: `/basket/${index}`,
    RayID: `ray${minute}x${index}`.padEnd(16, '0'),
    ZoneName: 'shop.example.com',
  });
}
