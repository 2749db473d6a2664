/** Opens what takes metrics in and answers queries over them and over the logs, as the settings say. */
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import type { LogContext, MetricContext } from './http/api.ts';
import { measureMetricStore } from './http/metric-store-metrics.ts';
import { ByteBudget } from './intake/byte-budget.ts';
import { createMetricStore } from './metric-store/index.ts';
import type { Settings } from './settings/definition.ts';

/** Milliseconds that a request waits for memory before it is refused. */
const PATIENCE = 5000;

/** The metrics are kept in the engine of the logs. `store.start()` begins to delete what is older than it is kept. */
export function openMetrics(
  settings: Settings,
  logs: LogContext,
  registry: Registry,
  log: FastifyBaseLogger,
  now: () => number,
): MetricContext {
  const store = createMetricStore({
    engine: logs.store.engine,
    retentionDays: Number.parseInt(settings.metric_retention, 10),
    queryLimits: { timeout: settings.query_timeout * 1000, memory: Math.floor(settings.engine_memory / 4) },
    readLimits: { series: settings.metric_query_series, samples: settings.metric_query_samples },
    log,
    now,
  });
  const budget = new ByteBudget({ bytes: settings.metric_memory, patience: PATIENCE });
  measureMetricStore(registry, store, budget);
  return { store, budget, limits: { body: settings.metric_body_limit } };
}
