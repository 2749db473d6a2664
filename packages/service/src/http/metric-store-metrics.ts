/** What the metric store says of itself in `/metrics`. */
import { Gauge, type Registry } from 'prom-client';
import type { ByteBudget } from '../intake/byte-budget.ts';
import type { MetricStore, MetricStoreCounts } from '../metric-store/index.ts';

const COUNTS: readonly (readonly [name: string, help: string, value: (counts: MetricStoreCounts) => number])[] = [
  ['obsiac_metric_samples_stored', 'Samples stored since the start.', ({ stored }) => stored],
  ['obsiac_metric_samples_refused', 'Samples that were not kept, since the start.', ({ refused }) => refused],
  ['obsiac_metric_requests_waiting', 'Requests whose samples wait to be stored.', ({ waiting }) => waiting],
  [
    'obsiac_metric_requests_failed',
    'Requests whose samples could not be stored, since the start.',
    ({ failed }) => failed,
  ],
];

export function measureMetricStore(registry: Registry, store: MetricStore, budget: ByteBudget): void {
  const registers = [registry];
  for (const [name, help, value] of COUNTS) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(store.counts()));
      },
    });
  }
  new Gauge({
    name: 'obsiac_metric_memory_bytes',
    help: 'Bytes that requests with metrics hold.',
    registers,
    collect() {
      this.set(budget.used);
    },
  });
}
