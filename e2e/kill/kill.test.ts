/**
 * `apply` killed with SIGKILL at every request and every file system call of its state, and the service killed under it.
 * In the ordinary run a few of the points; all of them with OBSIAC_SOAK=1.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readActual } from '../../packages/cli/src/remote/read-actual.ts';
import { readStateFile } from '../../packages/cli/src/state/state-file.ts';
import { type Fate, type FaultyProxy, startProxy } from '../apply/proxy.ts';
import { startService, type TestService } from '../apply/service.ts';
import { contents } from '../apply/workspace.ts';
import { type CliDirectory, createCliDirectory, type Ended, thirtyObjects } from './cli.ts';

const SOAK = process.env['OBSIAC_SOAK'] === '1';
/** All points take minutes. */
const TIMEOUT_MS = SOAK ? 30 * 60_000 : 300_000;
/** Every how many-th point is tried in the ordinary run. */
const STRIDE = 8;
const APPLY = ['apply', '-y'];

let service: TestService;
let proxy: FaultyProxy;
let directory: CliDirectory;
/** What the service holds after an undisturbed apply. */
let reference: unknown;
let requests = 0;
let fileCalls = 0;

const killer = new URL('./kill-at-file-call.ts', import.meta.url).href;
const faulty = (at: number, log?: string): Record<string, string> => ({
  NODE_OPTIONS: `--import ${killer}`,
  KILL_AT: String(at),
  KILL_PREFIX: directory.statePath,
  ...(log === undefined ? {} : { KILL_LOG: log }),
});

async function clear(): Promise<void> {
  const { entities } = (await service.request('read', 'GET', '/entities')) as { entities: { id: string }[] };
  for (const { id } of entities) await service.request('delete', 'DELETE', `/entities/${id}`);
}

function fresh(): void {
  directory?.remove();
  directory = createCliDirectory(thirtyObjects(), proxy.base, service.credentials);
  proxy.fate = () => 'pass';
  proxy.seen.length = 0;
}

beforeAll(async () => {
  service = await startService();
  proxy = await startProxy(() => service.base);
  fresh();
  const log = join(directory.path, 'calls');
  const ended = await directory.start(APPLY, faulty(0, log)).ended;
  expect(ended).toMatchObject({ code: 0 });
  reference = await contents(service.client());
  requests = proxy.seen.length;
  fileCalls = readFileSync(log, 'utf8').trim().split('\n').length;
  await clear();
});
afterAll(async () => {
  directory.remove();
  await proxy.stop();
  await service.stop();
});
beforeEach(fresh);
afterEach(clear);

/** Each object of the state is in the service under its id, each of the service in the state, and nothing is left open. */
async function expectStateToFit(): Promise<void> {
  const state = await readStateFile(directory.statePath);
  const { actual } = await readActual(service.client());
  expect(state?.pending).toEqual([]);
  const ids = (each: object): string[] =>
    Object.values(each)
      .map((object) => (object as { id: string }).id)
      .toSorted();
  expect(Object.keys(state!.entities).toSorted()).toEqual(
    actual.entities.map(({ entity }) => entity.external_ref).toSorted(),
  );
  for (const held of actual.entities) {
    const applied = state!.entities[held.entity.external_ref]!;
    expect(applied.id).toBe(held.id);
    expect(ids(applied.indicators)).toEqual(Object.values(held.indicatorIds).toSorted());
    expect(ids(applied.alert_rules)).toEqual(Object.values(held.ruleIds).toSorted());
    expect(ids(applied.channels)).toEqual(Object.values(held.bindingIds).toSorted());
  }
}

/** The next apply ends where an undisturbed one does. */
async function expectRecovery(): Promise<Ended> {
  proxy.fate = () => 'pass';
  const ended = await directory.start(APPLY).ended;
  expect(ended, ended.output).toMatchObject({ code: 0, signal: null });
  expect(await contents(service.client())).toEqual(reference);
  await expectStateToFit();
  expect(existsSync(`${directory.statePath}.lock.info`)).toBe(false);
  return ended;
}

/** Points from 1 to `count`: all, or every STRIDE-th with the first and the last. */
function points(count: number): number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  return SOAK ? all : all.filter((point) => point === 1 || point === count || point % STRIDE === 0);
}

describe('apply killed', { timeout: TIMEOUT_MS }, () => {
  it('before the service sees a request is completed by the next one', async () => {
    expect(requests).toBeGreaterThanOrEqual(38);
    for (const point of points(requests)) {
      fresh();
      const run = directory.start(APPLY);
      proxy.fate = ({ number }) => {
        if (number !== point) return number > point ? 'drop' : 'pass';
        run.child.kill('SIGKILL');
        return 'drop';
      };
      expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
      await expectRecovery();
      await clear();
    }
  });

  it('after the service has acted on a request, before the answer, is completed by the next one', async () => {
    for (const point of points(requests)) {
      fresh();
      const run = directory.start(APPLY);
      proxy.fate = ({ number }) => (number === point ? { acted: () => void run.child.kill('SIGKILL') } : 'pass');
      expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
      await expectRecovery();
      await clear();
    }
  });

  it('at a file system call on its state is completed by the next one, and the state is whole at once', async () => {
    expect(fileCalls).toBeGreaterThan(30);
    for (const point of points(fileCalls)) {
      fresh();
      const ended = await directory.start(APPLY, faulty(point)).ended;
      expect(ended, `call ${point}: ${ended.output}`).toMatchObject({ signal: 'SIGKILL' });
      await readStateFile(directory.statePath);
      await expectRecovery();
      await clear();
    }
  });

  it('while it deletes leaves no orphan', async () => {
    for (const point of points(8)) {
      fresh();
      expect(await directory.start(APPLY).ended).toMatchObject({ code: 0 });
      let deletions = 0;
      const run = directory.start(['destroy', '-y']);
      proxy.fate = ({ method }) => {
        if (method === 'DELETE') deletions += 1;
        return method === 'DELETE' && deletions === Math.ceil(point / 3)
          ? { acted: () => void run.child.kill('SIGKILL') }
          : 'pass';
      };
      expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
      proxy.fate = () => 'pass';
      const again = await directory.start(['destroy', '-y']).ended;
      expect(again, again.output).toMatchObject({ code: 0 });
      expect(await contents(service.client())).toEqual([]);
      expect(await readStateFile(directory.statePath)).toMatchObject({ entities: {}, pending: [] });
    }
  });
});

describe('two applies at once', () => {
  it('one works, the other ends with the code for a held lock and names the holder', async () => {
    const first = directory.start(APPLY);
    let second: Ended | undefined;
    proxy.fate = async ({ method, path }): Promise<Fate> => {
      if (method === 'POST' && path === '/entities' && second === undefined) {
        second = await directory.start(APPLY).ended;
      }
      return 'pass';
    };
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(second).toMatchObject({ code: 6 });
    expect(second!.output).toContain(String(first.child.pid));
    expect(await contents(service.client())).toEqual(reference);
    await expectStateToFit();
  });
});

describe('the state file', () => {
  it('lost after an apply is made again by adoption', async () => {
    expect(await directory.start(APPLY).ended).toMatchObject({ code: 0 });
    rmSync(directory.statePath);
    rmSync(`${directory.statePath}.bak`);
    await expectRecovery();
  });

  it('lost after an apply was killed is made again too', async () => {
    const run = directory.start(APPLY);
    proxy.fate = ({ number }) => (number === 25 ? { acted: () => void run.child.kill('SIGKILL') } : 'pass');
    await run.ended;
    rmSync(directory.statePath, { force: true });
    await expectRecovery();
  });
});
