/** Decompresses snappy's block format (google/snappy, format_description.txt): the plain length, then literals and copies. */
import { UndecodableMetrics } from '../incoming.ts';

/** The plain length that a block announces, and where its elements begin. @throws UndecodableMetrics */
export function snappyLength(block: Uint8Array): { readonly length: number; readonly start: number } {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = block[index];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte >= 0x80) continue;
    if (length > 0xffffffff) break;
    return { length, start: index + 1 };
  }
  throw broken('its length cannot be read');
}

/**
 * The plain bytes of a block.
 * @param limit more plain bytes than this are not made. The caller has told a too long one by `snappyLength` before.
 * @throws UndecodableMetrics
 */
export function decompressSnappy(block: Uint8Array, limit: number): Buffer {
  const { length, start } = snappyLength(block);
  if (length > limit) throw broken(`it would have ${length} bytes`);
  const out = Buffer.allocUnsafe(length);
  let at = start;
  let end = 0;
  while (at < block.length) {
    const tag = block[at++]!;
    const kind = tag & 3;
    if (kind === 0) {
      const size = literalLength(block, tag, at);
      at += size.bytes;
      if (at + size.length > block.length || end + size.length > length) throw broken('a literal is too long');
      out.set(block.subarray(at, at + size.length), end);
      at += size.length;
      end += size.length;
      continue;
    }
    const bytes = kind === 1 ? 1 : kind === 2 ? 2 : 4;
    if (at + bytes > block.length) throw broken('a copy is cut off');
    const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const offset = kind === 1 ? ((tag >> 5) << 8) | block[at]! : little(block, at, bytes);
    at += bytes;
    if (offset === 0 || offset > end || end + count > length) throw broken('a copy reaches outside of the text');
    copyWithin(out, end, offset, count);
    end += count;
  }
  if (end !== length) throw broken('it ends too early');
  return out;
}

function literalLength(
  block: Uint8Array,
  tag: number,
  at: number,
): { readonly length: number; readonly bytes: number } {
  const short = tag >> 2;
  if (short < 60) return { length: short + 1, bytes: 0 };
  const bytes = short - 59;
  if (at + bytes > block.length) throw broken('a literal is cut off');
  return { length: little(block, at, bytes) + 1, bytes };
}

function little(block: Uint8Array, at: number, bytes: number): number {
  let value = 0;
  for (let index = bytes - 1; index >= 0; index -= 1) value = value * 256 + block[at + index]!;
  return value;
}

/** A copy may overlap what it writes: it then repeats its beginning. */
function copyWithin(out: Buffer, end: number, offset: number, count: number): void {
  const from = end - offset;
  if (offset >= count) {
    out.copyWithin(end, from, from + count);
    return;
  }
  for (let index = 0; index < count; index += 1) out[end + index] = out[from + index]!;
}

function broken(what: string): UndecodableMetrics {
  return new UndecodableMetrics(`The body is no snappy block: ${what}.`);
}
