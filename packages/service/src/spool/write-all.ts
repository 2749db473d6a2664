/** Writes that are whole. */
import type { FileHandle } from 'node:fs/promises';

/** Writes every byte from `position` on, or throws: one call of the system may take a part only, as on a disk that fills up. */
export async function writeAll(file: FileHandle, chunks: readonly Uint8Array[], position: number): Promise<void> {
  let rest = chunks.filter((chunk) => chunk.length > 0);
  let at = position;
  while (rest.length > 0) {
    const { bytesWritten } = await file.writev(rest.slice(0, 512), at);
    at += bytesWritten;
    rest = dropBytes(rest, bytesWritten);
  }
}

function dropBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  let index = 0;
  let left = count;
  while (index < chunks.length && left >= (chunks[index] as Uint8Array).length) {
    left -= (chunks[index] as Uint8Array).length;
    index += 1;
  }
  const rest = chunks.slice(index);
  if (left > 0 && rest[0] !== undefined) rest[0] = rest[0].subarray(left);
  return rest;
}
