/** One service to a data directory: the lock that the operating system drops when its holder ends, however it ends. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class DataDirLocked extends Error {
  readonly code = 'data_dir_locked';
}

export interface DataDirLock {
  release(): void;
}

/**
 * Locks the directory for this process. The lock is SQLite's own exclusive file lock, so it never stays behind;
 * the file beside it only tells who holds it.
 * @throws DataDirLocked with the process id of the holder
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const note = path.join(dataDir, 'service.pid');
  const lock = new DatabaseSync(path.join(dataDir, 'service.lock'), { timeout: 0 });
  try {
    // Nothing is ever written to it, so it needs no journal file.
    lock.exec('pragma journal_mode = memory; begin exclusive');
  } catch (cause) {
    lock.close();
    throw new DataDirLocked(
      `The data directory ${dataDir} is in use by another obsiac-service${holder(note)}. ` +
        'Stop that one first, or give this one a directory of its own with --data-dir.',
      { cause },
    );
  }
  writeFileSync(note, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => lock.close() };
}

function holder(note: string): string {
  try {
    return ` (process ${readFileSync(note, 'utf8').trim()})`;
  } catch {
    return '';
  }
}
