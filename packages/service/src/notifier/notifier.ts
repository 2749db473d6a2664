/** Delivers what waits in the outbox: the process' own loop, and one round of it for whoever has another clock. */
import { randomUUID } from 'node:crypto';
import type { NotificationMessage } from '@obsiac/api';
import type { FastifyBaseLogger } from 'fastify';
import type { Registry } from 'prom-client';
import { Agent, type Dispatcher } from 'undici';
import type { Store } from '../metadata/store.ts';
import { tellAbandonedEnds } from './abandoned.ts';
import { backoff } from './deliver/backoff.ts';
import { readChannel } from './deliver/channel.ts';
import { CLAIM_FOR, type ClaimedRow, claimDue } from './deliver/claim.ts';
import { createPace } from './deliver/pace.ts';
import { type Recorded, recordResult } from './deliver/record.ts';
import { type SendResult, send } from './deliver/send.ts';
import { createNotifierMetrics } from './metrics.ts';
import { pruneOutbox } from './prune.ts';
import type { ReceiverAddresses } from './receivers/receiver.ts';

export interface Notifier {
  /** Begins to deliver, and goes on until `stop`. */
  start(): void;
  /** Lets attempts under way end, and starts no other. */
  stop(): Promise<void>;
  /** Delivers all that is due now; attempts that fail are due again later. @returns how the attempts ended */
  deliverDue(): Promise<Readonly<Record<Recorded, number>>>;
}

export interface NotifierOptions {
  readonly store: Store;
  readonly log: FastifyBaseLogger;
  readonly registry: Registry;
  readonly settings: ReceiverAddresses;
  /** Names this process among others; made up unless given. */
  readonly id?: string;
  /** How requests are sent. */
  readonly dispatcher?: Dispatcher;
  /** Milliseconds for an attempt. */
  readonly timeout?: number;
  /** From 0 to below 1. */
  readonly random?: () => number;
}

/** Attempts under way at once. */
const CONCURRENCY = 16;

/** Milliseconds between two looks into the outbox. */
const POLL = 1000;
const TELL_EVERY = 60_000;
const PRUNE_EVERY = 3_600_000;

/** Milliseconds for an attempt and for its connection. */
export const ATTEMPT_TIMEOUT = 10_000;
const CONNECT_TIMEOUT = 5000;

export function createAgent(): Agent {
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT },
    headersTimeout: ATTEMPT_TIMEOUT,
    bodyTimeout: ATTEMPT_TIMEOUT,
  });
}

export function createNotifier(options: NotifierOptions): Notifier {
  const agent = options.dispatcher === undefined ? createAgent() : undefined;
  const work = new Work({ ...options, dispatcher: options.dispatcher ?? agent! });
  const chores = createChores(options);
  let timer: NodeJS.Timeout | undefined;
  const tick = async (): Promise<void> => {
    await work.pump();
    await chores();
  };
  return {
    start: () => {
      timer ??= setInterval(() => void tick(), POLL);
    },
    stop: async () => {
      clearInterval(timer);
      timer = undefined;
      await work.stop();
      if (agent && !agent.closed && !agent.destroyed) await agent.close();
    },
    deliverDue: async () => {
      await chores();
      return work.deliverDue();
    },
  };
}

/** What is to be done now and then, whoever does it. */
function createChores({ store, log }: NotifierOptions): () => Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY;
  let prunedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = store.now();
    try {
      if (now - toldAt >= TELL_EVERY) {
        toldAt = now;
        await tellAbandonedEnds(store);
      }
      if (now - prunedAt < PRUNE_EVERY) return;
      prunedAt = now;
      await pruneOutbox(store.db, now);
    } catch (error) {
      log.warn(error, 'the outbox cannot be tidied now');
    }
  };
}

class Work {
  readonly #options: NotifierOptions & { readonly dispatcher: Dispatcher };
  readonly #id: string;
  readonly #pace = createPace();
  readonly #metrics: ReturnType<typeof createNotifierMetrics>;
  readonly #inFlight = new Set<Promise<void>>();
  #claims = 0;
  #pumping: Promise<number> | undefined;
  #stopped = false;
  #counts: Record<Recorded, number> = none();

  constructor(options: NotifierOptions & { readonly dispatcher: Dispatcher }) {
    this.#options = options;
    this.#id = options.id ?? randomUUID();
    this.#metrics = createNotifierMetrics(options.registry, options.store);
  }

  async deliverDue(): Promise<Record<Recorded, number>> {
    this.#counts = none();
    for (;;) {
      // Only a look into the outbox that nothing else goes on beside can say that there is nothing to do.
      const isAlone = this.#inFlight.size === 0 && this.#pumping === undefined;
      const claimed = await this.pump();
      if (isAlone && claimed === 0) return this.#counts;
      if (this.#inFlight.size > 0) await Promise.race(this.#inFlight);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#pumping;
    await Promise.all(this.#inFlight);
  }

  /** Starts attempts as far as there is room. One look at a time; never throws. @returns how many */
  pump(): Promise<number> {
    this.#pumping ??= this.#claim().finally(() => {
      this.#pumping = undefined;
    });
    return this.#pumping;
  }

  async #claim(): Promise<number> {
    const { store, log } = this.#options;
    const most = CONCURRENCY - this.#inFlight.size;
    if (most <= 0 || this.#stopped) return 0;
    this.#claims += 1;
    try {
      const claim = `${this.#id}#${this.#claims}`;
      const rows = await claimDue(store, this.#pace, { claim, most, nowMs: store.now() });
      for (const row of rows) this.#launch(row);
      return rows.length;
    } catch (error) {
      log.warn(error, 'the outbox cannot be read now');
      return 0;
    }
  }

  #launch(row: ClaimedRow): void {
    const attempt = this.#attempt(row)
      .catch((error: unknown) => this.#options.log.error(error, 'an attempt to notify failed'))
      .finally(() => {
        this.#inFlight.delete(attempt);
        // Its place is free, and so may be what waited for it.
        if (!this.#stopped) void this.pump();
      });
    this.#inFlight.add(attempt);
  }

  async #attempt(row: ClaimedRow): Promise<void> {
    const { store, log, random = Math.random } = this.#options;
    const began = performance.now();
    const result = await this.#send(row).catch((error: unknown) => {
      this.#pace.done(row.channel_id, 'failed', store.now());
      throw error;
    });
    const nowMs = store.now();
    const retryAfter = result.kind === 'retry' ? result.retryAfter : undefined;
    const outcome = result.kind === 'delivered' ? 'sent' : result.kind === 'retry' ? 'failed' : 'refused';
    this.#pace.done(row.channel_id, outcome, nowMs, retryAfter);
    const wait = backoff(row.attempts, retryAfter, random());
    const recorded = await recordResult(store.db, row, result, { nowMs, wait });
    this.#counts[recorded] += 1;
    this.#metrics.attempt(row.channel_type, recorded, (performance.now() - began) / 1000);
    const facts = { notification: row.id, event: row.event, channel: row.channel_name, receiver: row.channel_type };
    if (recorded === 'delivered') {
      this.#metrics.delivered(row.channel_type, Math.max(0, nowMs - row.created_at) / 1000);
      log.info(facts, 'notified');
    } else if (result.kind === 'delivered') log.warn(facts, 'notified, and perhaps by another process too');
    else log.warn({ ...facts, attempts: row.attempts, reason: result.reason }, `notification ${recorded}`);
  }

  async #send(row: ClaimedRow): Promise<SendResult> {
    const { store, settings, dispatcher, timeout = ATTEMPT_TIMEOUT } = this.#options;
    const channel = await readChannel(store.db, store.vault, row.organization_id, row.channel_id);
    if (channel === undefined) return { kind: 'dead', reason: 'The channel was deleted.' };
    // This process may have stood still since it claimed the row.
    if (store.now() - row.claimed_until + CLAIM_FOR > CLAIM_FOR / 2) {
      return { kind: 'retry', reason: 'The process that was to send it stood still.', retryAfter: 0 };
    }
    const message = JSON.parse(row.message) as NotificationMessage;
    const { destination, webhookHeaders } = channel;
    const delivery = { message, dedupKey: row.dedup_key, destination, webhookHeaders };
    return send(channel.type, delivery, { addresses: settings, dispatcher, timeout, nowMs: store.now() });
  }
}

function none(): Record<Recorded, number> {
  return { delivered: 0, retried: 0, dead: 0, taken_over: 0 };
}
