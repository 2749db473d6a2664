/**
 * Writes of one organisation take turns, and those that wait together are committed together: one flush to the disk
 * carries them all. Each still succeeds or fails by itself.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** Writes in one transaction at most, so that none waits long for the others. */
const BATCH = 32;

type Work<T> = (tx: Transaction<Tables>) => Promise<T>;

interface Job {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

export interface WriteQueue {
  /** Runs `work` in a transaction; resolves once it is committed, rejects when it threw and nothing of it was kept. */
  run<T>(organizationId: string, work: Work<T>): Promise<T>;
}

export function createWriteQueue(db: Kysely<Tables>): WriteQueue {
  const waiting = new Map<string, Job[]>();
  return {
    run: <T>(organizationId: string, work: Work<T>) =>
      new Promise<T>((resolve, reject) => {
        const job = { work, resolve: resolve as Job['resolve'], reject };
        const line = waiting.get(organizationId);
        if (line) return void line.push(job);
        const jobs = [job];
        waiting.set(organizationId, jobs);
        void drain(db, jobs, () => waiting.delete(organizationId));
      }),
  };
}

/**
 * Runs batches until no job is left; never rejects, since every job hears of its own end.
 * @param leave takes the empty line away in the very step that found it empty, so that no job joins a line nobody serves
 */
async function drain(db: Kysely<Tables>, jobs: Job[], leave: () => void): Promise<void> {
  while (jobs.length > 0) {
    // Requests that came in the same turn of the event loop get into line before the batch leaves.
    await endOfTurn();
    await runBatch(db, jobs.splice(0, BATCH));
  }
  leave();
}

async function runBatch(db: Kysely<Tables>, jobs: readonly Job[]): Promise<void> {
  try {
    const outcomes = await db.transaction().execute((tx) => (jobs.length === 1 ? alone(tx, jobs[0]!) : each(tx, jobs)));
    jobs.forEach((job, index) => {
      const outcome = outcomes[index]!;
      if ('error' in outcome) job.reject(outcome.error);
      else job.resolve(outcome.value);
    });
  } catch (error) {
    for (const job of jobs) job.reject(error);
  }
}

async function alone(tx: Transaction<Tables>, job: Job): Promise<Outcome[]> {
  return [{ value: await job.work(tx) }];
}

async function each(tx: Transaction<Tables>, jobs: readonly Job[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const job of jobs) {
    await sql`savepoint job`.execute(tx);
    outcomes.push(await attempt(tx, job));
    await sql`release savepoint job`.execute(tx);
  }
  return outcomes;
}

async function attempt(tx: Transaction<Tables>, job: Job): Promise<Outcome> {
  try {
    return { value: await job.work(tx) };
  } catch (error) {
    await sql`rollback to savepoint job`.execute(tx);
    return { error };
  }
}
