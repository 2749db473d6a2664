/** What the log store says of itself in `/metrics`. */
import { Gauge, type Registry } from 'prom-client';
import type { LogStore, LogStoreStatus } from '../log-store/index.ts';
import { spoolAge } from './health.ts';

const PHASES = ['starting', 'ready', 'unavailable', 'failed', 'stopped'] as const;

const VALUES: readonly (readonly [name: string, help: string, value: (status: LogStoreStatus) => number])[] = [
  ['obsiac_spool_bytes', 'Bytes of the spool of accepted batches.', ({ spool }) => spool.bytes],
  ['obsiac_spool_limit_bytes', 'Bytes after which batches are refused.', ({ spool }) => spool.maxBytes],
  ['obsiac_spool_batches', 'Accepted batches that wait for the log engine.', ({ spool }) => spool.batches],
  ['obsiac_spool_records', 'Accepted records that wait for the log engine.', ({ spool }) => spool.records],
  [
    'obsiac_spool_oldest_seconds',
    'Time that the oldest waiting batch has waited: how far search is behind.',
    ({ spool }) => spoolAge(spool.oldestReceivedAt),
  ],
  ['obsiac_log_records_loaded', 'Records loaded since the start.', ({ loader }) => loader.loadedRecords],
  [
    'obsiac_log_batches_quarantined',
    'Batches that the engine refused for good, set aside since the start.',
    ({ loader }) => loader.quarantinedBatches,
  ],
];

export function measureLogStore(registry: Registry, store: LogStore): void {
  const registers = [registry];
  for (const [name, help, value] of VALUES) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(store.status()));
      },
    });
  }
  new Gauge({
    name: 'obsiac_log_engine_state',
    help: '1 for the state that the log engine is in.',
    labelNames: ['state'],
    registers,
    collect() {
      const { phase } = store.status().state;
      for (const state of PHASES) this.set({ state }, state === phase ? 1 : 0);
    },
  });
}
