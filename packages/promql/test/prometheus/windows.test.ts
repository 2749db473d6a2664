/**
 * The ends of windows, where Prometheus 2 and 3 differ: samples lie exactly on both ends of every window, and each
 * version is asked beside `compat`.
 */
import { describe, expect, test } from 'vitest';
import { prometheusBinary, startPrometheus } from '../../../../tasks/prometheus.ts';
import { labelsOf, labelsRecord } from '../../src/series/labels.ts';
import { MemoryStorage } from '../../src/storage/memory.ts';
import type { SeriesData } from '../../src/storage/storage.ts';
import { askOurs, askPrometheus, difference, type Question } from './compare.ts';

const START = 1_700_000_100_000;
const INTERVAL = 15_000;

function makeData(): SeriesData[] {
  const series = (name: string, value: (i: number) => number | 'stale' | undefined): SeriesData => {
    const steps = Array.from({ length: 240 }, (_, i) => ({ i, value: value(i) })).filter(
      (step) => step.value !== undefined,
    );
    return {
      labels: labelsOf({ __name__: name }),
      times: Float64Array.from(steps, ({ i }) => START + i * INTERVAL),
      values: Float64Array.from(steps, (step) => (step.value === 'stale' ? Number.NaN : step.value!)),
      stale: Uint8Array.from(steps, (step) => (step.value === 'stale' ? 1 : 0)),
    };
  };
  return [
    series('counter', (i) => ((i * 7) % 100) + i / 3),
    series('gaps', (i) => (i % 50 < 22 ? i * 1.5 : undefined)),
    series('stale', (i) => (i % 60 === 30 ? 'stale' : i % 60 > 30 ? undefined : 100 - i)),
  ];
}

const QUERIES = ['counter', 'gaps', 'stale'].flatMap((name) => [
  name,
  `${name} offset 5m`,
  `absent(${name})`,
  ...[
    'rate',
    'increase',
    'delta',
    'irate',
    'deriv',
    'count_over_time',
    'sum_over_time',
    'min_over_time',
    'changes',
  ].flatMap((f) => [`${f}(${name}[15s])`, `${f}(${name}[1m])`, `${f}(${name}[5m] offset 1m)`]),
  `count_over_time(${name}[1m:15s])`,
  `count_over_time(${name}[5m:1m])`,
  `sum_over_time(rate(${name}[1m])[2m:30s])`,
  `quantile_over_time(0.4, ${name}[2m])`,
  `predict_linear(${name}[2m], 60)`,
  `${name}[1m]`,
  `${name}[1m:20s]`,
  `absent_over_time(${name}[1m])`,
]);

for (const major of [2, 3] as const) {
  const { binary, reason } = await prometheusBinary(major);
  describe.skipIf(reason !== undefined)(`beside Prometheus ${major}${reason ? ` (skipped, ${reason})` : ''}`, () => {
    test('windows with samples on their ends', async () => {
      const data = makeData();
      const storage = new MemoryStorage().add(data);
      const server = await startPrometheus({ binary: binary!.path });
      let otherwise = 0;
      try {
        await server.write(data.map((series) => ({ ...series, labels: labelsRecord(series.labels) })));
        for (const query of QUERIES) {
          const all: Question[] = [30, 90, 121].map((i) => ({ kind: 'instant', query, time: START + i * INTERVAL }));
          all.push({ kind: 'range', query, start: START, end: START + 250 * INTERVAL, step: INTERVAL });
          for (const question of all) {
            const theirs = await askPrometheus(question, server);
            const what = difference(question, await askOurs(question, storage, major), theirs);
            expect(what && `${query}: ${what}`).toBeUndefined();
            if (difference(question, await askOurs(question, storage, major === 2 ? 3 : 2), theirs)) otherwise++;
          }
        }
      } finally {
        await server.stop();
      }
      // The other setting gives other answers, so the switch is what made them agree.
      expect(otherwise).toBeGreaterThan(QUERIES.length);
    });
  });
}
