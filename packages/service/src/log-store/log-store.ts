/** The log store: takes batches durably, loads them into the engine, keeps them as long as it is told, backs them up. */
import { join } from 'node:path';
import {
  type BatchMeta,
  createLoader,
  type Loader,
  type LoaderStatus,
  openSpool,
  type Spool,
  type SpoolStatus,
} from '../spool/index.ts';
import { type Backup, deleteBackup, listBackups, restoreBackup, writeBackup } from './backup.ts';
import { insertBatches, insertSizes, SERVER_SIZES } from './batch-insert.ts';
import type { EngineAccess } from './engine-access.ts';
import { EngineLink, type StoreState } from './engine-link.ts';
import { migrate } from './migrations.ts';
import { DEFAULT_MIN_FREE_BYTES, DEFAULT_RETENTION, DEFAULT_SPOOL_BYTES, type LogStoreOptions } from './options.ts';
import { type DroppedPartition, dropExpired } from './retention.ts';
import { createLogSearch, type LogSearch } from './search/log-search.ts';
import { isLastingInsertError, StoreError, toStoreError } from './store-error.ts';
import { logsTable } from './table.ts';

/** A batch as intake hands it over: delivered lines, or prepared records (`RecordRow` lines). */
export interface LogBatch extends Omit<BatchMeta, 'storedAt'> {
  readonly body: readonly Uint8Array[];
}

export interface LogStoreStatus {
  readonly state: StoreState;
  readonly spool: SpoolStatus;
  readonly loader: LoaderStatus;
}

const SERVER_PARALLEL_INSERTS = 4;
const EMBEDDED_PARALLEL_INSERTS = 2;
const DEFAULT_QUERY_TIMEOUT_MS = 30_000;
const SERVER_QUERY_MEMORY = 2 * 1024 ** 3;
const TAIL_EVERY_MS = 1_000;
const RETENTION_EVERY_MS = 3_600_000;

/** Opens the spool, and knows the engine but does not wait for it: `start` brings it up. */
export async function createLogStore(options: LogStoreOptions): Promise<LogStore> {
  const spool = await openSpool({
    directory: join(options.dataDirectory, 'spool'),
    maxBytes: options.spoolBytes ?? DEFAULT_SPOOL_BYTES,
    minFreeBytes: options.minFreeBytes ?? DEFAULT_MIN_FREE_BYTES,
  });
  return new LogStore(options, spool);
}

export class LogStore {
  readonly #options: LogStoreOptions;
  readonly #spool: Spool;
  readonly #link: EngineLink;
  readonly #search: LogSearch;
  #loader: Loader;
  #retentionTimer: NodeJS.Timeout | undefined;
  #restores = 0;

  /** Use `createLogStore`. */
  constructor(options: LogStoreOptions, spool: Spool) {
    this.#options = options;
    this.#spool = spool;
    this.#link = new EngineLink(options);
    this.#loader = this.#createLoader();
    this.#search = this.#createSearch();
  }

  #createLoader(): Loader {
    const { engine, dataDirectory, log } = this.#options;
    const sizes = engine.kind === 'embedded' ? insertSizes(engine.memoryLimit) : SERVER_SIZES;
    const { groupBytes } = sizes;
    return createLoader({
      spool: this.#spool,
      quarantineDirectory: join(dataDirectory, 'spool-refused'),
      insert: (request, signal) => insertBatches(this.#link.client, this.#link.tables, request, signal, sizes),
      isLasting: isLastingInsertError,
      whenReady: (signal) => this.#link.whenReady(signal),
      // A server may be shared by several services: then only a batch's own token finds one that was delivered to two of them.
      groupBytes,
      parallel: groupBytes > 0 ? EMBEDDED_PARALLEL_INSERTS : SERVER_PARALLEL_INSERTS,
      parallelBytes: groupBytes > 0 ? EMBEDDED_PARALLEL_INSERTS * groupBytes : Number.POSITIVE_INFINITY,
      log,
    });
  }

  /** Starts the engine and the loading, and comes back at once. */
  start(): void {
    this.#link.start();
    this.#loader.start();
    const expire = () => {
      this.applyRetention().catch((error: unknown) => {
        this.#options.log.warn(
          { reason: toStoreError(error).message },
          'expired logs could not be deleted, trying again later',
        );
      });
    };
    this.#link.whenReady().then(expire, () => undefined);
    this.#retentionTimer = setInterval(expire, RETENTION_EVERY_MS);
    this.#retentionTimer.unref();
  }

  status(): LogStoreStatus {
    return { state: this.#link.state(), spool: this.#spool.status(), loader: this.#loader.status() };
  }

  whenReady(signal?: AbortSignal): Promise<void> {
    return this.#link.whenReady(signal);
  }

  /**
   * Resolves when the batch is on disk for good, whether the engine is there or not. Rejects with a SpoolError; then nothing of it is kept
   * and the sender must try again.
   */
  append(batch: LogBatch): Promise<{ readonly duplicate: boolean }> {
    const { body, ...meta } = batch;
    return this.#spool.append(body, { ...meta, storedAt: String(this.#nanoseconds()) });
  }

  /** Resolves when everything appended so far can be found by queries. */
  async loaded(signal?: AbortSignal): Promise<void> {
    await this.#loader.drained(signal);
  }

  /** The searches. They throw `store_unavailable` while the engine is not there. */
  get search(): LogSearch {
    return this.#search;
  }

  #createSearch(): LogSearch {
    const { engine } = this.#options;
    const limits = this.#options.queryLimits ?? {
      timeout: DEFAULT_QUERY_TIMEOUT_MS,
      memory: engine.kind === 'embedded' ? engine.memoryLimit / 4 : SERVER_QUERY_MEMORY,
    };
    // What other services have accepted and not loaded yet is not known here: they get a few seconds more.
    const lag = engine.kind === 'embedded' ? 1_000_000_000n : 5_000_000_000n;
    const watermark = () => {
      const oldest = this.#spool.status().oldestStoredAt;
      const settled = this.#nanoseconds() - lag;
      return oldest !== undefined && BigInt(oldest) < settled ? BigInt(oldest) : settled;
    };
    return createLogSearch(
      {
        connection: { client: this.#link.client, table: logsTable(this.#link.tables), limits },
        watermark,
        wait: (signal) => waitMs(TAIL_EVERY_MS, signal),
      },
      () => this.#requireReady(),
    );
  }

  /** The engine and its tables, for what is kept there beside the logs. */
  get engine(): EngineAccess {
    const { client, tables } = this.#link;
    return {
      client,
      tables,
      requireReady: () => this.#requireReady(),
      whenReady: (signal) => this.#link.whenReady(signal),
      generation: () => this.#restores,
    };
  }

  /** Deletes what is older than it is kept. Runs by itself every hour. */
  async applyRetention(): Promise<DroppedPartition[]> {
    const { retention = DEFAULT_RETENTION, now = Date.now, log } = this.#options;
    this.#requireReady();
    const dropped = await dropExpired(this.#link.client, this.#link.tables, retention, now());
    if (dropped.length > 0) log.info({ dropped }, 'expired logs were deleted');
    return dropped;
  }

  /** Writes what is loaded to `backups/<name>` of the data directory. */
  async backup(name: string): Promise<void> {
    const directory = this.#backupDirectory();
    this.#requireReady();
    await writeBackup(this.#link.client, this.#link.tables, directory, name).catch((error: unknown) => {
      throw toStoreError(error);
    });
  }

  /** Puts the store back to a backup. Loading waits meanwhile; what is in the spool is loaded after it. */
  async restore(name: string): Promise<void> {
    const directory = this.#backupDirectory();
    this.#requireReady();
    await this.#loader.stop();
    try {
      await restoreBackup(this.#link.client, this.#link.tables, directory, name);
      // The backup may be of an earlier version of the service.
      await migrate(this.#link.client, this.#link.tables);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.#restores += 1;
      this.#loader = this.#createLoader();
      this.#loader.start();
    }
  }

  async backups(): Promise<Backup[]> {
    return listBackups(this.#backupDirectory());
  }

  async deleteBackup(name: string): Promise<void> {
    await deleteBackup(this.#backupDirectory(), name);
  }

  async stop(): Promise<void> {
    clearInterval(this.#retentionTimer);
    await this.#loader.stop();
    await this.#link.stop();
    await this.#spool.close();
  }

  #nanoseconds(): bigint {
    return BigInt(Math.round((this.#options.now ?? Date.now)())) * 1_000_000n;
  }

  #backupDirectory(): string {
    if (this.#options.engine.kind === 'server') {
      throw new StoreError('store_unsupported', "Back a ClickHouse server up with the server's own BACKUP");
    }
    return join(this.#options.dataDirectory, 'backups');
  }

  #requireReady(): void {
    const state = this.#link.state();
    if (state.phase === 'ready') return;
    const reason = 'reason' in state ? state.reason : `it is ${state.phase}`;
    throw new StoreError('store_unavailable', `The log store cannot be used: ${reason}`);
  }
}

function waitMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
