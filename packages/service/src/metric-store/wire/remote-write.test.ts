/** Remote write requests, generated and decoded again; and bytes that are none. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { remoteWriteBodies } from '../../../../../tasks/remote-write.ts';
import { UndecodableMetrics } from '../incoming.ts';
import { decodeWriteRequest, decodeWriteRequestV2 } from './remote-write.ts';
import { decompressSnappy } from './snappy.ts';

const label = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const sample = fc.record({
  gap: fc.integer({ min: 1, max: 100_000 }),
  value: fc.double(),
  stale: fc.boolean(),
});
const series = fc.record({
  labels: fc.dictionary(label, label, { maxKeys: 6, noNullPrototype: true }),
  start: fc.integer({ min: 0, max: 2_000_000_000_000 }),
  samples: fc.array(sample, { minLength: 1, maxLength: 20 }),
});

it('gives every sample as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(series, { minLength: 1, maxLength: 5 }), async (all) => {
      const sent = all.map(({ labels, start, samples }, index) => {
        let time = start;
        return {
          labels: { ...labels, __name__: `metric_${index}` },
          times: samples.map(({ gap }) => {
            time += gap;
            return time;
          }),
          values: samples.map(({ value }) => value),
          stale: samples.map(({ stale }) => (stale ? 1 : 0)),
        };
      });
      // All series in one request, whatever their times.
      const [body, ...more] = [...remoteWriteBodies(sent)];
      expect(more).toEqual([]);
      const found = await decodeWriteRequest(decompressSnappy(body!, 1 << 24));
      expect(found.refused).toEqual([]);
      expect(found.series).toEqual(
        sent.map(({ labels, times, values, stale }) => ({
          labels: Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)),
          times,
          values: values.map((value, index) => (stale[index] === 1 ? Number.NaN : value)),
          stale: stale.includes(1) ? stale.map((flag) => flag === 1) : undefined,
        })),
      );
    }),
    { numRuns: 200 },
  );
});

it('refuses what is no request, and never fails otherwise', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), async (bytes) => {
      for (const decode of [decodeWriteRequest, decodeWriteRequestV2]) {
        try {
          await decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(UndecodableMetrics);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
