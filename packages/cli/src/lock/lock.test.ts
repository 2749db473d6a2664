import { type ChildProcess, fork, spawn } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatInfo, ownInfo, systemVitals, type Vitals } from './holder.ts';
import { acquireLock, forceUnlock, type Lock, LockError, type LockInfo, lockPath, readLock } from './lock.ts';

let directory = '';
let statePath = '';
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'obsiac-lock-'));
  statePath = join(directory, 'app.lock');
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(directory, { recursive: true });
});

const request = (more: object = {}) => ({ statePath, operation: 'apply', timeoutMs: 0, ...more });

async function failure(promise: Promise<unknown>): Promise<LockError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LockError);
  return error as LockError;
}

/** Another process that takes the lock and holds it until it is killed or told to end. */
async function otherHolder(): Promise<{ child: ChildProcess; info: LockInfo }> {
  const child = fork(new URL('./testdata/hold.ts', import.meta.url), [statePath], { silent: true });
  children.push(child);
  const info = await new Promise<LockInfo>((resolve, reject) => {
    child.once('message', (message) => resolve(message as LockInfo));
    child.once('exit', () => reject(new Error('the holder ended')));
  });
  return { child, info };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/** A holder on another machine, whose process cannot be looked at. */
function stranger(more: Partial<LockInfo> = {}): LockInfo {
  const info = { ...ownInfo('stranger-1', 'apply', systemVitals()), host: 'far-away', pid: 4242, ...more };
  writeFileSync(lockPath(statePath), formatInfo(info));
  return info;
}

const quick: Vitals = { ...systemVitals(), watchMs: 30 };
const longAgo = new Date(Date.now() - 3_600_000).toISOString();

describe('a free lock', () => {
  it('is taken, described, and gone after release', async () => {
    const lock = await acquireLock(request());
    expect(JSON.parse(readFileSync(lockPath(statePath), 'utf8'))).toMatchObject({
      id: lock.info.id,
      host: hostname(),
      pid: process.pid,
      operation: 'apply',
    });
    expect(statSync(lockPath(statePath)).mode & 0o777).toBe(0o600);
    expect(await readLock(statePath)).toEqual(lock.info);
    await lock.assertHeld();
    await lock.release();
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
    expect(await readLock(statePath)).toBeNull();
  });

  it('cannot be taken in a directory that is not there', async () => {
    const error = await failure(acquireLock(request({ statePath: join(directory, 'no/app.lock') })));
    expect(error.code).toBe('unwritable');
    expect(error.message).toContain('ENOENT');
  });

  it('is taken by exactly one of many', async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => acquireLock(request())));
    const taken = results.filter((each) => each.status === 'fulfilled');
    expect(taken).toHaveLength(1);
    for (const each of results) if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'held' });
    await (taken[0] as PromiseFulfilledResult<Lock>).value.release();
  });
});

describe('a held lock', () => {
  it('is refused with who, where, what and since when', async () => {
    const { info } = await otherHolder();
    const error = await failure(acquireLock(request()));
    expect(error).toMatchObject({ code: 'held', holder: { id: info.id, pid: info.pid } });
    for (const part of [info.who, info.host, String(info.pid), 'apply', info.created, `force-unlock ${info.id}`]) {
      expect(error.message).toContain(part);
    }
  });

  it('is had after it is given back, within the time allowed', async () => {
    const { child, info } = await otherHolder();
    const waited: string[] = [];
    const waiting = acquireLock(request({ timeoutMs: 30_000, onWait: (holder: LockInfo) => waited.push(holder.id) }));
    await sleep(120);
    child.send('release');
    const lock = await waiting;
    expect(lock.takenOverFrom).toBeNull();
    expect(waited).toEqual([info.id]);
    await lock.release();
  });

  it('is waited for until cancelled', async () => {
    await otherHolder();
    const cancel = new AbortController();
    const waiting = failure(acquireLock(request({ timeoutMs: 60_000, signal: cancel.signal })));
    cancel.abort();
    expect((await waiting).code).toBe('cancelled');
  });

  it('shows a sign of life', async () => {
    const lock = await acquireLock(request({ heartbeatMs: 20 }));
    const before = lock.info.heartbeat;
    await expect.poll(async () => (await readLock(statePath))?.heartbeat).not.toBe(before);
    await lock.release();
  });

  it('of another machine that still beats is respected, though its clock is behind', async () => {
    const info = stranger({ heartbeat: longAgo });
    const slow: Vitals = { ...systemVitals(), watchMs: 200 };
    const refused = failure(acquireLock(request({ vitals: slow })));
    await sleep(50);
    writeFileSync(
      lockPath(statePath),
      formatInfo({ ...info, heartbeat: new Date(Date.now() - 3_599_000).toISOString() }),
    );
    expect((await refused).code).toBe('held');
  });
});

describe('a dead holder', () => {
  it('that was killed gives way at once, and is named', async () => {
    const { child, info } = await otherHolder();
    child.kill('SIGKILL');
    await ended(child);
    const lock = await acquireLock(request());
    expect(lock.takenOverFrom).toMatchObject({ id: info.id, pid: info.pid });
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('whose process number belongs to another process now gives way', async () => {
    stranger({ host: hostname(), pid: process.pid, started: '1' });
    const lock = await acquireLock(request());
    expect(lock.takenOverFrom?.id).toBe('stranger-1');
    await lock.release();
  });

  it('in another container with the same process number is not taken for this process', async () => {
    stranger({ host: hostname(), pid: 2 ** 22 + 1, namespace: 'pid:[1]' });
    expect((await failure(acquireLock(request()))).code).toBe('held');
  });

  it('on another machine gives way when its heartbeat has expired', async () => {
    stranger({ heartbeat: longAgo });
    const lock = await acquireLock(request({ vitals: quick }));
    expect(lock.takenOverFrom?.host).toBe('far-away');
    await lock.release();
  });

  it('is taken over by exactly one of many', async () => {
    for (let round = 0; round < 10; round += 1) {
      stranger({ id: `dead-${round}`, host: hostname(), pid: process.pid, started: '1' });
      const results = await Promise.allSettled(Array.from({ length: 12 }, () => acquireLock(request())));
      const taken = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(taken).toHaveLength(1);
      expect(await readLock(statePath)).toMatchObject({ id: taken[0]!.info.id });
      await taken[0]!.release();
      expect(readdirSync(directory)).toEqual([]);
    }
  });

  it('is taken over although one who was taking over died at it', async () => {
    const dead = { host: hostname(), pid: process.pid, started: '1' };
    stranger({ id: 'dead-1', ...dead });
    const half = { ...ownInfo('dead-2', 'apply', systemVitals()), ...dead };
    writeFileSync(`${lockPath(statePath)}.dead-1.claim`, formatInfo(half));
    const lock = await acquireLock(request());
    expect(lock.takenOverFrom?.id).toBe('dead-1');
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('that died between making the file and writing into it gives way', async () => {
    writeFileSync(lockPath(statePath), '');
    const past = new Date(Date.now() - 60_000);
    utimesSync(lockPath(statePath), past, past);
    const lock = await acquireLock(request());
    await lock.release();
  });
});

describe('a lost lock', () => {
  it('is noticed before a write and by the heartbeat, and left alone on release', async () => {
    const lock = await acquireLock(request({ heartbeatMs: 20 }));
    const other = stranger({ id: 'taker' });
    expect(await failure(lock.assertHeld())).toMatchObject({ code: 'lost', holder: { id: 'taker' } });
    await expect.poll(() => lock.lost.aborted).toBe(true);
    await lock.release();
    expect(await readLock(statePath)).toEqual(other);
  });

  it('is lost as well when the file is gone', async () => {
    const lock = await acquireLock(request({ heartbeatMs: 20 }));
    rmSync(lockPath(statePath));
    await expect.poll(() => lock.lost.aborted).toBe(true);
    await lock.release();
    expect(existsSync(lockPath(statePath))).toBe(false);
  });
});

describe('force-unlock', () => {
  it('removes the lock with that id, also of a living holder, who notices', async () => {
    const lock = await acquireLock(request({ heartbeatMs: 20 }));
    expect(await forceUnlock(statePath, lock.info.id)).toMatchObject({ id: lock.info.id });
    expect(readdirSync(directory)).toEqual([]);
    await expect.poll(() => lock.lost.aborted).toBe(true);
    await lock.release();
  });

  it('refuses another id, and a lock that nobody holds', async () => {
    expect((await failure(forceUnlock(statePath, 'x'))).code).toBe('not_locked');
    stranger();
    const error = await failure(forceUnlock(statePath, 'x'));
    expect(error.code).toBe('other_id');
    expect(error.message).toContain('stranger-1');
  });
});

it('is given back when the process ends through process.exit', async () => {
  const { child } = await otherHolder();
  child.send('exit');
  await ended(child);
  expect(existsSync(lockPath(statePath))).toBe(false);
});

describe.skipIf(!existsSync('/proc/self/stat'))('a process that ended', () => {
  it('is gone though its parent has not asked for its exit code', async () => {
    // The shell becomes a program that never waits for its child.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(parent);
    const pid = Number(await new Promise((resolve) => parent.stdout!.once('data', resolve)));
    const { startOf } = systemVitals();
    expect(startOf(pid)).toMatch(/^\d+$/);
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => startOf(pid)).toBeNull();
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
  });
});
