/** The same rules on a real Prometheus, a real VictoriaMetrics and the service's own metrics: the same samples give the same episodes. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Prometheus, prometheusBinary, startPrometheus } from '../../tasks/prometheus.ts';
import { remoteWriteBodies, type WrittenSeries } from '../../tasks/remote-write.ts';
import { isMissing, useWorlds } from './servers.ts';
import { START, type World } from './world.ts';

const SOAK = process.env['OBSIAC_SOAK'] === '1';
const MINUTES = SOAK ? 240 : 70;
const INSTANCES = SOAK ? 12 : 4;
const SCRAPE = 15_000;
const PORTION = 30;
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));

function randomness(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const random = randomness(seed);

/** True for the minutes of some stretches. */
function stretches(chance: number): boolean[] {
  let isOn = false;
  return Array.from({ length: MINUTES }, () => {
    if (random() < chance) isOn = !isOn;
    return isOn;
  });
}

/**
 * A gauge that stops reporting now and then, and counters of requests and errors. Values stay clear of the thresholds: how the
 * systems round and extrapolate is not what is compared.
 */
function seriesOf(instance: number): WrittenSeries[] {
  const isHigh = stretches(0.12);
  const isGone = stretches(0.05);
  const isFailing = stretches(0.08);
  const times: number[] = [];
  for (let time = (START - 10) * 60_000; time <= (START + MINUTES) * 60_000; time += SCRAPE) times.push(time);
  const at = (line: readonly boolean[], time: number) => line[Math.floor(time / 60_000) - START] ?? false;
  const labels = (name: string) => ({ __name__: name, instance: `i${instance}`, job: 'shop' });
  const kept = times.filter((time) => !at(isGone, time));
  let requests = 0;
  let errors = 0;
  const counted = times.map((time) => {
    requests += 150;
    errors += at(isFailing, time) ? 60 : 1;
    return { requests, errors };
  });
  return [
    { labels: labels('load'), times: kept, values: kept.map((time) => (at(isHigh, time) ? 90 : 10) + (time % 7)) },
    { labels: labels('requests_total'), times, values: counted.map((each) => each.requests) },
    { labels: labels('errors_total'), times, values: counted.map((each) => each.errors) },
  ];
}

const samples = Array.from({ length: INSTANCES }, (_, instance) => seriesOf(instance)).flat();

const RULES: Readonly<Record<string, { query: string; document: Record<string, unknown> }>> = {
  'a gauge, three of five': { query: 'last_over_time(load[1m])', document: { condition: 'expr > 50' } },
  'the mean of a gauge, five of five': {
    query: 'avg(avg_over_time(load[3m]))',
    document: { condition: 'expr > 50', alert_condition: 'count_true(result) >= 5' },
  },
  'a ratio by instance, grouped': {
    query: 'sum by (instance) (rate(errors_total[5m])) / sum by (instance) (rate(requests_total[5m]))',
    document: { condition: 'expr >= 0.15', group_timeseries_notifications: true },
  },
  'how many report, less than': {
    query: 'count(last_over_time(load[1m]))',
    document: { condition: `expr < ${INSTANCES}`, alert_condition: 'count_true(result) >= 2' },
  },
  'a filter in the query': {
    query: 'max_over_time(load[2m]) > 50',
    document: { condition: 'expr != 0', alert_condition: 'count_true(result) >= 1', eval_window: 1 },
  },
  'no signal': {
    query: 'absent(last_over_time(load{instance="i0"}[1m]))',
    document: { condition: 'expr == 1', alert_condition: 'count_true(result) >= 2', eval_window: 3 },
  },
};

const prometheus = await prometheusBinary();

describe.skipIf(isMissing || prometheus.binary === undefined)('the same rules on three data sources', () => {
  const worlds = useWorlds();
  let server: Prometheus;
  let world: World;
  beforeAll(async () => {
    server = await startPrometheus({ binary: prometheus.binary!.path });
    world = await worlds.open({
      settings: { logs: true, disk_reserve: 0, metric_retention: '36500d' },
      channels: ['ops'],
    });
    await worlds.server.write(samples);
    await worlds.server.flush();
    await server.write(samples);
  });
  afterAll(() => server?.stop());

  it(
    `give the same episodes (seed ${seed})`,
    async () => {
      const flavour = 'prometheus';
      const properties = { flavour, evaluation_delay_seconds: 0 };
      await world.call('POST', '/datasources', { name: 'prometheus', url: server.url, properties });
      const own = { flavour: 'embedded', evaluation_delay_seconds: 0 };
      await world.call('POST', '/datasources', { name: 'own', url: '', properties: own });
      const ids = [];
      for (const source of ['metrics', 'prometheus', 'own']) {
        for (const [name, { query, document }] of Object.entries(RULES)) {
          ids.push({ source, name, ...(await world.rule({ rule_name: name, ...document }, { source, query })) });
        }
      }
      for (let minute = 0; minute < MINUTES; minute += PORTION) {
        // Samples more than an hour ahead of the clock are refused.
        const [from, to] = [minute === 0 ? -60 : minute, minute + PORTION];
        await writeEmbedded(world, cut(samples, (START + from) * 60_000, (START + to) * 60_000));
        await world.pass(Math.min(PORTION, MINUTES - minute));
      }
      const found: Record<string, Record<string, string[]>> = {};
      for (const { source, name, entity, rule } of ids) {
        const resource = `/entities/${entity}/alert-rules/${rule}/history?limit=1000&from=${START * 60 - 3600}`;
        const { episodes } = (await world.call('GET', resource)) as { episodes: Episode[] };
        found[source] = { ...found[source], [name]: episodes.map(shown).sort() };
      }
      const total = Object.values(found['metrics']!).flat().length;
      console.log(`seed ${seed}: ${total} episodes of ${Object.keys(RULES).length} rules in ${MINUTES} minutes`);
      expect(total).toBeGreaterThan(MINUTES / 10);
      expect(found['prometheus']).toEqual(found['metrics']);
      expect(found['own']).toEqual(found['metrics']);
    },
    SOAK ? 900_000 : 120_000,
  );
});

interface Episode {
  readonly labels: Readonly<Record<string, string>>;
  readonly fired_at: number;
  readonly resolved_at: number | null;
  readonly reason: string | null;
}

function shown({ labels, fired_at, resolved_at, reason }: Episode): string {
  const minute = (seconds: number | null) => (seconds === null ? 'open' : seconds / 60 - START);
  return `${labels['instance'] ?? ''} ${minute(fired_at)} ${minute(resolved_at)} ${reason ?? ''}`;
}

/** Samples from a time to before another. */
function cut(series: readonly WrittenSeries[], from: number, to: number): WrittenSeries[] {
  return series.map(({ labels, times, values }) => {
    const kept = Array.from(times, (time, index) => ({ time, value: values[index]! })).filter(
      ({ time }) => time >= from && time < to,
    );
    return { labels, times: kept.map(({ time }) => time), values: kept.map(({ value }) => value) };
  });
}

/** The engine takes a moment to start; until then the answer is 503. */
async function writeEmbedded(world: World, series: readonly WrittenSeries[]): Promise<void> {
  const { authorization } = JSON.parse(readFileSync(world.app.intakeFile!, 'utf8')) as { authorization: string };
  const headers = { authorization, 'content-type': 'application/x-protobuf', 'content-encoding': 'snappy' };
  for (const body of remoteWriteBodies(series)) {
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`${world.app.address!.origin}/api/v1/write`, { method: 'POST', body, headers });
      const text = await answer.text();
      if (answer.ok) break;
      if (answer.status !== 503 || tries > 100) throw new Error(`${answer.status} ${text}`);
      await sleep(500);
    }
  }
}
