/** The spool's memory of what it has loaded: which batches go together under which token, and which are in the store. */
import { appendFile, type FileHandle, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from './segment.ts';
import { Serial } from './serial.ts';
import { writeAll } from './write-all.ts';

/** Batches that are inserted as one, under one deduplication token. A retry must send exactly these again. */
export interface LoadGroup {
  readonly token: string;
  readonly sequences: readonly number[];
}

type Entry =
  | { readonly kind: 'next'; readonly sequence: number }
  | { readonly kind: 'group'; readonly group: LoadGroup }
  | { readonly kind: 'loaded'; readonly sequences: readonly number[] };

const COMPACT_ABOVE_BYTES = 1024 * 1024;

/** Lines of `<crc32> <json>`; a torn last line is ignored. */
export class Journal {
  readonly #path: string;
  #file: FileHandle;
  #size: number;
  #nextSequence: number;
  readonly #groups = new Map<string, LoadGroup>();
  readonly #loaded = new Set<number>();
  readonly #serial = new Serial();

  private constructor(path: string, file: FileHandle, size: number) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
    this.#nextSequence = 1;
  }

  static async open(path: string): Promise<Journal> {
    await appendFile(path, '', { mode: 0o600 });
    const text = await readFile(path, 'utf8');
    const entries: Entry[] = [];
    let goodBytes = 0;
    for (const line of text.split('\n')) {
      const entry = parseLine(line);
      if (entry === undefined) break;
      entries.push(entry);
      goodBytes += Buffer.byteLength(line) + 1;
    }
    const file = await open(path, 'r+');
    await file.truncate(goodBytes);
    const journal = new Journal(path, file, goodBytes);
    for (const entry of entries) journal.#apply(entry);
    return journal;
  }

  /** Greater than every sequence the journal has seen. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** Groups that were begun and not finished, oldest first. */
  openGroups(): LoadGroup[] {
    return [...this.#groups.values()];
  }

  isLoaded(sequence: number): boolean {
    return this.#loaded.has(sequence);
  }

  /** Call before the group is first sent. */
  async begin(group: LoadGroup): Promise<void> {
    await this.#serial.run(() => this.#write({ kind: 'group', group }));
  }

  /** Call when the store has the batches. */
  async finish(sequences: readonly number[]): Promise<void> {
    await this.#serial.run(() => this.#write({ kind: 'loaded', sequences }));
  }

  /**
   * Forgets marks of batches that are no longer in any file, once the journal is long. The files must be gone before: a batch without
   * its mark would be loaded again.
   */
  async compact(isKept: (sequence: number) => boolean): Promise<void> {
    if (this.#size >= COMPACT_ABOVE_BYTES) await this.#serial.run(() => this.#rewrite(isKept));
  }

  async #rewrite(isKept: (sequence: number) => boolean): Promise<void> {
    const kept = [...this.#loaded].filter(isKept);
    const entries: Entry[] = [
      { kind: 'next', sequence: this.#nextSequence },
      { kind: 'loaded', sequences: kept },
      ...this.openGroups().map((group): Entry => ({ kind: 'group', group })),
    ];
    const text = entries.map(formatLine).join('');
    const temporary = `${this.#path}.new`;
    const file = await open(temporary, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
      await rename(temporary, this.#path);
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      await file.close();
      throw error;
    }
    await this.#file.close();
    this.#file = file;
    this.#size = Buffer.byteLength(text);
    this.#loaded.clear();
    for (const sequence of kept) this.#loaded.add(sequence);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #write(entry: Entry): Promise<void> {
    const line = Buffer.from(formatLine(entry));
    await writeAll(this.#file, [line], this.#size);
    await this.#file.datasync();
    this.#size += line.length;
    this.#apply(entry);
  }

  #apply(entry: Entry): void {
    switch (entry.kind) {
      case 'next':
        this.#nextSequence = Math.max(this.#nextSequence, entry.sequence);
        break;
      case 'group':
        this.#groups.set(entry.group.token, entry.group);
        this.#raise(entry.group.sequences);
        break;
      case 'loaded':
        for (const sequence of entry.sequences) this.#loaded.add(sequence);
        this.#raise(entry.sequences);
        for (const group of this.#groups.values()) {
          if (group.sequences.every((sequence) => this.#loaded.has(sequence))) this.#groups.delete(group.token);
        }
        break;
    }
  }

  #raise(sequences: readonly number[]): void {
    for (const sequence of sequences) this.#nextSequence = Math.max(this.#nextSequence, sequence + 1);
  }
}

function formatLine(entry: Entry): string {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function parseLine(line: string): Entry | undefined {
  const json = line.slice(9);
  if (json === '' || crc32(json).toString(16).padStart(8, '0') !== line.slice(0, 8)) return undefined;
  return JSON.parse(json) as Entry;
}
