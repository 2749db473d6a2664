/** Replaces a file as a whole: at each moment, also after a crash, the old content or the new stands under the name. */
import { copyFile, type FileHandle, link, open, rename, rm } from 'node:fs/promises';

/** The calls that replacing a file makes, so that a test can let each of them fail. */
export interface FileCalls {
  readonly open: (
    path: string,
    flags: string,
    mode?: number,
  ) => Promise<Pick<FileHandle, 'writeFile' | 'sync' | 'close'>>;
  readonly link: (existing: string, path: string) => Promise<void>;
  readonly copy: (existing: string, path: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
}

export const systemFileCalls: FileCalls = {
  open,
  link,
  copy: copyFile,
  rename,
  remove: (path) => rm(path, { force: true }),
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? '';
}

async function writeNew(path: string, text: string, calls: FileCalls): Promise<void> {
  const handle = await calls.open(path, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Without this, a power cut may undo the rename. Some file systems have no such call, and then nothing can be done. */
async function syncDirectory(path: string, calls: FileCalls): Promise<void> {
  try {
    const handle = await calls.open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!['EISDIR', 'EINVAL', 'EPERM', 'ENOTSUP', 'EACCES'].includes(codeOf(error))) throw error;
  }
}

/** Gives the old content a second name, if there is old content; its first name stays where it is. */
async function keepOld(path: string, calls: FileCalls): Promise<void> {
  const fresh = `${path}.bak.tmp`;
  await calls.remove(fresh);
  try {
    await calls.link(path, fresh);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    // A file system without links gets a copy.
    await calls.copy(path, fresh);
  }
  await calls.rename(fresh, `${path}.bak`);
}

export interface Replacement {
  readonly path: string;
  readonly directory: string;
  readonly text: string;
}

/** Writes beside the file (mode 0600), syncs, keeps the old one as `.bak`, renames, syncs the directory. */
export async function replaceFile(replacement: Replacement, calls: FileCalls = systemFileCalls): Promise<void> {
  const { path, directory, text } = replacement;
  const fresh = `${path}.tmp`;
  try {
    await writeNew(fresh, text, calls);
    await keepOld(path, calls);
    await calls.rename(fresh, path);
  } catch (error) {
    await calls.remove(fresh).catch(() => undefined);
    throw error;
  }
  await syncDirectory(directory, calls);
}
