/** Holds accepted batches on disk, synced, until the store has them. */
import { mkdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type BatchMeta, byteLength, type Frame, HEADER_BYTES } from './frame.ts';
import { Journal, type LoadGroup } from './journal.ts';
import { SeenBatches } from './seen-batches.ts';
import { listSegments, type PendingBatch, readBody, SegmentWriter, scanSegment, syncDirectory } from './segment.ts';
import { Serial } from './serial.ts';
import { SpoolError, toSpoolError } from './spool-error.ts';

export interface SpoolOptions {
  readonly directory: string;
  /** Bytes of files after which batches are refused with `spool_full`. */
  readonly maxBytes: number;
  /** A file is closed when it is longer than this. Default 64 MiB, or a quarter of `maxBytes` if that is less. */
  readonly segmentBytes?: number;
  /** Bytes of the disk that are left to the engine and the metadata: below it batches are refused with `disk_full`. Default 0. */
  readonly minFreeBytes?: number;
  /** Batches remembered after they were loaded. Default 100,000. */
  readonly rememberedBatches?: number;
}

/** A batch that waits to be loaded. */
export interface SpooledBatch {
  readonly sequence: number;
  readonly meta: BatchMeta;
  readonly bytes: number;
}

interface SegmentState {
  readonly path: string;
  size: number;
  /** Sequences not loaded yet. */
  readonly waiting: Set<number>;
  readonly hashes: string[];
  open: boolean;
}

interface Stored {
  readonly frame: Frame;
  readonly segment: SegmentState;
}

interface Append {
  readonly meta: BatchMeta;
  readonly body: readonly Uint8Array[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: SpoolError) => void;
}

export interface SpoolStatus {
  /** That wait to be loaded. */
  readonly batches: number;
  readonly records: number;
  /** Of the waiting batches, decompressed. */
  readonly plainBytes: number;
  /** Of the files. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Of the oldest waiting batch, nanoseconds since the epoch in decimal; undefined when none waits. */
  readonly oldestReceivedAt: string | undefined;
  readonly oldestStoredAt: string | undefined;
  readonly lastError: string | undefined;
}

function spooled({ sequence, meta, bodyBytes }: Frame): SpooledBatch {
  return { sequence, meta, bytes: bodyBytes };
}

const DEFAULT_SEGMENT_BYTES = 64 * 1024 * 1024;
const DEFAULT_REMEMBERED = 100_000;
/** Batches synced together: more would make the first wait for the last. */
const COMMIT_BYTES = 32 * 1024 * 1024;

/** Opens the spool of a directory and finds what an earlier process left in it. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 });
  const journal = await Journal.open(join(options.directory, 'journal'));
  const seen = await SeenBatches.open(join(options.directory, 'seen'), options.rememberedBatches ?? DEFAULT_REMEMBERED);
  const spool = new Spool(options, journal, seen);
  await spool.recover();
  return spool;
}

export class Spool {
  readonly #options: SpoolOptions;
  readonly #segmentBytes: number;
  readonly #journal: Journal;
  readonly #seen: SeenBatches;
  readonly #segments: SegmentState[] = [];
  /** By sequence, oldest first: what is not loaded yet. */
  readonly #waiting = new Map<number, Stored>();
  /** Batches in the files, loaded or not, and batches being written, by hash. */
  readonly #present = new Map<string, Promise<void>>();
  readonly #queue: Append[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #dropping = new Serial();
  #writer: { readonly file: SegmentWriter; readonly state: SegmentState } | undefined;
  #nextSequence = 1;
  /** Of the files. */
  #bytes = 0;
  /** Of what waits. */
  #records = 0;
  #plainBytes = 0;
  #queuedBytes = 0;
  #committing: Promise<void> | undefined;
  #closed = false;
  #lastError: string | undefined;

  constructor(options: SpoolOptions, journal: Journal, seen: SeenBatches) {
    this.#options = options;
    this.#segmentBytes = Math.min(options.segmentBytes ?? DEFAULT_SEGMENT_BYTES, options.maxBytes / 4);
    this.#journal = journal;
    this.#seen = seen;
  }

  /** Reads the files that an earlier process left. Called once, by `openSpool`. */
  async recover(): Promise<void> {
    this.#nextSequence = this.#journal.nextSequence;
    const paths = await listSegments(this.#options.directory);
    for (const path of paths) {
      const { frames, size } = await scanSegment(path, path === paths.at(-1));
      const segment: SegmentState = { path, size, waiting: new Set(), hashes: [], open: false };
      this.#segments.push(segment);
      this.#bytes += size;
      for (const frame of frames) this.#recoverFrame(frame, segment);
    }
    await this.#dropLoadedSegments();
  }

  #recoverFrame(frame: Frame, segment: SegmentState): void {
    const { sequence, meta } = frame;
    this.#nextSequence = Math.max(this.#nextSequence, sequence + 1);
    // The same batch twice: a sender that was not answered sent it again, and both came to disk.
    const again = this.#present.has(meta.hash) || this.#seen.has(meta.hash);
    segment.hashes.push(meta.hash);
    this.#present.set(meta.hash, Promise.resolve());
    if (again || this.#journal.isLoaded(sequence)) return;
    this.#await(frame, segment);
  }

  #await(frame: Frame, segment: SegmentState): void {
    segment.waiting.add(frame.sequence);
    this.#waiting.set(frame.sequence, { frame, segment });
    this.#records += frame.meta.records;
    this.#plainBytes += frame.meta.plainBytes;
  }

  /**
   * Stores a batch; resolves when it is synced to disk. A batch that was taken before is not stored again, which is told by
   * `duplicate`. Rejects with a SpoolError, and then nothing of the batch is kept.
   */
  async append(body: readonly Uint8Array[], meta: BatchMeta): Promise<{ readonly duplicate: boolean }> {
    const present = this.#present.get(meta.hash);
    if (present !== undefined) {
      await present;
      return { duplicate: true };
    }
    if (this.#seen.has(meta.hash)) return { duplicate: true };
    const written = this.#enqueue(body, meta);
    this.#present.set(meta.hash, written);
    written.catch(() => this.#present.delete(meta.hash));
    await written;
    return { duplicate: false };
  }

  #enqueue(body: readonly Uint8Array[], meta: BatchMeta): Promise<void> {
    return new Promise((resolve, reject) => {
      const bytes = byteLength(body) + HEADER_BYTES;
      if (this.#closed) reject(new SpoolError('spool_closed', 'The service is stopping'));
      else if (this.#bytes + this.#queuedBytes + bytes > this.#options.maxBytes) {
        reject(new SpoolError('spool_full', 'Too much waits to be loaded into the log store'));
      } else {
        this.#queue.push({ meta, body, bytes, resolve, reject });
        this.#queuedBytes += bytes;
        this.#committing ??= this.#commit();
      }
    });
  }

  /** Writes what is queued, as many batches under one sync as came in meanwhile. */
  async #commit(): Promise<void> {
    // One turn of the event loop, so that what arrives together is synced together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#queue.length > 0) {
      const appends = this.#takeQueued();
      try {
        await this.#write(appends);
        this.#lastError = undefined;
        for (const append of appends) append.resolve();
      } catch (error) {
        const refusal = toSpoolError(error);
        this.#lastError = refusal.message;
        await this.#abandonWrite();
        for (const append of appends) append.reject(refusal);
      }
      for (const append of appends) this.#queuedBytes -= append.bytes;
      this.#notify();
    }
    this.#committing = undefined;
  }

  #takeQueued(): Append[] {
    let bytes = 0;
    let count = 0;
    for (const append of this.#queue) {
      bytes += append.bytes;
      if (count > 0 && bytes > COMMIT_BYTES) break;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #write(appends: readonly Append[]): Promise<void> {
    await this.#requireFreeDisk(appends);
    const { file, state } = await this.#openWriter();
    const batches = appends.map(
      ({ meta, body }, index): PendingBatch => ({ sequence: this.#nextSequence + index, meta, body }),
    );
    const frames = await file.append(batches);
    this.#nextSequence += frames.length;
    this.#bytes += file.size - state.size;
    state.size = file.size;
    for (const frame of frames) {
      state.hashes.push(frame.meta.hash);
      this.#await(frame, state);
    }
    if (file.size >= this.#segmentBytes) await this.#closeWriter();
  }

  async #requireFreeDisk(appends: readonly Append[]): Promise<void> {
    const { minFreeBytes = 0, directory } = this.#options;
    if (minFreeBytes === 0) return;
    const { bavail, bsize } = await statfs(directory);
    const needed = appends.reduce((sum, { bytes }) => sum + bytes, minFreeBytes);
    if (bavail * bsize < needed) throw new SpoolError('disk_full', 'The disk of the data directory is nearly full');
  }

  async #openWriter(): Promise<{ readonly file: SegmentWriter; readonly state: SegmentState }> {
    if (this.#writer === undefined) {
      const file = await SegmentWriter.create(this.#options.directory, this.#nextSequence);
      // A name is used once, even when the first write to the file fails.
      this.#nextSequence += 1;
      const state: SegmentState = { path: file.path, size: 0, waiting: new Set(), hashes: [], open: true };
      this.#segments.push(state);
      this.#writer = { file, state };
    }
    return this.#writer;
  }

  /** After a write that failed: cuts the torn rest off, or else writes no more to that file. */
  async #abandonWrite(): Promise<void> {
    await this.#writer?.file.rollBack().catch(() => this.#closeWriter());
  }

  async #closeWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    if (writer === undefined) return;
    writer.state.open = false;
    await writer.file.close().catch(() => undefined);
  }

  /** Batches that wait, oldest first. */
  *waiting(): Generator<SpooledBatch> {
    for (const { frame } of this.#waiting.values()) yield spooled(frame);
  }

  /** The batch, if it waits. */
  find(sequence: number): SpooledBatch | undefined {
    const stored = this.#waiting.get(sequence);
    return stored && spooled(stored.frame);
  }

  /** Groups that an earlier attempt began: they must be sent again as they were. */
  openGroups(): LoadGroup[] {
    return this.#journal.openGroups();
  }

  /** The bytes of a waiting batch, in pieces. Throws `batch_damaged`, before the first, when the disk gives others than were written. */
  read(sequence: number): AsyncIterable<Buffer> {
    const stored = this.#waiting.get(sequence);
    if (stored === undefined) throw new Error(`Batch ${sequence} does not wait in the spool`);
    return readBody(stored.segment.path, stored.frame);
  }

  /** Fixes for good which batches go together; call before they are first sent. */
  async begin(group: LoadGroup): Promise<void> {
    await this.#journal.begin(group).catch((error: unknown) => {
      throw toSpoolError(error);
    });
  }

  /** Marks batches as stored, for good, and deletes the files that are no longer needed. */
  async finish(sequences: readonly number[]): Promise<void> {
    await this.#journal.finish(sequences).catch((error: unknown) => {
      throw toSpoolError(error);
    });
    for (const sequence of sequences) {
      const stored = this.#waiting.get(sequence);
      if (stored === undefined) continue;
      stored.segment.waiting.delete(sequence);
      this.#waiting.delete(sequence);
      this.#records -= stored.frame.meta.records;
      this.#plainBytes -= stored.frame.meta.plainBytes;
    }
    await this.#dropping.run(() => this.#dropLoadedSegments());
  }

  async #dropLoadedSegments(): Promise<void> {
    const writer = this.#writer;
    if (writer !== undefined && this.#waiting.size === 0 && this.#committing === undefined) await this.#closeWriter();
    const done = this.#segments.filter((segment) => !segment.open && segment.waiting.size === 0);
    if (done.length === 0) return;
    await this.#seen.add(done.flatMap((segment) => segment.hashes));
    for (const segment of done) {
      await rm(segment.path, { force: true });
      this.#segments.splice(this.#segments.indexOf(segment), 1);
      this.#bytes -= segment.size;
      for (const hash of segment.hashes) this.#present.delete(hash);
    }
    await syncDirectory(this.#options.directory);
    await this.#journal.compact((sequence) => sequence >= this.#oldestSequence());
    this.#notify();
  }

  #oldestSequence(): number {
    const oldest = this.#segments[0]?.path;
    return oldest === undefined ? this.#nextSequence : Number(/(\d{16})\.spool$/.exec(oldest)?.[1]);
  }

  status(): SpoolStatus {
    const oldest = this.#waiting.values().next().value?.frame.meta;
    return {
      batches: this.#waiting.size,
      records: this.#records,
      plainBytes: this.#plainBytes,
      bytes: this.#bytes,
      maxBytes: this.#options.maxBytes,
      oldestReceivedAt: oldest?.receivedAt,
      oldestStoredAt: oldest?.storedAt,
      lastError: this.#lastError,
    };
  }

  /** Calls `listener` after each change; the result takes it off again. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Waits for what is being written; refuses what comes later. What waits is loaded by the next process. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#committing;
    await this.#closeWriter();
    await this.#journal.close();
    await this.#seen.close();
  }
}
