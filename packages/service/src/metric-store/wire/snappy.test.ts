/** Snappy blocks of every kind of element, generated with the text they stand for; and bytes that are no block. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { snappyLiterals } from '../../../../../tasks/remote-write.ts';
import { UndecodableMetrics } from '../incoming.ts';
import { decompressSnappy, snappyLength } from './snappy.ts';

const LIMIT = 1 << 24;

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

const little = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** index) % 256);

type Element =
  | { readonly kind: 'literal'; readonly bytes: Uint8Array; readonly width: number }
  | { readonly kind: 'copy'; readonly back: number; readonly count: number; readonly width: 1 | 2 | 4 };

const element: fc.Arbitrary<Element> = fc.oneof(
  fc.record({
    kind: fc.constant('literal' as const),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 300 }),
    // 0: the length in the tag, where it fits.
    width: fc.constantFrom(0, 1, 2, 3, 4),
  }),
  fc.record({
    kind: fc.constant('copy' as const),
    back: fc.nat(2_000),
    count: fc.integer({ min: 1, max: 64 }),
    width: fc.constantFrom(1 as const, 2 as const, 4 as const),
  }),
);

/** The block that the elements make, and its text. A copy that cannot be where it stands is left out. */
function encode(elements: readonly Element[]): { block: Uint8Array; text: number[] } {
  const text: number[] = [];
  const body: number[] = [];
  for (const each of elements) {
    if (each.kind === 'literal') {
      const length = each.bytes.length;
      const width = each.width === 0 && length > 60 ? 2 : each.width === 1 && length > 256 ? 2 : each.width;
      if (width === 0) body.push((length - 1) << 2);
      else body.push((59 + width) << 2, ...little(length - 1, width));
      body.push(...each.bytes);
      text.push(...each.bytes);
      continue;
    }
    if (text.length === 0) continue;
    const offset = 1 + (each.back % text.length);
    const short = each.width === 1 && offset < 2_048;
    const count = short ? 4 + (each.count % 8) : each.count;
    const width = each.width === 1 && !short ? 2 : each.width;
    if (width === 1) body.push(1 | ((count - 4) << 2) | ((offset >> 8) << 5), offset & 0xff);
    else body.push((width === 2 ? 2 : 3) | ((count - 1) << 2), ...little(offset, width));
    for (let index = 0; index < count; index += 1) text.push(text[text.length - offset]!);
  }
  return { block: Uint8Array.from([...varint(text.length), ...body]), text };
}

describe('a snappy block', () => {
  it('of literals and copies of all widths is its text', () => {
    fc.assert(
      fc.property(fc.array(element, { maxLength: 40 }), (elements) => {
        const { block, text } = encode(elements);
        expect(snappyLength(block).length).toBe(text.length);
        expect([...decompressSnappy(block, LIMIT)]).toEqual(text);
      }),
      { numRuns: 300 },
    );
  });

  it('of long literals is its text', () => {
    const plain = Buffer.alloc(200_000, 'abcdefg');
    expect(decompressSnappy(snappyLiterals(plain), LIMIT).equals(plain)).toBe(true);
    expect(decompressSnappy(Uint8Array.of(0), LIMIT)).toHaveLength(0);
  });

  it('that is cut off, changed or made up is its text or refused, and never reads or writes elsewhere', () => {
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .tuple(fc.array(element, { minLength: 1, maxLength: 10 }), fc.nat(), fc.nat(255))
        .map(([elements, place, byte]) => {
          const { block } = encode(elements);
          block[place % block.length] = byte;
          return block;
        }),
    );
    fc.assert(
      fc.property(anything, fc.nat(300), (block, cut) => {
        try {
          const bytes = decompressSnappy(block.subarray(0, Math.max(0, block.length - cut)), 100_000);
          expect(bytes.length).toBeLessThanOrEqual(100_000);
        } catch (error) {
          expect(error).toBeInstanceOf(UndecodableMetrics);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('that is longer than the limit is refused before anything is made of it', () => {
    expect(() => decompressSnappy(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f), LIMIT)).toThrow(UndecodableMetrics);
    expect(() => snappyLength(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff))).toThrow(UndecodableMetrics);
    expect(() => snappyLength(new Uint8Array())).toThrow(UndecodableMetrics);
  });
});
