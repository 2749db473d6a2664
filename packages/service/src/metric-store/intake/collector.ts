/** Gathers the requests of a moment and stores them together: a request is done when the engine has its samples on disk. */
import { Readable } from 'node:stream';
import type { ClickHouseSettings } from '@clickhouse/client';
import { type EngineAccess, StoreError, toStoreError } from '../../log-store/index.ts';
import { type MetricTable, metricTable } from '../table.ts';
import { buildBatch, type WriteRequest } from './batch.ts';
import { KnownSeries } from './known-series.ts';
import type { RowWriter } from './row-writer.ts';

export interface CollectorOptions {
  readonly engine: EngineAccess;
  /** Milliseconds that the first request of a batch waits for others. */
  readonly linger: number;
  /** Samples after which a batch goes out without waiting. */
  readonly batchSamples: number;
  /** Milliseconds that an insert may take. */
  readonly timeout: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

interface Waiting extends WriteRequest {
  readonly samples: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The insert is done when every shard and a majority of its replicas have it. */
const CLUSTER_SETTINGS = { distributed_foreground_insert: 1, insert_quorum: 'auto' };

export class Collector {
  readonly #options: CollectorOptions;
  readonly #known = new KnownSeries();
  #waiting: Waiting[] = [];
  #samples = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The insert under way: there is one at a time, so that what comes meanwhile makes one batch. */
  #running: Promise<void> | undefined;
  #version = 0;
  #stopped = false;

  constructor(options: CollectorOptions) {
    this.#options = options;
  }

  /** Resolves when everything of the request is stored for good. @throws StoreError; then the sender must try again */
  write(request: WriteRequest): Promise<void> {
    if (this.#stopped) return Promise.reject(new StoreError('store_unavailable', 'The service is stopping'));
    const samples = request.series.reduce((sum, { times }) => sum + times.length, 0);
    if (samples === 0 && request.metadata.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...request, samples, resolve, reject });
      this.#samples += samples;
      this.#schedule();
    });
  }

  /** Stores what is waiting, then takes no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    while (this.#running !== undefined || this.#waiting.length > 0) {
      this.#flush();
      await this.#running;
    }
  }

  #schedule(): void {
    if (this.#samples >= this.#options.batchSamples) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), this.#options.linger);
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #flush(): void {
    // What waits while an insert runs is scheduled anew when that ends.
    this.#unschedule();
    if (this.#running !== undefined || this.#waiting.length === 0) return;
    const requests = this.#take();
    this.#running = this.#store(requests).then(
      () => this.#settle(requests, ({ resolve }) => resolve()),
      (error: unknown) => this.#settle(requests, ({ reject }) => reject(toStoreError(error))),
    );
  }

  /** The first requests that make a batch. One that is larger than a batch goes alone. */
  #take(): Waiting[] {
    const taken: Waiting[] = [];
    let samples = 0;
    for (const request of this.#waiting) {
      if (taken.length > 0 && samples + request.samples > this.#options.batchSamples) break;
      taken.push(request);
      samples += request.samples;
    }
    this.#waiting = this.#waiting.slice(taken.length);
    this.#samples -= samples;
    return taken;
  }

  #settle(requests: readonly Waiting[], outcome: (request: Waiting) => void): void {
    this.#running = undefined;
    for (const request of requests) outcome(request);
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #store(requests: readonly Waiting[]): Promise<void> {
    const { engine, now } = this.#options;
    engine.requireReady();
    this.#known.follow(engine.generation());
    // Microseconds: later than what an earlier run of the service has written, as long as the clock is.
    const first = Math.max(this.#version, Math.round(now() * 1000));
    const { batch, version } = await buildBatch(requests, this.#known, first);
    this.#version = version;
    // A series without samples is of no harm, samples without their series would be lost.
    await this.#insert('metric_series', 'org, day, name, id, names, values, version', batch.series);
    for (const [day, key] of batch.newSeries) this.#known.add(day, key);
    await this.#insert('metric_metadata', 'org, name, type, help, unit, version', batch.metadata);
    await this.#insert('metric_samples', 'org, id, time, value, stale, version', batch.samples);
  }

  async #insert(table: MetricTable, columns: string, rows: RowWriter): Promise<void> {
    if (rows.length === 0) return;
    const { client, tables } = this.#options.engine;
    const { stream } = await client.exec({
      query: `INSERT INTO ${metricTable(tables, table)} (${columns}) FORMAT RowBinary`,
      values: Readable.from([rows.bytes()], { objectMode: false }),
      abort_signal: AbortSignal.timeout(this.#options.timeout),
      clickhouse_settings: {
        max_partitions_per_insert_block: '0',
        ...(tables.cluster === undefined ? {} : CLUSTER_SETTINGS),
      } as ClickHouseSettings,
    });
    stream.resume();
    await new Promise<void>((resolve, reject) => stream.once('end', resolve).once('error', reject));
  }
}
