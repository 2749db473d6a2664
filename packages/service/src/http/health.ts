/** Whether the process lives, and whether it can serve. */
import { sql } from 'kysely';
import { guarded } from '../metadata/store.ts';
import type { Api, Context } from './api.ts';

export function healthRoutes(app: Api, { store, logs }: Pick<Context, 'store' | 'logs'>): void {
  app.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  // Ready while the log engine starts: the API answers, and batches are taken into the spool.
  app.get('/readyz', { schema: { hide: true } }, async () => {
    await guarded(store, () => sql`select 1`.execute(store.db));
    return { status: 'ready', logs: logs ? logDetails(logs.store.status()) : { state: 'disabled' } };
  });
}

function logDetails({ state, spool, loader }: ReturnType<NonNullable<Context['logs']>['store']['status']>) {
  return {
    state: state.phase,
    ...('reason' in state ? { reason: state.reason } : {}),
    spool: {
      batches: spool.batches,
      records: spool.records,
      bytes: spool.bytes,
      limit_bytes: spool.maxBytes,
      oldest_seconds: spoolAge(spool.oldestReceivedAt),
      ...(spool.lastError === undefined ? {} : { last_error: spool.lastError }),
    },
    loader: {
      loaded_records: loader.loadedRecords,
      quarantined_batches: loader.quarantinedBatches,
      ...(loader.lastError === undefined ? {} : { last_error: loader.lastError }),
    },
  };
}

/** Seconds since the oldest waiting batch was received; 0 when none waits. */
export function spoolAge(oldestReceivedAt: string | undefined): number {
  if (oldestReceivedAt === undefined) return 0;
  return Math.max(0, Date.now() - Number(BigInt(oldestReceivedAt) / 1_000_000n)) / 1000;
}
