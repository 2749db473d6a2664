/** Lends engine sessions out, one statement each at a time, since one session runs its statements one after another. */
import type { Session } from 'chdb';

/** All sessions are lent and too many callers wait. */
export class PoolFull extends Error {}

export class SessionPool {
  readonly #free: Session[];
  readonly #waiting: { give: (session: Session) => void }[] = [];
  readonly #maxWaiting: number;

  constructor(sessions: readonly Session[], maxWaiting: number) {
    this.#free = [...sessions];
    this.#maxWaiting = maxWaiting;
  }

  /** A session, at once or when one comes back. Rejects with PoolFull, or with the signal's reason when it aborts first. */
  acquire(signal: AbortSignal): Promise<Session> {
    const free = this.#free.pop();
    if (free !== undefined) return Promise.resolve(free);
    if (this.#waiting.length >= this.#maxWaiting) return Promise.reject(new PoolFull('Too many statements wait'));
    return new Promise((resolve, reject) => {
      const waiter = {
        give: (session: Session) => {
          signal.removeEventListener('abort', giveUp);
          resolve(session);
        },
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(waiter);
    });
  }

  release(session: Session): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(session);
    else next.give(session);
  }
}
