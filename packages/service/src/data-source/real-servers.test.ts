import type { DataSourceProperties } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MetricsServer } from '../../../../tasks/metrics-server.ts';
import { prometheusBinary, startPrometheus } from '../../../../tasks/prometheus.ts';
import { startVictoriaMetrics, victoriaMetricsBinary } from '../../../../tasks/victoria-metrics.ts';
import { createHttpSource } from './http-source.ts';
import type { SourceClient, SourceError } from './source.ts';

const MINUTE = 60;
/** A whole minute, unix seconds. */
const END = Math.floor(Date.now() / 1000 / MINUTE) * MINUTE - 2 * MINUTE;
const MINUTES = 30;
const START = END - (MINUTES - 1) * MINUTE;
/** More series than fit into an answer that is read at once. */
const MANY = 2500;

async function fill(server: MetricsServer): Promise<void> {
  const at = Array.from({ length: MINUTES }, (_, minute) => (START + minute * MINUTE) * 1000);
  const series = Array.from({ length: MANY }, (_, i) => ({
    labels: { __name__: 'load', instance: `host-${String(i).padStart(4, '0')}` },
    times: at,
    values: at.map((_time, minute) => i + minute / 8),
  }));
  const even = at.filter((_time, minute) => minute % 2 === 0);
  await server.write([
    ...series,
    { labels: { __name__: 'zero', job: 'a"b\\c\nü' }, times: even, values: even.map(() => 0) },
  ]);
}

const prometheus = await prometheusBinary();
const victoria = await victoriaMetricsBinary();

const KINDS = [
  {
    flavour: 'prometheus' as const,
    reason: prometheus.reason,
    prefix: '',
    start: () => startPrometheus({ binary: prometheus.binary!.path, flags: ['--query.max-samples=160000'] }),
    syntaxError: 'parse error',
    tooMuch: 'too many samples',
  },
  {
    flavour: 'victoriametrics' as const,
    reason: victoria.reason,
    prefix: '/prometheus',
    async start() {
      const flags = [`-search.maxUniqueTimeseries=${MANY}`];
      const server = await startVictoriaMetrics({ binary: victoria.binary!.path, flags });
      const write: MetricsServer['write'] = async (series) => {
        await server.write(series);
        await server.flush();
      };
      return { ...server, write };
    },
    syntaxError: 'sum(',
    tooMuch: 'maxUniqueTimeseries',
  },
];

describe.each(KINDS)('a real $flavour', (kind) => {
  describe.skipIf(kind.reason !== undefined)(
    `as a data source${kind.reason ? ` (skipped, ${kind.reason})` : ''}`,
    () => {
      let server: MetricsServer;
      const clients: SourceClient[] = [];
      beforeAll(async () => {
        server = await kind.start();
        await fill(server);
      });
      afterAll(async () => {
        await Promise.all(clients.map((client) => client.close()));
        await server.stop();
      });
      const source = (properties: DataSourceProperties = {}, prefix = kind.prefix) => {
        const client = createHttpSource({
          url: server.url + prefix,
          properties: { flavour: kind.flavour, ...properties },
        });
        clients.push(client);
        return client;
      };
      const ask = (query: string, client = source()) =>
        client.queryRange({ query, start: START, end: END, step: MINUTE, signal: AbortSignal.timeout(30_000) });
      const errorOf = async (asking: Promise<unknown>) => {
        const error: unknown = await asking.catch((thrown: unknown) => thrown);
        return error as SourceError;
      };

      it('answers series, minute by minute', async () => {
        const { series, warnings, bytes } = await ask('load{instance="host-0007"} * 2');
        expect(series).toHaveLength(1);
        expect(series[0]!.labels).toEqual({ instance: 'host-0007' });
        expect(series[0]!.times).toEqual(
          Float64Array.from({ length: MINUTES }, (_, minute) => START + minute * MINUTE),
        );
        expect(series[0]!.values).toEqual(Float64Array.from({ length: MINUTES }, (_, minute) => 14 + minute / 4));
        expect(warnings).toEqual([]);
        expect(bytes).toBeGreaterThan(100);
      });

      it('answers big results as small ones', async () => {
        const { series, bytes } = await ask('load + 0.123456789');
        expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
        expect(series).toHaveLength(MANY);
        for (const { labels, values } of series) {
          expect(values[8]! - 1 - 0.123456789).toBeCloseTo(Number(labels['instance']!.slice(5)), 6);
        }
      });

      it('answers values that are no numbers and labels of every kind', async () => {
        const [inf, label] = await Promise.all([ask('1 / last_over_time(zero[1m])'), ask('last_over_time(zero[1m])')]);
        expect(inf.series[0]!.values[0]).toBe(Number.POSITIVE_INFINITY);
        expect(label.series[0]!.labels['job']).toBe('a"b\\c\nü');
        const nan = await ask('last_over_time(zero[1m]) / 0');
        // VictoriaMetrics leaves out what is not a number.
        expect(nan.series.flatMap(({ values }) => [...values]).every(Number.isNaN)).toBe(true);
        expect(nan.series).toHaveLength(kind.flavour === 'prometheus' ? 1 : 0);
        expect((await ask('absent_metric')).series).toEqual([]);
      });

      it('tells what is wrong with a query in its own words', async () => {
        const error = await errorOf(ask('sum('));
        expect(error).toMatchObject({ code: 'bad_query', isFaultOfTheSource: false });
        expect(error.message).toContain(kind.syntaxError);
        const many = await errorOf(
          ask('sum by (instance) (last_over_time({__name__=~"load|zero"}[1h]) + sum_over_time(load[1h]))'),
        );
        expect(many).toMatchObject({ code: 'bad_query' });
        expect(many.message).toContain(kind.tooMuch);
      });

      it('is not found under another path', async () => {
        expect(await errorOf(ask('load', source({}, '/elsewhere')))).toMatchObject({ code: 'bad_answer' });
      });

      it('remarks on a query without making its answer partial', async () => {
        const { series, warnings } = await ask('quantile(2, load)');
        expect(series).toHaveLength(1);
        if (kind.flavour === 'prometheus') expect(warnings[0]).toMatch(/^PromQL warning: quantile value/);
        else expect(warnings).toEqual([]);
      });

      it('is unreachable once it has ended, also over connections that were kept', async () => {
        const other = await kind.start();
        const client = createHttpSource({ url: other.url + kind.prefix, properties: { flavour: kind.flavour } });
        clients.push(client);
        expect((await ask('load', client)).series).toEqual([]);
        await other.stop();
        expect(await errorOf(ask('load', client))).toMatchObject({ code: 'unreachable', isFaultOfTheSource: true });
      });
    },
  );
});
