/** Remembers which batches were taken lately, so that one delivered again is acknowledged but not stored again. */
import { appendFile, type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from './segment.ts';
import { writeAll } from './write-all.ts';

/** Half of a SHA-256 is kept: enough to tell batches apart. */
const HASH_BYTES = 16;

/** A file of hash halves, oldest first. Batches still in the spool are remembered by the spool itself. */
export class SeenBatches {
  readonly #path: string;
  readonly #limit: number;
  #file: FileHandle;
  #size: number;
  /** In the order they were added. */
  readonly #hashes = new Set<string>();

  private constructor(path: string, file: FileHandle, size: number, limit: number) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
    this.#limit = limit;
  }

  /** @param limit batches to remember. */
  static async open(path: string, limit: number): Promise<SeenBatches> {
    await appendFile(path, '', { mode: 0o600 });
    const bytes = await readFile(path);
    const whole = bytes.length - (bytes.length % HASH_BYTES);
    const file = await open(path, 'r+');
    await file.truncate(whole);
    const seen = new SeenBatches(path, file, whole, limit);
    for (let at = 0; at < whole; at += HASH_BYTES) seen.#hashes.add(bytes.toString('hex', at, at + HASH_BYTES));
    seen.#forget();
    return seen;
  }

  has(hash: string): boolean {
    return this.#hashes.has(half(hash));
  }

  /** Remembers batches for good. Call before the files that hold them are deleted. */
  async add(hashes: readonly string[]): Promise<void> {
    const added = hashes.map(half);
    const bytes = Buffer.from(added.join(''), 'hex');
    await writeAll(this.#file, [bytes], this.#size);
    await this.#file.datasync();
    this.#size += bytes.length;
    for (const hash of added) {
      this.#hashes.delete(hash);
      this.#hashes.add(hash);
    }
    this.#forget();
    if (this.#size > 2 * this.#limit * HASH_BYTES) await this.#rewrite();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #forget(): void {
    for (const oldest of this.#hashes) {
      if (this.#hashes.size <= this.#limit) return;
      this.#hashes.delete(oldest);
    }
  }

  async #rewrite(): Promise<void> {
    const bytes = Buffer.from([...this.#hashes].join(''), 'hex');
    const temporary = `${this.#path}.new`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
      await rename(temporary, this.#path);
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      await file.close();
      throw error;
    }
    await this.#file.close();
    this.#file = file;
    this.#size = bytes.length;
  }
}

function half(hash: string): string {
  return hash.slice(0, 2 * HASH_BYTES);
}
