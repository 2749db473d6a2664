/** One limit on the memory that all requests under way may hold together: more wait for their turn, and are refused when it does not come. */
import { Refusal } from '../refusal.ts';

export interface ByteBudgetOptions {
  readonly bytes: number;
  /** Milliseconds that a request waits for room. */
  readonly patience: number;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: () => void;
}

/** Seconds after which a sender who found no room should come again. */
const RETRY_AFTER = 5;

export class ByteBudget {
  readonly limit: number;
  readonly #patience: number;
  #used = 0;
  /** First come, first served: a big request is not starved by small ones. */
  readonly #waiting: Waiting[] = [];

  constructor({ bytes, patience }: ByteBudgetOptions) {
    this.limit = bytes;
    this.#patience = patience;
  }

  get used(): number {
    return this.#used;
  }

  /** Requests that wait for room. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The share of one request; `release` it in every case. */
  lease(): Lease {
    return new Lease(this);
  }

  /** @throws Refusal `unavailable` when there is no room in time */
  async take(bytes: number): Promise<void> {
    if (bytes > this.limit) throw refusal('This batch is larger than the memory for intake (setting intake_memory)');
    if (this.#waiting.length === 0 && this.#used + bytes <= this.limit) {
      this.#used += bytes;
      return;
    }
    await this.#wait(bytes);
  }

  give(bytes: number): void {
    this.#used -= bytes;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#used + next.bytes > this.limit) return;
      this.#waiting.shift();
      this.#used += next.bytes;
      next.grant();
    }
  }

  #wait(bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        bytes,
        grant: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.give(0);
        reject(refusal('Too many batches are under way'));
      }, this.#patience);
      this.#waiting.push(waiting);
    });
  }
}

export class Lease {
  readonly #budget: ByteBudget;
  #taken = 0;
  /** Reserved ahead and not yet accounted for. */
  #ahead = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** Reserves room before it is needed, so that a request that began can end. @throws Refusal `unavailable` */
  async reserve(bytes: number): Promise<void> {
    await this.#budget.take(bytes);
    this.#taken += bytes;
    this.#ahead += bytes;
  }

  /** Accounts for bytes that are held from now on. @throws Refusal `unavailable` */
  async grow(bytes: number): Promise<void> {
    if (this.#ahead < bytes) await this.reserve(Math.max(bytes - this.#ahead, STEP));
    this.#ahead -= bytes;
  }

  release(): void {
    const taken = this.#taken;
    this.#taken = 0;
    this.#ahead = 0;
    this.#budget.give(taken);
  }
}

/** Bytes that a growing request takes at once. */
const STEP = 64 * 1024;

function refusal(sentence: string): Refusal {
  return new Refusal('unavailable', `${sentence}; send it again shortly.`, { retryAfter: RETRY_AFTER });
}
