/** Prepares the engine's data directory before the engine opens it. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/**
 * Makes the directory (mode 0700) with an empty folder for request bodies, and mends what a crash can leave behind.
 * Returns the files mended.
 */
export function prepareDataDirectory(dataDirectory: string): string[] {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  chmodSync(dataDirectory, 0o700);
  const bodies = bodyDirectory(dataDirectory);
  rmSync(bodies, { recursive: true, force: true });
  mkdirSync(bodies, { mode: 0o700 });
  return mendFormatVersions(dataDirectory);
}

/** Where request bodies wait while the engine reads them. */
export function bodyDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'request-bodies');
}

/**
 * Writes the format version into each table that has an empty `format_version.txt`. ClickHouse writes that file in place at CREATE
 * TABLE (ClickHouse#111553): a crash in that moment leaves it empty, and the table, which holds nothing yet, could never be loaded.
 */
function mendFormatVersions(dataDirectory: string): string[] {
  const mended: string[] = [];
  for (const table of tableDirectories(join(dataDirectory, 'store'))) {
    const file = join(table, 'format_version.txt');
    if (!existsSync(file) || statSync(file).size > 0) continue;
    const handle = openSync(file, 'w');
    writeSync(handle, '1');
    fsyncSync(handle);
    closeSync(handle);
    mended.push(file);
  }
  return mended;
}

/** `store/abc/abc…` folders, one for each table of an Atomic database. */
function tableDirectories(store: string): string[] {
  if (!existsSync(store)) return [];
  return readdirSync(store, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => readdirSync(join(store, entry.name)).map((name) => join(store, entry.name, name)))
    .filter((path) => statSync(path).isDirectory());
}
