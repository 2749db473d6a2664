/** Reads the body of a delivered batch once: decompresses it as it comes, checks its size, and keeps it compressed. */
import { createHash } from 'node:crypto';
import { pipeline, Readable, type TransformOptions } from 'node:stream';
import { crc32, createGunzip, type ZlibOptions } from 'node:zlib';
import { Refusal } from '../refusal.ts';
import type { Lease } from './byte-budget.ts';
import { GzipWriter } from './gzip-writer.ts';

export interface DeliveryLimits {
  /** Largest compressed body in bytes. */
  readonly compressed: number;
  /** Largest body in bytes after decompression. */
  readonly plain: number;
}

export interface Delivery {
  /** The body, gzip-compressed. */
  readonly kept: readonly Buffer[];
  /** Bytes after decompression. */
  readonly plainBytes: number;
  /** SHA-256 of the decompressed bytes, in hex. */
  readonly digest: string;
  /** `kept` is one whole gzip member and nothing else, so that other members may follow it. */
  readonly oneMember: boolean;
}

/** Decompressed bytes handled at once: small enough not to keep other requests waiting. */
const CHUNK_BYTES = 256 * 1024;
const GZIP_TRAILER_BYTES = 8;
/** Each chunk comes as the decompressor wrote it: a stream of bytes would join those that wait, and then it is unknown which buffer is in use. */
const GUNZIP_OPTIONS: ZlibOptions & TransformOptions = {
  chunkSize: CHUNK_BYTES,
  readableObjectMode: true,
  readableHighWaterMark: 2,
};

/**
 * Whether the body is compressed is told by its first two bytes, never by a header: senders and proxies get that wrong.
 * @param take is given the decompressed bytes in pieces, and what it resolves is waited for. A piece is good until the next one is asked for: what
 *   is kept longer must be copied.
 * @throws Refusal `body_too_large`, `bad_request` for a body that is no whole gzip, `unavailable` when there is no memory for it
 */
export async function readDelivery(
  source: AsyncIterable<Buffer>,
  limits: DeliveryLimits,
  lease: Lease,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<Delivery> {
  const { gzip, chunks } = await sniffed(source[Symbol.asyncIterator]());
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  const writer = gzip ? undefined : new GzipWriter(lease);
  const plain = gzip ? gunzipped(kept, keeping(chunks, kept, limits, lease)) : chunks;
  let plainBytes = 0;
  let checksum = 0;
  for await (const chunk of plain) {
    plainBytes += chunk.length;
    if (plainBytes > limits.plain) throw tooLarge(limits.plain, gzip ? 'after decompression' : 'in all');
    hash.update(chunk);
    if (gzip) checksum = crc32(chunk, checksum);
    await take(chunk);
    writer?.write(chunk);
    await writer?.flush();
  }
  const oneMember = !gzip || endsWithTrailer(kept, checksum, plainBytes);
  return { kept: writer ? await writer.end() : kept, plainBytes, digest: hash.digest('hex'), oneMember };
}

/** The decompressed bytes of a kept delivery, once more, in pieces that are good until the next one is asked for. */
export function plainChunks({ kept }: Delivery): AsyncIterable<Buffer> {
  return gunzipped(kept, kept);
}

async function sniffed(
  iterator: AsyncIterator<Buffer>,
): Promise<{ readonly gzip: boolean; readonly chunks: AsyncIterable<Buffer> }> {
  let head = Buffer.alloc(0);
  let done = false;
  while (head.length < 2 && !done) {
    const next = await iterator.next();
    done = next.done === true;
    if (!next.done) head = Buffer.concat([head, next.value]);
  }
  const rest: AsyncIterable<Buffer> = { [Symbol.asyncIterator]: () => iterator };
  const chunks = (async function* () {
    if (head.length > 0) yield head;
    if (!done) yield* rest;
  })();
  return { gzip: head[0] === 0x1f && head[1] === 0x8b, chunks };
}

async function* keeping(
  chunks: AsyncIterable<Buffer>,
  kept: Buffer[],
  limits: DeliveryLimits,
  lease: Lease,
): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limits.compressed) throw tooLarge(limits.compressed, 'as it was sent');
    await lease.grow(chunk.length);
    kept.push(chunk);
    yield chunk;
  }
}

async function* gunzipped(
  kept: readonly Buffer[],
  compressed: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip(GUNZIP_OPTIONS);
  // What goes wrong on the way comes out of the loop below; the callback only has to be there.
  pipeline(Readable.from(compressed), gunzip, () => undefined);
  let last: ArrayBufferLike | undefined;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      // Several chunks may lie in one buffer; the decompressor has left it when a chunk comes in another.
      if (last !== undefined && last !== chunk.buffer) free(last);
      last = chunk.buffer;
      yield chunk;
    }
  } catch (error) {
    throw gzipRefusal(error, kept);
  }
}

/**
 * Gives memory back at once. The collector would do it too, but it looks through the whole heap for every few dozen megabytes of such buffers: at
 * a gigabyte of lines that was a quarter of all work.
 */
function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= CHUNK_BYTES) buffer.transfer(0);
}

function gzipRefusal(error: unknown, kept: readonly Buffer[]): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') {
    const bytes = kept.reduce((sum, chunk) => sum + chunk.length, 0);
    return new Refusal('bad_request', `The gzip body ends too early, after ${bytes} bytes; nothing of it was stored.`);
  }
  if (code === undefined || !code.startsWith('Z_')) return error;
  const { message } = error as Error;
  return new Refusal('bad_request', `The gzip body cannot be decompressed (${message}); nothing of it was stored.`);
}

/** RFC 1952: a member ends with the CRC-32 and the size, modulo 2^32, of what was compressed. */
function endsWithTrailer(kept: readonly Buffer[], checksum: number, plainBytes: number): boolean {
  const tail = Buffer.concat(kept.slice(-GZIP_TRAILER_BYTES)).subarray(-GZIP_TRAILER_BYTES);
  return (
    tail.length === GZIP_TRAILER_BYTES &&
    tail.readUInt32LE(0) === checksum &&
    tail.readUInt32LE(4) === plainBytes % 2 ** 32
  );
}

function tooLarge(limit: number, when: string): Refusal {
  const advice = 'Lower max_upload_bytes of the job, or raise the limit of the service';
  return new Refusal('body_too_large', `The batch is larger than ${limit} bytes ${when}. ${advice}.`);
}
