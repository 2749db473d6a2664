/** The metric store: takes samples durably, answers queries over them and over the logs, keeps them as long as it is told. */
import { toStoreError } from '../log-store/index.ts';
import type { IncomingMetrics, Refused } from './incoming.ts';
import { Collector } from './intake/collector.ts';
import { keepTimely } from './intake/timely.ts';
import { createLogReader } from './logs/log-reader.ts';
import type { MetricStoreOptions } from './options.ts';
import { createSampleReader } from './query/sample-reader.ts';
import type { MetricReader } from './reader.ts';
import { type DroppedDay, dropExpiredDays } from './retention.ts';

const DEFAULT_LINGER_MS = 200;
const BATCH_SAMPLES = 100_000;
const INSERT_TIMEOUT_MS = 60_000;
const RETENTION_EVERY_MS = 3_600_000;

/** What became of the samples of a request. */
export interface Written {
  readonly stored: number;
  readonly refused: readonly Refused[];
}

/** Since the start, but for those that wait. */
export interface MetricStoreCounts {
  readonly stored: number;
  readonly refused: number;
  readonly failed: number;
  readonly waiting: number;
}

export interface MetricStore {
  counts(): MetricStoreCounts;
  /** The metrics that were sent. */
  readonly embedded: MetricReader;
  /** The metrics that are computed from the stored logs. */
  readonly logs: MetricReader;
  /** Resolves when the samples are on disk for good. @throws StoreError; then nothing is acknowledged and the sender must try again */
  write(org: string, metrics: IncomingMetrics): Promise<Written>;
  /** Begins to delete what is older than it is kept, every hour. */
  start(): void;
  /** Deletes what is older than it is kept. */
  applyRetention(): Promise<DroppedDay[]>;
  /** Stores what has been taken, then takes no more. */
  stop(): Promise<void>;
}

export function createMetricStore(options: MetricStoreOptions): MetricStore {
  const { engine, queryLimits, readLimits, retentionDays, log, now } = options;
  const asking = { engine, limits: queryLimits };
  const collector = new Collector({
    engine,
    linger: options.linger ?? DEFAULT_LINGER_MS,
    batchSamples: BATCH_SAMPLES,
    timeout: INSERT_TIMEOUT_MS,
    now,
  });
  const counts = { stored: 0, refused: 0, failed: 0, waiting: 0 };
  let timer: NodeJS.Timeout | undefined;
  const applyRetention = async () => {
    engine.requireReady();
    const dropped = await dropExpiredDays(engine, retentionDays, now());
    if (dropped.length > 0) log.info({ dropped }, 'expired samples were deleted');
    return dropped;
  };
  return {
    embedded: createSampleReader(asking, readLimits),
    logs: createLogReader(asking, readLimits),
    write: async (org, metrics) => {
      const { series, refused, samples } = keepTimely(metrics, now(), retentionDays);
      counts.refused += refused.reduce((sum, each) => sum + each.samples, 0);
      counts.waiting += 1;
      try {
        await collector.write({ org, series, metadata: metrics.metadata });
      } catch (error) {
        counts.failed += 1;
        throw error;
      } finally {
        counts.waiting -= 1;
      }
      counts.stored += samples;
      return { stored: samples, refused };
    },
    counts: () => ({ ...counts }),
    start: () => {
      const expire = () => {
        applyRetention().catch((error: unknown) => {
          log.warn({ reason: toStoreError(error).message }, 'expired samples could not be deleted, trying again later');
        });
      };
      engine.whenReady().then(expire, () => undefined);
      timer = setInterval(expire, RETENTION_EVERY_MS);
      timer.unref();
    },
    applyRetention,
    stop: async () => {
      clearInterval(timer);
      await collector.stop();
    },
  };
}
