import { rmSync } from 'node:fs';
import path from 'node:path';
import { Kysely as Database, type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryDir } from '../../test/service.ts';
import { sqliteBackend } from './sqlite.ts';
import type { Tables } from './tables.ts';
import { createWriteQueue } from './write-queue.ts';

let dir: string;
let db: Kysely<Tables>;
beforeEach(async () => {
  dir = temporaryDir();
  db = new Database<Tables>({ dialect: sqliteBackend(path.join(dir, 'queue.sqlite')).dialect });
  await sql`create table seen (job integer)`.execute(db);
});
afterEach(async () => {
  await db.destroy();
  rmSync(dir, { recursive: true });
});

const jobsSeen = async () =>
  (await sql<{ job: number }>`select job from seen order by job`.execute(db)).rows.map((row) => row.job);

it('serves every job, whenever it comes: also just as the line empties', async () => {
  const queue = createWriteQueue(db);
  const insert = (job: number) => queue.run('org', (tx) => sql`insert into seen values (${job})`.execute(tx));
  const chains = Array.from({ length: 12 }, async (_, chain) => {
    for (let step = 0; step < 10; step += 1) {
      await insert(chain * 10 + step);
      for (let wait = 0; wait < chain; wait += 1) await Promise.resolve();
    }
  });
  await Promise.all(chains);
  for (let job = 120; job < 140; job += 1) {
    await insert(job);
    for (let wait = 120; wait < job; wait += 1) await Promise.resolve();
  }
  expect(await jobsSeen()).toEqual(Array.from({ length: 140 }, (_, job) => job));
});

it('keeps what a failed job did apart from its neighbours, and lets it see what came before', async () => {
  const queue = createWriteQueue(db);
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, (_, job) =>
      queue.run('org', async (tx) => {
        await sql`insert into seen values (${job})`.execute(tx);
        if (job % 3 === 0) throw new Error(`job ${job}`);
        const { rows } = await sql<{ count: number }>`select count(*) as count from seen`.execute(tx);
        return rows[0]!.count;
      }),
    ),
  );
  const kept = Array.from({ length: 50 }, (_, job) => job).filter((job) => job % 3 !== 0);
  expect(await jobsSeen()).toEqual(kept);
  expect(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))).toEqual(
    kept.map((_, index) => index + 1),
  );
});

it('fails all jobs of a transaction that cannot begin or end, and goes on with the next', async () => {
  const queue = createWriteQueue(db);
  const insert = (job: number) => queue.run('org', (tx) => sql`insert into seen values (${job})`.execute(tx));
  const breaking = queue.run('org', (tx) => sql`rollback`.execute(tx));
  const results = await Promise.allSettled([breaking, insert(1), insert(2)]);
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected']);
  await insert(3);
  expect(await jobsSeen()).toEqual([3]);
});
