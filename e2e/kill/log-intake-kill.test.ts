/** Log intake killed with SIGKILL at random moments under load: every acknowledged record is found after the restart, each once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient } from '../../packages/service/src/engine/index.ts';

const SERVICE = join(import.meta.dirname, '../../packages/service/bin/obsiac-service.js');
const SOAK = process.env['OBSIAC_SOAK'] === '1';
const ROUNDS = SOAK ? 30 : 4;
const SENDERS = 4;
const RECORDS = 50;
/** Milliseconds of load before the kill, at most. */
const LONGEST_LOAD = 1500;

let dataDir: string;
let child: ChildProcess | null = null;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'obsiac-intake-kill-'));
});
afterAll(async () => {
  if (child) await end(child, 'SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

interface Access {
  readonly endpoint: string;
  readonly authorization: string;
}

const accessFile = () => join(dataDir, 'intake.json');

async function start(): Promise<Access> {
  const before = existsSync(accessFile()) ? readFileSync(accessFile(), 'utf8') : '';
  const started = spawn(process.execPath, [SERVICE, 'serve', '--data-dir', dataDir, '--port', '0'], {
    stdio: 'ignore',
  });
  child = started;
  for (;;) {
    await sleep(20);
    if (started.exitCode !== null) throw new Error(`the service ended with ${started.exitCode}`);
    const text = existsSync(accessFile()) ? readFileSync(accessFile(), 'utf8') : '';
    if (text === '' || text === before) continue;
    const access = JSON.parse(text) as Access;
    const answer = await fetch(`${access.endpoint}/healthz`).catch(() => undefined);
    if (answer?.ok) return access;
  }
}

async function end(dying: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (dying.exitCode !== null || dying.signalCode !== null) return;
  const gone = new Promise((resolve) => dying.once('exit', resolve));
  dying.kill(signal);
  await gone;
}

/** The processes that a process has started, from /proc. */
function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

interface Batch {
  readonly body: Buffer;
  readonly ids: readonly string[];
}

let made = 0;
/** Half of the batches go the engine's way, half have a line that the service reads itself, and one that is none. */
function makeBatch(): Batch {
  const ids = Array.from({ length: RECORDS }, () => (++made).toString(16).padStart(16, '0'));
  const odd = made % (2 * RECORDS) === 0;
  const lines = ids.map((RayID, index) => {
    const record = { RayID, EdgeResponseStatus: 200, EdgeStartTimestamp: Date.now() };
    return JSON.stringify(odd && index % 2 === 0 ? { ...record, Unknown: { nested: index } } : record);
  });
  return { body: gzipSync(`${[...lines, ...(odd ? ['{"cut'] : [])].join('\n')}\n`, { level: 1 }), ids };
}

/** Sends batches until it is told to stop; one that was not acknowledged is sent again first, as Logpush does. */
async function sender(
  access: () => Access,
  pending: Batch[],
  acknowledged: Set<string>,
  stop: AbortSignal,
): Promise<void> {
  while (!stop.aborted) {
    const batch = pending.pop() ?? makeBatch();
    const { endpoint, authorization } = access();
    try {
      const answer = await fetch(`${endpoint}/cloudflare?dataset=http_requests`, {
        method: 'POST',
        body: batch.body,
        headers: { authorization },
      });
      if (answer.status !== 200) throw new Error(String(answer.status));
      for (const id of batch.ids) acknowledged.add(id);
    } catch {
      pending.push(batch);
      await sleep(20);
    }
  }
}

async function everything(): Promise<string[]> {
  const client = createEngineClient(
    { socketPath: join(dataDir, 'logs', 'engine', 'engine.sock') },
    { requestTimeout: 60_000, maxConnections: 1 },
  );
  const answer = await client.query({ query: 'SELECT RayID FROM obsiac.logs', format: 'JSONCompactEachRow' });
  const rows = await answer.json<[string]>();
  await client.close();
  return rows.map(([ray]) => ray);
}

async function untilLoaded(endpoint: string): Promise<void> {
  for (;;) {
    const answer = (await (await fetch(`${endpoint}/readyz`)).json()) as {
      logs: { state: string; spool: { batches: number } };
    };
    if (answer.logs.state === 'ready' && answer.logs.spool.batches === 0) return;
    await sleep(50);
  }
}

describe('log intake under kills', { timeout: SOAK ? 30 * 60_000 : 300_000 }, () => {
  it(`loses nothing in ${ROUNDS} rounds, and has nothing twice`, async () => {
    const acknowledged = new Set<string>();
    const pending: Batch[] = [];
    let access = await start();
    const restarts: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const stop = new AbortController();
      const senders = Array.from({ length: SENDERS }, () => sender(() => access, pending, acknowledged, stop.signal));
      await sleep(Math.random() * LONGEST_LOAD);
      const engine = childrenOf(child!.pid!)[0];
      // Each third round only the engine dies, and intake goes on.
      if (round % 3 === 2 && engine !== undefined) {
        process.kill(engine, 'SIGKILL');
        await sleep(300);
      } else {
        await end(child!, 'SIGKILL');
        const from = performance.now();
        access = await start();
        restarts.push(performance.now() - from);
      }
      stop.abort();
      await Promise.all(senders);
    }
    await untilLoaded(access.endpoint);
    const found = await everything();
    const known = new Set(found);
    const lost = [...acknowledged].filter((id) => !known.has(id));
    report(acknowledged.size, found.length, pending.length, restarts);
    expect(lost).toEqual([]);
    expect(found.length).toBe(known.size);
    expect(acknowledged.size).toBeGreaterThan(0);
  });

  function report(acknowledged: number, found: number, pending: number, restarts: readonly number[]): void {
    const slowest = Math.round(Math.max(0, ...restarts));
    process.stdout.write(
      `log intake: ${ROUNDS} kills, ${acknowledged} records acknowledged, ${found} found, ` +
        `${pending} batches without an answer, slowest restart ${slowest} ms\n`,
    );
  }
});
