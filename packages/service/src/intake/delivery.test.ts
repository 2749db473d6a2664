import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteBudget } from './byte-budget.ts';
import { plainChunks, readDelivery } from './delivery.ts';

const LIMITS = { compressed: 64 * 1024 ** 2, plain: 64 * 1024 ** 2 };
const budget = () => new ByteBudget({ bytes: 256 * 1024 ** 2, patience: 1000 });

async function* pieces(body: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
}

/** Lines that compress as logs do, with some noise, so that input and output end at odd places of each other. */
function lines(bytes: number, seed: number): Buffer {
  const made: string[] = [];
  let state = seed >>> 0;
  for (let length = 0; length < bytes; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const line = `{"RayID":"${state.toString(16)}","ClientRequestURI":"${'/path'.repeat(state % 40)}"}\n`;
    made.push(line);
    length += line.length;
  }
  return Buffer.from(made.join(''));
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

it('gives every byte once and in order, however the body is cut, and while its reader takes its time', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 0, max: 3_000_000 }),
    fc.integer({ min: 1, max: 100_000 }),
    fc.integer(),
    fc.constantFrom(0, 1, 6),
    fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
    async (bytes, size, seed, level, pauses) => {
      const plain = lines(bytes, seed);
      const body = gzipSync(plain, { level });
      const read: Buffer[] = [];
      let turn = 0;
      const take = async (chunk: Buffer) => {
        if (pauses[turn++ % pauses.length]) await new Promise((resolve) => setImmediate(resolve));
        read.push(Buffer.from(chunk));
      };
      const lease = budget().lease();
      const delivery = await readDelivery(pieces(body, Math.max(size, body.length / 200)), LIMITS, lease, take);
      expect(digestOf(Buffer.concat(read))).toBe(digestOf(plain));
      expect(delivery).toMatchObject({ plainBytes: plain.length, digest: digestOf(plain), oneMember: true });
      const again: Buffer[] = [];
      for await (const chunk of plainChunks(delivery)) again.push(Buffer.from(chunk));
      expect(digestOf(Buffer.concat(again))).toBe(digestOf(plain));
    },
  );
  await fc.assert(property, { numRuns: 40 });
});

it('gives memory of chunks back that were read', async () => {
  const chunks: Buffer[] = [];
  const body = gzipSync(lines(4_000_000, 1));
  await readDelivery(pieces(body, 10_000), LIMITS, budget().lease(), (chunk) => void chunks.push(chunk));
  const held = new Set(chunks.map(({ buffer }) => buffer).filter(({ byteLength }) => byteLength > 0));
  expect(chunks.length).toBeGreaterThan(10);
  expect(held.size).toBe(1);
});

it('counts several members as one body, and knows that they are several', async () => {
  const [first, second] = [lines(1000, 1), lines(700_000, 2)];
  const body = Buffer.concat([gzipSync(first), gzipSync(second)]);
  const delivery = await readDelivery(pieces(body, 5000), LIMITS, budget().lease(), () => undefined);
  expect(delivery).toMatchObject({ oneMember: false, digest: digestOf(Buffer.concat([first, second])) });
});
