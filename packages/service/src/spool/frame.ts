/** How a batch lies in a spool file: a fixed header with lengths and checksums, its description as JSON, then its bytes. */
import { crc32 } from 'node:zlib';

/** What the spool must know of a batch to load it later. */
export interface BatchMeta {
  readonly org: string;
  readonly dataset: string;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly receivedAt: string;
  /** When the batch was handed to the spool, in the same form. */
  readonly storedAt: string;
  /** SHA-256 of what was delivered, in hex: the batch's identity. */
  readonly hash: string;
  readonly contentEncoding: 'identity' | 'gzip';
  /** `lines` are delivered lines as they came, `records` are rows ready for the table. */
  readonly form: 'lines' | 'records';
  /** Records in the batch. */
  readonly records: number;
  /** Bytes after decompression. */
  readonly plainBytes: number;
  /** For `lines`: the top-level fields that occur in them. */
  readonly fields?: readonly string[];
}

const MAGIC = 0x5042534f; // "OSBP" in little-endian order
export const HEADER_BYTES = 32;
/** No description is near this; a length above it is damage. */
const MAX_META_BYTES = 1024 * 1024;

export interface Frame {
  readonly sequence: number;
  readonly meta: BatchMeta;
  /** Offset of the body in the file. */
  readonly bodyOffset: number;
  readonly bodyBytes: number;
  readonly bodyChecksum: number;
  /** Offset just after the frame. */
  readonly end: number;
}

/** Header and description of a batch; the body's bytes follow them in the file. */
export function encodeFrameHead(sequence: number, meta: BatchMeta, body: readonly Uint8Array[]): Buffer {
  const description = Buffer.from(JSON.stringify(meta));
  const head = Buffer.alloc(HEADER_BYTES + description.length);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(description.length, 4);
  head.writeUInt32LE(byteLength(body), 8);
  head.writeUInt32LE(checksum(body), 12);
  head.writeBigUInt64LE(BigInt(sequence), 16);
  description.copy(head, HEADER_BYTES);
  head.writeUInt32LE(headChecksum(head), 24);
  return head;
}

export function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

/** @param before the checksum of what comes before these chunks */
export function checksum(chunks: readonly Uint8Array[], before = 0): number {
  return chunks.reduce((value, chunk) => crc32(chunk, value), before);
}

/** Over the header without the checksum itself, and the description. */
function headChecksum(head: Buffer): number {
  return crc32(head.subarray(HEADER_BYTES), crc32(head.subarray(0, 24)));
}

/** Length of the description after this header, or undefined when this is no header. */
export function descriptionLength(header: Buffer): number | undefined {
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== MAGIC) return undefined;
  const length = header.readUInt32LE(4);
  return length > MAX_META_BYTES ? undefined : length;
}

/** Reads header and description; undefined when they are damaged. The body is not looked at. */
export function decodeFrameHead(head: Buffer, offset: number): Frame | undefined {
  const length = descriptionLength(head);
  if (length === undefined || head.length < HEADER_BYTES + length) return undefined;
  const whole = head.subarray(0, HEADER_BYTES + length);
  if (whole.readUInt32LE(24) !== headChecksum(whole)) return undefined;
  const bodyBytes = whole.readUInt32LE(8);
  const bodyOffset = offset + whole.length;
  return {
    sequence: Number(whole.readBigUInt64LE(16)),
    meta: JSON.parse(whole.toString('utf8', HEADER_BYTES)) as BatchMeta,
    bodyOffset,
    bodyBytes,
    bodyChecksum: whole.readUInt32LE(12),
    end: bodyOffset + bodyBytes,
  };
}
