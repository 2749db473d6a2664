/** Opens what takes logs in and keeps them, as the settings say. */
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { unsupportedPlatform } from './engine/index.ts';
import type { LogContext } from './http/api.ts';
import { measureLogStore } from './http/log-store-metrics.ts';
import { ByteBudget } from './intake/byte-budget.ts';
import { createIntake } from './intake/intake.ts';
import { createIntakeMetrics } from './intake/intake-metrics.ts';
import { RejectFile } from './intake/rejects.ts';
import { createLogStore, type EngineOptions } from './log-store/index.ts';
import type { Settings } from './settings/definition.ts';
import { parseRetention } from './settings/retention.ts';

/** Milliseconds that a batch waits for memory before it is refused. */
const PATIENCE = 5000;

/** Opens the spool. The engine is not started: `store.start()` does that, and comes back at once. */
export async function openLogIntake(
  settings: Settings,
  registry: Registry,
  log: FastifyBaseLogger,
  now: () => number,
): Promise<LogContext> {
  const engine = engineOf(settings);
  const unsupported = engine.kind === 'embedded' ? unsupportedPlatform() : undefined;
  if (unsupported !== undefined) log.warn({ reason: unsupported }, 'logs cannot be taken in; alerts work without them');
  const store = await createLogStore({
    dataDirectory: path.join(settings.data_dir, 'logs'),
    engine,
    log,
    spoolBytes: settings.spool_limit,
    minFreeBytes: settings.disk_reserve,
    retention: parseRetention(settings.log_retention),
    queryLimits: { timeout: settings.query_timeout * 1000, memory: Math.floor(settings.engine_memory / 4) },
    now,
  });
  const budget = new ByteBudget({ bytes: settings.intake_memory, patience: PATIENCE });
  measureLogStore(registry, store);
  const intake = createIntake({
    store,
    budget,
    limits: {
      compressed: settings.intake_body_limit,
      batch: settings.intake_batch_limit,
      line: settings.intake_line_limit,
      otlp: settings.otlp_body_limit,
    },
    rejects: new RejectFile(path.join(settings.data_dir, 'logs', 'rejects')),
    metrics: createIntakeMetrics(registry, budget),
    log,
  });
  return { store, intake };
}

function engineOf(settings: Settings): EngineOptions {
  if (settings.clickhouse_url === undefined) return { kind: 'embedded', memoryLimit: settings.engine_memory };
  const cluster = settings.clickhouse_cluster;
  return {
    kind: 'server',
    url: settings.clickhouse_url,
    ...(cluster === undefined ? {} : { cluster: { name: cluster } }),
  };
}
