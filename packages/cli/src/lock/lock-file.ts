/**
 * The lock file and its claims: the steps that must be atomic.
 *
 * The file is made with O_EXCL, so that one of two wins. A dead holder is replaced by a rename over the file, which only the
 * one may do who owns the claim on that holder: a file named after the holder's id, made with O_EXCL too. Ids never come
 * again, so a claim can never hit a holder it was not made for. Whoever removes the file (release, force-unlock) claims first.
 */
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { formatInfo, type LockInfo, lifeOf, parseInfo, type Vitals } from './holder.ts';

/** A file that stays without a holder for this long was left by a process that died while it made it. */
const UNWRITTEN_MS = 10_000;

/** What stands in the file. `unwritten`: it is there, without a readable holder, for that many milliseconds. */
export type Standing =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly holder: LockInfo }
  | { readonly kind: 'unwritten'; readonly forMs: number };

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? '';
}

export async function look(path: string): Promise<Standing> {
  try {
    const holder = parseInfo(await readFile(path, 'utf8'));
    if (holder !== null) return { kind: 'held', holder };
    const { mtimeMs } = await stat(path);
    return { kind: 'unwritten', forMs: Date.now() - mtimeMs };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { kind: 'free' };
    throw error;
  }
}

async function fill(handle: FileHandle, info: LockInfo): Promise<FileHandle> {
  try {
    await handle.write(formatInfo(info), 0);
    await handle.sync();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Makes the file; null: there is one. The handle stays open: beats are written through it, never to another's file. */
export async function make(path: string, info: LockInfo): Promise<FileHandle | null> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return null;
    throw error;
  }
  try {
    return await fill(handle, info);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** A new sign of life. Should the lock have been taken over, this writes to a file that has no name any more. */
export async function beat(handle: FileHandle, info: LockInfo): Promise<void> {
  await handle.write(formatInfo(info), 0);
}

function claimPath(path: string, id: string): string {
  return `${path}.${id.replaceAll(/[^\w-]/g, '_')}.claim`;
}

/**
 * Claims the right to remove or replace the holder `id`. A claim whose owner is gone is claimed in turn: the chain leads to
 * the one who may act. The claims, to be given to `giveUp`; null: somebody else who lives has the right.
 */
export async function claim(path: string, id: string, by: LockInfo, vitals: Vitals): Promise<readonly string[] | null> {
  const chain: string[] = [];
  for (let next = id; ; ) {
    const file = claimPath(path, next);
    chain.push(file);
    const handle = await make(file, by);
    if (handle !== null) {
      await handle.close();
      return chain;
    }
    const claimant = await look(file);
    if (claimant.kind === 'unwritten') await dropUnwritten(file, claimant);
    if (claimant.kind !== 'held' || lifeOf(claimant.holder, vitals) === 'alive') return null;
    next = claimant.holder.id;
  }
}

/** Gives the right up, the last claim of the chain first, so that nobody can get in between. */
export async function giveUp(chain: readonly string[]): Promise<void> {
  for (const file of chain.toReversed()) await rm(file, { force: true });
}

/** Removes a file whose maker died before it wrote into it. */
export async function dropUnwritten(path: string, standing: Standing & { readonly kind: 'unwritten' }): Promise<void> {
  if (standing.forMs > UNWRITTEN_MS) await rm(path, { force: true });
}

/** Puts `info` in the place of the holder `id`, whose claim the caller owns. Null: that holder is not there any more. */
export async function replace(path: string, id: string, info: LockInfo): Promise<FileHandle | null> {
  const standing = await look(path);
  if (standing.kind !== 'held' || standing.holder.id !== id) return null;
  const fresh = `${path}.${info.id}.new`;
  const handle = await fill(await open(fresh, 'wx', 0o600), info);
  await rename(fresh, path);
  return handle;
}

/** Removes the file if `id` holds it. The caller owns the claim on `id`. */
export async function removeHolder(path: string, id: string): Promise<boolean> {
  const standing = await look(path);
  if (standing.kind !== 'held' || standing.holder.id !== id) return false;
  await rm(path, { force: true });
  return true;
}
