/** One file of the spool: batches are appended and synced to it, and read back from it. */
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BatchMeta,
  checksum,
  decodeFrameHead,
  descriptionLength,
  encodeFrameHead,
  type Frame,
  HEADER_BYTES,
} from './frame.ts';
import { SpoolError } from './spool-error.ts';
import { writeAll } from './write-all.ts';

const NAME = /^batches-(\d{16})\.spool$/;

export function segmentPath(directory: string, firstSequence: number): string {
  return join(directory, `batches-${String(firstSequence).padStart(16, '0')}.spool`);
}

/** Paths of the segments in a directory, oldest first. */
export async function listSegments(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => NAME.test(name)).sort();
  return names.map((name) => join(directory, name));
}

export interface PendingBatch {
  readonly sequence: number;
  readonly meta: BatchMeta;
  readonly body: readonly Uint8Array[];
}

/** A segment that is open for appending. One append at a time. */
export class SegmentWriter {
  readonly path: string;
  readonly #file: FileHandle;
  /** Bytes that are known to be synced; the file may hold a torn rest behind them. */
  #size = 0;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Makes the file and syncs the directory, so that the file itself survives. */
  static async create(directory: string, firstSequence: number): Promise<SegmentWriter> {
    const path = segmentPath(directory, firstSequence);
    const file = await open(path, 'wx', 0o600);
    await syncDirectory(directory);
    return new SegmentWriter(path, file);
  }

  get size(): number {
    return this.#size;
  }

  /** Writes the batches and syncs them together. When it throws, none of them counts as written. */
  async append(batches: readonly PendingBatch[]): Promise<Frame[]> {
    const chunks: Uint8Array[] = [];
    const frames: Frame[] = [];
    let offset = this.#size;
    for (const { sequence, meta, body } of batches) {
      const head = encodeFrameHead(sequence, meta, body);
      const frame = decodeFrameHead(head, offset);
      if (frame === undefined) throw new SpoolError('spool_failed', 'The description of the batch is too long');
      chunks.push(head, ...body);
      frames.push(frame);
      offset = frame.end;
    }
    await writeAll(this.#file, chunks, this.#size);
    await this.#file.datasync();
    this.#size = offset;
    return frames;
  }

  /** Takes back what a failed append left. Throws when that fails too: then nothing may be appended any more. */
  async rollBack(): Promise<void> {
    await this.#file.truncate(this.#size);
    await this.#file.datasync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export interface SegmentContent {
  readonly frames: readonly Frame[];
  /** Batches and bytes that were being written when the process ended. No sender was told that they are stored. */
  readonly torn: number;
  readonly size: number;
}

/**
 * Reads what a segment holds after a start.
 * @param checkBodies for the newest segment: the only one in which a write can have been cut off.
 */
export async function scanSegment(path: string, checkBodies: boolean): Promise<SegmentContent> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const frames: Frame[] = [];
    let torn = 0;
    let offset = 0;
    while (offset < size) {
      const frame = await readFrameHead(file, offset);
      if (frame === undefined || frame.end > size) {
        torn += 1;
        break;
      }
      if (!checkBodies || (await bodyIsWhole(file, frame))) frames.push(frame);
      else torn += 1;
      offset = frame.end;
    }
    return { frames, torn, size };
  } finally {
    await file.close();
  }
}

async function readFrameHead(file: FileHandle, offset: number): Promise<Frame | undefined> {
  const header = Buffer.alloc(HEADER_BYTES);
  const read = await file.read(header, 0, HEADER_BYTES, offset);
  const length = descriptionLength(header.subarray(0, read.bytesRead));
  if (length === undefined) return undefined;
  const head = Buffer.alloc(HEADER_BYTES + length);
  const { bytesRead } = await file.read(head, 0, head.length, offset);
  return decodeFrameHead(head.subarray(0, bytesRead), offset);
}

/** Bytes of a body that are in memory at once. */
const PIECE_BYTES = 1024 * 1024;

async function* pieces(file: FileHandle, { bodyOffset, bodyBytes }: Frame): AsyncGenerator<Buffer> {
  for (let at = 0; at < bodyBytes; ) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, bodyBytes - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, bodyOffset + at);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}

async function bodyIsWhole(file: FileHandle, frame: Frame): Promise<boolean> {
  let bytes = 0;
  let sum = 0;
  for await (const piece of pieces(file, frame)) {
    bytes += piece.length;
    sum = checksum([piece], sum);
  }
  return bytes === frame.bodyBytes && sum === frame.bodyChecksum;
}

/**
 * The bytes of a stored batch, in pieces. All of them are checked first: what is damaged must not get into the store by half.
 * @throws SpoolError `batch_damaged` when they are not what was written
 */
export async function* readBody(path: string, frame: Frame): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    if (!(await bodyIsWhole(file, frame))) {
      throw new SpoolError('batch_damaged', `Batch ${frame.sequence} of ${path} is damaged`);
    }
    yield* pieces(file, frame);
  } finally {
    await file.close();
  }
}
