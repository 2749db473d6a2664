/** Writes files that hold secrets: readable by their owner alone, and whole at any moment. */
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** The file is the old one or the new one at any moment, never half of it. */
export function replacePrivateFile(file: string, content: unknown): void {
  const draft = `${file}.${process.pid}.tmp`;
  const handle = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(handle, `${JSON.stringify(content, undefined, 2)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
}
