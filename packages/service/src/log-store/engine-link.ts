/** The store's connection to its engine: starts the embedded one or finds the server, brings the tables up to date, tells the state. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import { createEngineClient, createEngineSupervisor, type EngineSupervisor } from '../engine/index.ts';
import { migrate } from './migrations.ts';
import type { LogStoreOptions } from './options.ts';
import { StoreError, toStoreError } from './store-error.ts';
import type { TableOptions } from './table.ts';

/** `failed` will not pass by itself; `unavailable` may, and is tried again. */
export type StoreState =
  | { readonly phase: 'starting' }
  | { readonly phase: 'ready' }
  | { readonly phase: 'unavailable'; readonly reason: string }
  | { readonly phase: 'failed'; readonly reason: string }
  | { readonly phase: 'stopped' };

const REQUEST_TIMEOUT_MS = 600_000;
const MAX_CONNECTIONS = 32;
/** Inserts at once in the embedded engine: one more than the loading of logs takes, so that samples do not wait for it. */
const WRITERS = 3;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;

export class EngineLink {
  readonly client: ClickHouseClient;
  readonly tables: TableOptions;
  readonly #options: LogStoreOptions;
  readonly #supervisor: EngineSupervisor | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #stopping = new AbortController();
  #state: StoreState = { phase: 'stopped' };
  /** Tables are up to date: asked once, since only this service changes them. */
  #migrated = false;
  #connecting: Promise<void> | undefined;

  constructor(options: LogStoreOptions) {
    this.#options = options;
    const database = options.database ?? 'obsiac';
    const { engine } = options;
    const clientOptions = { requestTimeout: REQUEST_TIMEOUT_MS, maxConnections: MAX_CONNECTIONS };
    if (engine.kind === 'server') {
      this.tables = { database, ...(engine.cluster === undefined ? {} : { cluster: engine.cluster }) };
      this.client = createEngineClient({ url: engine.url }, clientOptions);
      return;
    }
    this.tables = { database };
    this.#supervisor = createEngineSupervisor({
      dataDirectory: join(options.dataDirectory, 'engine'),
      backupDirectory: join(options.dataDirectory, 'backups'),
      memoryLimit: engine.memoryLimit,
      writers: WRITERS,
      log: options.log,
      onState: () => this.#engineChanged(),
    });
    this.client = createEngineClient({ socketPath: this.#supervisor.socketPath }, clientOptions);
  }

  start(): void {
    this.#enter({ phase: 'starting' });
    if (this.#supervisor === undefined) this.#connect();
    else this.#supervisor.start();
  }

  state(): StoreState {
    return this.#state;
  }

  /** Resolves when the store can be used. Rejects when it failed for good, was stopped, or the signal aborts. */
  whenReady(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (outcome: () => void) => {
        this.#listeners.delete(look);
        signal?.removeEventListener('abort', aborted);
        outcome();
      };
      const aborted = () => finish(() => reject(signal?.reason as Error));
      const look = () => {
        const state = this.#state;
        if (state.phase === 'ready') finish(resolve);
        else if (state.phase === 'failed') finish(() => reject(new StoreError('store_unsupported', state.reason)));
        else if (state.phase === 'stopped')
          finish(() => reject(new StoreError('store_unavailable', 'The store is stopped')));
      };
      if (signal?.aborted === true) {
        reject(signal.reason as Error);
        return;
      }
      this.#listeners.add(look);
      signal?.addEventListener('abort', aborted, { once: true });
      look();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new StoreError('store_unavailable', 'The store is stopped'));
    this.#enter({ phase: 'stopped' });
    // First, so that nothing waits for a server that does not answer.
    await this.client.close();
    await this.#connecting;
    await this.#supervisor?.stop();
  }

  #engineChanged(): void {
    const state = this.#supervisor?.state();
    if (state === undefined || this.#stopping.signal.aborted) return;
    switch (state.phase) {
      case 'ready':
        this.#connect();
        break;
      case 'restarting':
        this.#enter({ phase: 'unavailable', reason: state.reason });
        break;
      case 'failed':
        this.#enter({ phase: 'failed', reason: state.reason });
        break;
      default:
        break;
    }
  }

  /** Brings the tables up to date, trying until it works, then says that the store is ready. */
  #connect(): void {
    this.#connecting ??= this.#tryToConnect().finally(() => {
      this.#connecting = undefined;
    });
  }

  async #tryToConnect(): Promise<void> {
    for (let wait = FIRST_RETRY_MS; !this.#stopping.signal.aborted; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      try {
        await this.#prepare();
        if (this.#engineIsThere()) this.#enter({ phase: 'ready' });
        return;
      } catch (error) {
        const refusal = toStoreError(error);
        if (refusal.code === 'schema_too_new') {
          this.#enter({ phase: 'failed', reason: refusal.message });
          return;
        }
        this.#options.log.warn({ reason: refusal.message, retryInMs: wait }, 'the log store cannot be prepared yet');
        this.#enter({ phase: 'unavailable', reason: refusal.message });
      }
      // The embedded engine's own return starts this again.
      if (!this.#engineIsThere()) return;
      await sleep(wait, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  #engineIsThere(): boolean {
    return this.#supervisor === undefined || this.#supervisor.state().phase === 'ready';
  }

  async #prepare(): Promise<void> {
    if (this.#migrated) {
      const { success } = await this.client.ping();
      if (!success) throw new StoreError('store_unavailable', 'The log store does not answer');
      return;
    }
    const taken = await migrate(this.client, this.tables);
    if (taken.length > 0) this.#options.log.info({ versions: taken }, "the log store's tables were brought up to date");
    this.#migrated = true;
  }

  #enter(state: StoreState): void {
    if (this.#stopping.signal.aborted && state.phase !== 'stopped') return;
    this.#state = state;
    for (const listener of [...this.#listeners]) listener();
  }
}
