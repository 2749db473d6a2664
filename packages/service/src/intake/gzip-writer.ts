/** Compresses what is written to it in memory, off the main thread. */
import { createGzip, type Gzip } from 'node:zlib';
import type { Lease } from './byte-budget.ts';

/** Fast: the bytes live for seconds, between intake and the store. */
const LEVEL = 1;
/** What zlib holds for one stream: 256 KiB for its window and tables, and a chunk of output. A batch of many datasets has a stream for each. */
const STREAM_BYTES = 320 * 1024;

export class GzipWriter {
  readonly #gzip: Gzip = createGzip({ level: LEVEL });
  readonly #lease: Lease;
  readonly #written: Buffer[] = [];
  #pending: Buffer[] = [];
  /** Bytes held that the lease does not know of yet. */
  #unleased = STREAM_BYTES;

  constructor(lease: Lease) {
    this.#lease = lease;
    this.#gzip.on('data', (chunk: Buffer) => {
      this.#written.push(chunk);
      this.#unleased += chunk.length;
    });
  }

  /** Takes bytes, which must not change before the next `flush` is done. */
  write(bytes: Buffer): void {
    this.#pending.push(bytes);
  }

  /** Resolves when what was written is compressed. @throws Refusal `unavailable` when there is no memory for it */
  async flush(): Promise<void> {
    if (this.#pending.length === 0) return;
    const bytes = this.#pending.length === 1 ? (this.#pending[0] as Buffer) : Buffer.concat(this.#pending);
    this.#pending = [];
    await new Promise<void>((resolve, reject) => {
      this.#gzip.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    await this.#account();
  }

  /** The compressed bytes. */
  async end(): Promise<Buffer[]> {
    await this.flush();
    await new Promise<void>((resolve, reject) => {
      this.#gzip.once('end', resolve).once('error', reject);
      this.#gzip.end();
    });
    await this.#account();
    return this.#written;
  }

  async #account(): Promise<void> {
    const bytes = this.#unleased;
    this.#unleased = 0;
    await this.#lease.grow(bytes);
  }
}
