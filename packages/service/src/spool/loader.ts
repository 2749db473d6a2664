/** Empties the spool into the store: groups batches, sends each group under one token until the store has it, then marks it. */
import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type BatchMeta, byteLength, encodeFrameHead } from './frame.ts';
import type { LoadGroup } from './journal.ts';
import { syncDirectory } from './segment.ts';
import type { Spool, SpooledBatch } from './spool.ts';
import { SpoolError } from './spool-error.ts';
import { writeAll } from './write-all.ts';

/** Batches of one org, dataset and form, to be inserted as one under `token`. */
export interface LoadRequest {
  readonly token: string;
  readonly org: string;
  readonly dataset: string;
  readonly form: BatchMeta['form'];
  readonly contentEncoding: BatchMeta['contentEncoding'];
  readonly fields: readonly string[];
  /** The first batch's, nanoseconds in decimal. */
  readonly receivedAt: string;
  readonly storedAt: string;
  readonly plainBytes: number;
  /** The batches one after another, each in pieces that are read as they are asked for. */
  bodies(): Iterable<AsyncIterable<Buffer>>;
}

export interface LoaderLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface LoaderOptions {
  readonly spool: Spool;
  /** Where groups go that the store refuses for good. */
  readonly quarantineDirectory: string;
  /**
   * Inserts a group. Must be idempotent under its token. Rejects with an error for which `isLasting` says whether trying again
   * is of no use.
   */
  readonly insert: (request: LoadRequest, signal: AbortSignal) => Promise<void>;
  readonly isLasting: (error: unknown) => boolean;
  /** Resolves when the store can be written to. */
  readonly whenReady: (signal: AbortSignal) => Promise<void>;
  /** Decompressed bytes that go into one insert. A batch that is bigger goes alone. 0: each batch goes alone. */
  readonly groupBytes: number;
  /** Inserts at once. */
  readonly parallel: number;
  /** Decompressed bytes inserted at once. A group that is bigger goes when nothing else does. */
  readonly parallelBytes: number;
  readonly log: LoaderLog;
}

export interface Loader {
  start(): void;
  /** Resolves when nothing waits. For tests and for a stop that wants an empty spool. */
  drained(signal?: AbortSignal): Promise<void>;
  readonly status: () => LoaderStatus;
  /** Gives running inserts up; the next start sends them again. */
  stop(): Promise<void>;
}

export interface LoaderStatus {
  readonly loadedBatches: number;
  readonly loadedRecords: number;
  readonly quarantinedBatches: number;
  readonly lastError: string | undefined;
}

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;
/** A refusal that looks lasting is still tried this often, since a mistake here would set good batches aside. */
const LASTING_ATTEMPTS = 3;
/** Batches in one group: its line in the journal stays short. */
const GROUP_BATCHES = 10_000;
/** Batches in one group were received within this time, so that one time of receipt stands for all. */
const GROUP_SPAN_NS = 10_000_000_000n;

export function createLoader(options: LoaderOptions): Loader {
  return new SpoolLoader(options);
}

class SpoolLoader implements Loader {
  readonly #options: LoaderOptions;
  readonly #stopping = new AbortController();
  /** Sequences that are being loaded. */
  readonly #busy = new Set<number>();
  /** Decompressed. */
  #busyBytes = 0;
  readonly #running = new Set<Promise<void>>();
  #unsubscribe: (() => void) | undefined;
  #loadedBatches = 0;
  #loadedRecords = 0;
  #quarantinedBatches = 0;
  #lastError: string | undefined;

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#unsubscribe ??= this.#options.spool.onChange(() => this.#fill());
    this.#fill();
  }

  status = (): LoaderStatus => ({
    loadedBatches: this.#loadedBatches,
    loadedRecords: this.#loadedRecords,
    quarantinedBatches: this.#quarantinedBatches,
    lastError: this.#lastError,
  });

  async drained(signal?: AbortSignal): Promise<void> {
    while (this.#options.spool.status().batches > 0) {
      signal?.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#stopping.abort(new Error('The loader is stopped'));
    await Promise.allSettled(this.#running);
  }

  /** Starts as many loads as may run. */
  #fill(): void {
    while (this.#mayStart()) {
      const next = this.#nextGroup();
      if (next === undefined) return;
      const bytes = plainBytesOf(this.#batches(next.group));
      // Not a smaller one instead: what is big must have its turn too.
      if (this.#running.size > 0 && this.#busyBytes + bytes > this.#options.parallelBytes) return;
      for (const sequence of next.group.sequences) this.#busy.add(sequence);
      this.#busyBytes += bytes;
      const run = this.#load(next.group, next.begun).finally(() => {
        for (const sequence of next.group.sequences) this.#busy.delete(sequence);
        this.#busyBytes -= bytes;
        this.#running.delete(run);
        this.#fill();
      });
      this.#running.add(run);
      run.catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) this.#options.log.error({ error }, 'loading from the spool failed');
      });
    }
  }

  #nextGroup(): { readonly group: LoadGroup; readonly begun: boolean } | undefined {
    const { spool } = this.#options;
    const open = spool.openGroups();
    for (const group of open) {
      if (!group.sequences.some((sequence) => this.#busy.has(sequence))) return { group, begun: true };
    }
    const taken = new Set(open.flatMap((group) => group.sequences));
    const isFree = ({ sequence }: SpooledBatch) => !this.#busy.has(sequence) && !taken.has(sequence);
    const members = chooseGroup(spool.waiting(), isFree, this.#options.groupBytes);
    return members.length === 0 ? undefined : { group: toGroup(members), begun: false };
  }

  /** Beside a running insert only what makes a good part of a group is worth an insert: many small ones cost more than they save. */
  #mayStart(): boolean {
    const { spool, parallel, groupBytes } = this.#options;
    if (this.#stopping.signal.aborted || this.#running.size >= parallel) return false;
    return this.#running.size === 0 || spool.status().plainBytes - this.#busyBytes >= groupBytes / 2;
  }

  #batches({ sequences }: LoadGroup): SpooledBatch[] {
    return sequences.map((sequence) => this.#options.spool.find(sequence)).filter((batch) => batch !== undefined);
  }

  async #load(group: LoadGroup, begun: boolean): Promise<void> {
    const { spool, log } = this.#options;
    const { signal } = this.#stopping;
    const batches = this.#batches(group);
    if (batches.length === 0) {
      await this.#retry(
        () => spool.finish(group.sequences),
        () => false,
      );
      return;
    }
    await this.#retry(
      () => (begun ? Promise.resolve() : spool.begin(group)),
      () => false,
    );
    const outcome = await this.#retry(async () => {
      await this.#options.whenReady(signal);
      await this.#options.insert(this.#request(group, batches), signal);
    }, this.#options.isLasting);
    if (outcome !== undefined) {
      log.error({ error: outcome, batches: group.sequences }, 'the store refuses batches for good: they are set aside');
      await this.#retry(
        () => this.#setAside(group, batches),
        () => false,
      );
      this.#quarantinedBatches += batches.length;
    } else {
      this.#loadedBatches += batches.length;
      for (const { meta } of batches) this.#loadedRecords += meta.records;
    }
    await this.#retry(
      () => spool.finish(group.sequences),
      () => false,
    );
  }

  /** Tries until it works. Gives the error back when it is lasting; rejects only when the loader is stopped. */
  async #retry(attempt: () => Promise<void>, isLasting: (error: unknown) => boolean): Promise<unknown> {
    let wait = FIRST_RETRY_MS;
    for (let lasting = 0; ; ) {
      this.#stopping.signal.throwIfAborted();
      try {
        await attempt();
        this.#lastError = undefined;
        return undefined;
      } catch (error) {
        this.#stopping.signal.throwIfAborted();
        this.#lastError = error instanceof Error ? error.message : String(error);
        lasting += isLasting(error) ? 1 : 0;
        if (lasting >= LASTING_ATTEMPTS) return error;
        this.#options.log.warn({ error: this.#lastError, retryInMs: wait }, 'loading from the spool is tried again');
      }
      await sleep(wait, this.#stopping.signal);
      wait = Math.min(wait * 2, LONGEST_RETRY_MS);
    }
  }

  #request(group: LoadGroup, batches: readonly SpooledBatch[]): LoadRequest {
    const { spool, log } = this.#options;
    const first = batches[0] as SpooledBatch;
    return {
      token: group.token,
      org: first.meta.org,
      dataset: first.meta.dataset,
      form: first.meta.form,
      contentEncoding: first.meta.contentEncoding,
      fields: [...new Set(batches.flatMap(({ meta }) => meta.fields ?? []))],
      receivedAt: first.meta.receivedAt,
      storedAt: first.meta.storedAt,
      plainBytes: plainBytesOf(batches),
      bodies: () => batches.map(({ sequence }) => undamaged(spool, sequence, log)),
    };
  }

  /** Copies batches that cannot be loaded to a file of the same form as the spool's, so that nothing is lost. */
  async #setAside(group: LoadGroup, batches: readonly SpooledBatch[]): Promise<void> {
    const directory = this.#options.quarantineDirectory;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const file = await open(
      join(directory, `batches-${String(group.sequences[0]).padStart(16, '0')}.spool`),
      'w',
      0o600,
    );
    let size = 0;
    try {
      for (const { sequence, meta } of batches) {
        const body = await buffer(undamaged(this.#options.spool, sequence, this.#options.log));
        if (body.length === 0) continue;
        const frame = [encodeFrameHead(sequence, meta, [body]), body];
        await writeAll(file, frame, size);
        size += byteLength(frame);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await syncDirectory(directory);
  }
}

/** The oldest free batch and those behind it that can go into the same insert. */
function chooseGroup(
  waiting: Iterable<SpooledBatch>,
  isFree: (batch: SpooledBatch) => boolean,
  groupBytes: number,
): SpooledBatch[] {
  const group: SpooledBatch[] = [];
  let bytes = 0;
  for (const batch of waiting) {
    if (!isFree(batch)) continue;
    const [first] = group;
    if (first !== undefined && (bytes + batch.meta.plainBytes > groupBytes || group.length >= GROUP_BATCHES)) break;
    if (first !== undefined && !belongTogether(first.meta, batch.meta)) continue;
    group.push(batch);
    bytes += batch.meta.plainBytes;
  }
  return group;
}

function plainBytesOf(batches: readonly SpooledBatch[]): number {
  return batches.reduce((sum, { meta }) => sum + meta.plainBytes, 0);
}

function belongTogether(first: BatchMeta, other: BatchMeta): boolean {
  return (
    first.org === other.org &&
    first.dataset === other.dataset &&
    first.form === other.form &&
    first.contentEncoding === other.contentEncoding &&
    BigInt(other.receivedAt) - BigInt(first.receivedAt) <= GROUP_SPAN_NS
  );
}

/** A batch alone goes under its own hash, so that a server shared by several processes knows it again. */
function toGroup(members: readonly SpooledBatch[]): LoadGroup {
  const sequences = members.map(({ sequence }) => sequence);
  const only = members.length === 1 ? members[0] : undefined;
  if (only !== undefined) return { token: only.meta.hash, sequences };
  const hash = createHash('sha256');
  for (const { meta } of members) hash.update(meta.hash);
  return { token: hash.digest('hex'), sequences };
}

/** A batch that the disk no longer gives back as it was written is reported and left out: it must not hold up the others. */
async function* undamaged(spool: Spool, sequence: number, log: LoaderLog): AsyncGenerator<Buffer> {
  try {
    yield* spool.read(sequence);
  } catch (error) {
    if (!(error instanceof SpoolError) || error.code !== 'batch_damaged') throw error;
    log.error({ error: error.message }, 'a batch in the spool is damaged and cannot be loaded');
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
