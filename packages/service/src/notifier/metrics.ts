/** What `/metrics` tells of the notifier. */

import { sql } from 'kysely';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Store } from '../metadata/store.ts';
import type { Recorded } from './deliver/record.ts';

const LATENCY_BUCKETS = [0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200, 86_400];
const ATTEMPT_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface NotifierMetrics {
  attempt(receiver: string, result: Recorded, seconds: number): void;
  /** @param seconds from the outbox to the receiver */
  delivered(receiver: string, seconds: number): void;
}

export function createNotifierMetrics(registry: Registry, store: Store): NotifierMetrics {
  outboxGauges(registry, store);
  const attempts = new Counter({
    name: 'obsiac_notifications_total',
    help: 'Attempts to deliver a message, by how they ended: delivered, retried (to be tried again), dead, taken_over.',
    labelNames: ['receiver', 'result'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'obsiac_notification_attempt_duration_seconds',
    help: 'Time of one attempt.',
    labelNames: ['receiver'],
    buckets: ATTEMPT_BUCKETS,
    registers: [registry],
  });
  const latency = new Histogram({
    name: 'obsiac_notification_latency_seconds',
    help: 'Time from the outbox to the receiver, with all attempts.',
    labelNames: ['receiver'],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  return {
    attempt: (receiver, result, seconds) => {
      attempts.inc({ receiver, result });
      duration.observe({ receiver }, seconds);
    },
    delivered: (receiver, seconds) => latency.observe({ receiver }, seconds),
  };
}

/** Read from the store when somebody asks; all processes tell the same. */
function outboxGauges(registry: Registry, store: Store): void {
  // Both are asked for at once, and one look answers them.
  let looking: Promise<Waiting | undefined> | undefined;
  const look = () => {
    looking ??= outbox(store)
      .catch(() => undefined)
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  new Gauge({
    name: 'obsiac_outbox_pending',
    help: 'Messages that are to be delivered.',
    registers: [registry],
    async collect() {
      const waiting = await look();
      if (waiting) this.set(waiting.count);
    },
  });
  new Gauge({
    name: 'obsiac_outbox_oldest_pending_seconds',
    help: 'Age of the oldest message that is not delivered; 0 when there is none.',
    registers: [registry],
    async collect() {
      const waiting = await look();
      if (waiting) this.set(waiting.oldest === null ? 0 : Math.max(0, store.now() - waiting.oldest) / 1000);
    },
  });
}

interface Waiting {
  readonly count: number;
  /** Unix milliseconds. */
  readonly oldest: number | null;
}

async function outbox({ db }: Store): Promise<Waiting> {
  const row = await db
    .selectFrom('alert_notifications')
    .select((select) => [select.fn.countAll<number>().as('count'), select.fn.min('created_at').as('oldest')])
    .where('status', '=', sql.lit('pending' as const))
    .executeTakeFirstOrThrow();
  return { count: Number(row.count), oldest: row.oldest === null ? null : Number(row.oldest) };
}
