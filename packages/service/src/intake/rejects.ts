/** Keeps lines that were no records, with the reason, in a file beside the log store that never grows beyond its bound. */
import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RejectedLine } from './line-sorter.ts';

/** Bytes after which the file is set aside as `.1`, in the place of the one before it. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface RejectedBatch {
  readonly org: string;
  /** What the sender says; undefined: nothing. */
  readonly dataset: string | undefined;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly receivedAt: string;
  readonly lines: readonly RejectedLine[];
}

export class RejectFile {
  readonly #directory: string;
  readonly #path: string;
  #last: Promise<void> = Promise.resolve();

  /** @param directory made when there is something to keep. */
  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, 'rejects.ndjson');
  }

  /** One JSON object to a line: `received_at`, `org`, `dataset`, `reason`, `detail`, `bytes`, `line` (its beginning). */
  async keep(batch: RejectedBatch): Promise<void> {
    const text = batch.lines.map((line) => `${JSON.stringify(entryOf(batch, line))}\n`).join('');
    const write = this.#last.then(() => this.#append(text));
    this.#last = write.catch(() => undefined);
    await write;
  }

  async #append(text: string): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const size = await stat(this.#path).then(
      (file) => file.size,
      () => 0,
    );
    if (size > 0 && size + Buffer.byteLength(text) > MOST_BYTES) await rename(this.#path, `${this.#path}.1`);
    await appendFile(this.#path, text, { mode: 0o600 });
  }
}

function entryOf({ org, dataset, receivedAt }: RejectedBatch, { reason, detail, bytes, head }: RejectedLine) {
  return { received_at: receivedAt, org, dataset: dataset ?? null, reason, detail, bytes, line: head };
}
