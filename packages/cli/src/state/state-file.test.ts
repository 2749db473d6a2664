import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { State } from '@obsiac/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LockError } from '../lock/lock.ts';
import { type FileCalls, systemFileCalls } from './replace-file.ts';
import { type OpenState, openState, readStateFile, StateError, type StateWriter } from './state-file.ts';

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'obsiac-state-'));
  path = join(directory, 'app.lock');
});
afterEach(() => {
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true });
});

const owner = { apiBaseUrl: 'https://obsiac.example.com/api/v4', org: 'acme' };
const held = { assertHeld: async () => undefined };

function open(previous: State | null = null, more: Partial<OpenState> = {}): StateWriter {
  return openState({ path, previous, owner, toolVersion: '1.0.0', lock: held, ...more });
}

async function failure(promise: Promise<unknown>): Promise<StateError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StateError);
  return error as StateError;
}

const read = () => readStateFile(path, owner);
const applied = (n: number) => ({ id: `id-${n}`, digest: `1:${n}` });

/** The user `nobody` of Linux systems. */
const NOBODY = 65534;

describe('writing', () => {
  it('gives back what was written, in a file for its user alone', async () => {
    const writer = open();
    await writer.record([{ address: 'checkout', action: 'create', digest: '1:a' }]);
    expect(await read()).toMatchObject({
      serial: 1,
      org: 'acme',
      pending: [{ address: 'checkout', action: 'create' }],
    });
    writer.editor.record('checkout', applied(1));
    await writer.flush();
    expect(await read()).toEqual(writer.snapshot());
    expect(await read()).toMatchObject({ serial: 2, pending: [], entities: { checkout: { id: 'id-1' } } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).sort()).toEqual(['app.lock', 'app.lock.bak']);
  });

  it('keeps the state before as .bak', async () => {
    const writer = open();
    writer.editor.record('checkout', applied(1));
    await writer.flush();
    const before = readFileSync(path, 'utf8');
    writer.editor.record('cart', applied(2));
    await writer.flush();
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before);
  });

  it('does not happen when nothing has changed', async () => {
    await open().flush();
    expect(readdirSync(directory)).toEqual([]);
    const writer = open();
    writer.editor.record('checkout', applied(1));
    await writer.flush();
    const again = open(await read());
    again.editor.record('checkout', applied(1));
    await again.flush();
    expect((await read())?.serial).toBe(1);
  });

  it('is one write for all who ask while another is under way', async () => {
    let renames = 0;
    const rename: FileCalls['rename'] = async (from, to) => {
      if (to === path) renames += 1;
      await systemFileCalls.rename(from, to);
    };
    const writer = open(null, { files: { ...systemFileCalls, rename } });
    const addresses = Array.from({ length: 50 }, (_, index) => `entity-${index}`);
    const first = writer.record([{ address: 'first', action: 'create' }]);
    await Promise.resolve();
    await Promise.resolve();
    const onDiskBefore = addresses.map((address) => writer.record([{ address, action: 'create' }]));
    await Promise.all([first, ...onDiskBefore]);
    expect(renames).toBeLessThanOrEqual(2);
    expect((await read())?.pending).toHaveLength(51);
  });

  it('has each intent on disk when the promise for it resolves', async () => {
    const writer = open();
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        for (let i = 0; i < index % 4; i += 1) await Promise.resolve();
        await writer.record([{ address: `e${index}`, action: 'create' }]);
        expect((await read())?.pending.map((each) => each.address)).toContain(`e${index}`);
        writer.editor.settle(`e${index}`);
      }),
    );
    await writer.flush();
    expect((await read())?.pending).toEqual([]);
  });

  it('goes through a link to the file it names', async () => {
    mkdirSync(join(directory, 'real'));
    symlinkSync(join(directory, 'real/state'), path);
    writeFileSync(join(directory, 'real/state'), '');
    const writer = open();
    writer.editor.record('checkout', applied(1));
    await writer.flush();
    expect(readdirSync(join(directory, 'real')).sort()).toEqual(['state', 'state.bak']);
    expect(await read()).toMatchObject({ serial: 1 });
  });

  it('copies the old state where the file system has no links', async () => {
    const link = () => Promise.reject(Object.assign(new Error('no links'), { code: 'ENOTSUP' }));
    const files = { ...systemFileCalls, link };
    const writer = open(null, { files });
    writer.editor.record('a', applied(1));
    await writer.flush().catch(() => undefined);
    writeFileSync(path, 'old');
    writer.editor.record('b', applied(2));
    await writer.flush();
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe('old');
  });

  it('stops when the lock is lost, and leaves the file to the one who has it', async () => {
    const lost = { assertHeld: () => Promise.reject(new LockError('lost', 'lost')) };
    writeFileSync(path, 'of the other');
    const writer = open(null, { lock: lost });
    await expect(writer.record([{ address: 'a', action: 'create' }])).rejects.toMatchObject({ code: 'lost' });
    expect(readFileSync(path, 'utf8')).toBe('of the other');
  });
});

/** Calls that fail from the `failAt`-th on for good (the process is gone), or only there (the disk is full for a moment). */
function faulty(failAt: number, how: 'killed' | 'once', code = 'ENOSPC'): { calls: FileCalls; count: () => number } {
  let count = 0;
  const step =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      count += 1;
      if (count === failAt || (how === 'killed' && count > failAt)) throw Object.assign(new Error(code), { code });
      return call(...args);
    };
  const calls: FileCalls = {
    open: step(async (...args: Parameters<FileCalls['open']>) => {
      const handle = await systemFileCalls.open(...args);
      return {
        writeFile: step(async (text: string) => {
          // A write that ends in the middle: half of it is there.
          if (how === 'killed' && count === failAt - 1) await handle.writeFile(text.slice(0, text.length / 2));
          else await handle.writeFile(text);
        }),
        sync: step(() => handle.sync()),
        close: () => handle.close(),
      } as Awaited<ReturnType<FileCalls['open']>>;
    }),
    link: step(systemFileCalls.link),
    copy: step(systemFileCalls.copy),
    rename: step(systemFileCalls.rename),
    remove: step(systemFileCalls.remove),
  };
  return { calls, count: () => count };
}

describe('a write that fails', () => {
  async function oldState(): Promise<State> {
    const writer = open();
    writer.editor.record('old', applied(1));
    await writer.flush();
    return (await read())!;
  }

  async function stepsOfOneWrite(): Promise<number> {
    const { calls, count } = faulty(Number.POSITIVE_INFINITY, 'once');
    const writer = open(await read(), { files: calls });
    writer.editor.record('probe', applied(9));
    await writer.flush();
    return count();
  }

  it('at any step, killed there, leaves the old state or the new one, whole', async () => {
    await oldState();
    const steps = await stepsOfOneWrite();
    expect(steps).toBeGreaterThan(8);
    for (let step = 1; step <= steps; step += 1) {
      const old = (await read())!;
      const writer = open(old, { files: faulty(step, 'killed').calls });
      writer.editor.record(`new-${step}`, applied(step));
      await writer.flush().catch(() => undefined);
      expect([old, writer.snapshot()]).toContainEqual(await read());
      // The next run is not disturbed by what was left lying about.
      const next = open(await read());
      next.editor.record(`next-${step}`, applied(step));
      await next.flush();
      expect((await read())?.entities).toHaveProperty(`next-${step}`);
    }
  });

  it.each(['ENOSPC', 'EDQUOT', 'EIO', 'EACCES', 'EROFS'])(
    'with %s at any step says so, and the next one has it all',
    async (code) => {
      const old = await oldState();
      const steps = await stepsOfOneWrite();
      let failures = 0;
      for (let step = 1; step <= steps; step += 1) {
        const writer = open(old, { files: faulty(step, 'once', code).calls });
        writer.editor.record('new', applied(step));
        const error = await writer.flush().then(
          () => null,
          (reason: unknown) => reason as StateError,
        );
        if (error !== null) {
          failures += 1;
          expect(error.code).toBe(code === 'ENOSPC' || code === 'EDQUOT' ? 'no_space' : 'unwritable');
          expect(error.message).toContain(path);
        }
        await writer.flush();
        expect((await read())?.entities).toMatchObject({ old: applied(1), new: applied(step) });
      }
      expect(failures).toBeGreaterThan(5);
    },
  );

  it('in a directory without permission says so', async () => {
    await oldState();
    const writer = open(await read());
    // The superuser may write anywhere, so the attempt is made as nobody.
    const isSuperuser = process.getuid?.() === 0;
    if (isSuperuser) chownSync(directory, NOBODY, NOBODY);
    chmodSync(directory, 0o500);
    if (isSuperuser) process.seteuid?.(NOBODY);
    try {
      const refused = await failure(writer.record([{ address: 'a', action: 'create' }]));
      expect(refused.message).toContain('permission denied');
    } finally {
      if (isSuperuser) process.seteuid?.(0);
    }
  });
});

describe('reading', () => {
  it('finds nothing only when there is nothing', async () => {
    expect(await read()).toBeNull();
    mkdirSync(path);
    const error = await failure(read());
    expect(error.code).toBe('unreadable');
    expect(error.message).toContain('it is a directory');
  });

  it.each([
    ['', 'damaged'],
    ['{"version": 1, "serial":', 'damaged'],
    ['hello', 'damaged'],
    ['[]', 'damaged'],
    ['{"version": 99, "serial": 1}', 'newer_version'],
  ])('refuses %j', async (text, code) => {
    writeFileSync(path, text);
    const error = await failure(read());
    expect(error.code).toBe(code);
    expect(error.message).toContain(path);
  });

  it('refuses a state that was edited, or is of another organization or service', async () => {
    const writer = open();
    writer.editor.record('checkout', applied(1));
    await writer.flush();
    expect((await failure(readStateFile(path, { ...owner, org: 'other' }))).code).toBe('other_org');
    expect((await failure(readStateFile(path, { ...owner, apiBaseUrl: 'https://b.example.com/api/v4' }))).code).toBe(
      'other_address',
    );
    expect(await readStateFile(path)).toMatchObject({ org: 'acme' });
    writeFileSync(path, readFileSync(path, 'utf8').replace('id-1', 'id-2'));
    expect((await failure(read())).code).toBe('damaged');
  });
});
