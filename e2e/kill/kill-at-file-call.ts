/**
 * Loaded into the CLI by a test (`--import`): kills the process with SIGKILL at its Nth file system call on the state, before the
 * call or, for a write, in the middle of it. Counts the calls into a file when N is 0.
 */
import { appendFileSync } from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { KILL_AT, KILL_PREFIX, KILL_LOG } = process.env;
const killAt = Number(KILL_AT);
let calls = 0;

function reached(name: string): boolean {
  calls += 1;
  if (KILL_LOG !== undefined) appendFileSync(KILL_LOG, `${name}\n`);
  return calls === killAt;
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment; nothing more may happen meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

const watched = (path: unknown): boolean =>
  typeof path === 'string' && KILL_PREFIX !== undefined && path.startsWith(KILL_PREFIX);

function watchHandle(handle: FileHandle): FileHandle {
  const { writeFile, write, sync } = handle;
  handle.writeFile = async (data, ...rest) => {
    if (reached('writeFile')) {
      await writeFile.call(handle, String(data).slice(0, String(data).length / 2));
      die();
    }
    return writeFile.call(handle, data, ...rest);
  };
  handle.write = (async (...args: Parameters<typeof write>) => {
    if (reached('write')) die();
    return write.apply(handle, args);
  }) as typeof write;
  handle.sync = async () => {
    if (reached('sync')) die();
    return sync.call(handle);
  };
  return handle;
}

const { open } = promises;
promises.open = async (path, ...rest) => {
  if (!watched(path)) return open(path, ...rest);
  if (reached('open')) die();
  return watchHandle(await open(path, ...rest));
};
for (const name of ['rename', 'link', 'rm', 'copyFile'] as const) {
  const original = promises[name] as (...args: unknown[]) => Promise<unknown>;
  (promises as unknown as Record<string, unknown>)[name] = async (...args: unknown[]) => {
    if (args.some(watched) && reached(name)) die();
    return original(...args);
  };
}
syncBuiltinESMExports();
