/** Reads a user's file whole, but never more than is sensible. */
import { open } from 'node:fs/promises';

/** A byte more than the largest model file: enough for the check of the size to see that it is too large. */
const MOST_MODEL_BYTES = 10 * 1024 * 1024 + 1;

/** The first `most` bytes of a file; also works for pipes and devices, which have no size. Throws what the system throws. */
export async function readFileBytes(file: string, most = MOST_MODEL_BYTES): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length < most) {
      const chunk = new Uint8Array(Math.min(1024 * 1024, most - length));
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) break;
      chunks.push(chunk.subarray(0, bytesRead));
      length += bytesRead;
    }
    return Buffer.concat(chunks);
  } finally {
    await handle.close();
  }
}
