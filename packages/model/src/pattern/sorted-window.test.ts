/** Order statistics: the moving window agrees with sorting each window anew. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { median, quantile, SortedWindow, sortedSamples, trailingMedians } from './sorted-window.ts';

const sample = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: -5, max: 5 }) },
  { weight: 3, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  { weight: 2, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e308, -0) },
);

test('the quantile interpolates between order statistics as type 7 does', () => {
  const sorted = Float64Array.of(1, 2, 3, 4);
  expect([0, 0.25, 0.5, 0.75, 0.9, 1].map((p) => quantile(sorted, p))).toEqual([1, 1.75, 2.5, 3.25, 3.7, 4]);
  expect(quantile(Float64Array.of(7), 0.995)).toBe(7);
  expect(median(new Float64Array(0))).toBeNaN();
});

test('missing, infinite and absurdly large samples are left out, and a range may reach beyond the array', () => {
  const values = Float64Array.of(3, Number.NaN, 1, Number.POSITIVE_INFINITY, -1e301, 2);
  expect([...sortedSamples(values, -5, 50)]).toEqual([1, 2, 3]);
  expect([...sortedSamples(values, 8, 20)]).toEqual([]);
  expect([...sortedSamples(values, -9, -2)]).toEqual([]);
});

test('moving medians are those of each window sorted anew', () => {
  fc.assert(
    fc.property(fc.array(sample, { maxLength: 80 }), fc.integer({ min: 1, max: 12 }), (samples, width) => {
      const values = Float64Array.from(samples);
      const least = Math.ceil(width / 2);
      const expected = samples.map((_, i) => {
        const window = sortedSamples(values, i - width + 1, i + 1);
        return window.length < least ? Number.NaN : median(window);
      });
      const plusZero = (all: Iterable<number>) => Array.from(all, (value) => value + 0);
      expect(plusZero(trailingMedians(values, width, least))).toEqual(plusZero(expected));
    }),
  );
});

test('a window tells any quantile of what is in it', () => {
  fc.assert(
    fc.property(
      fc.array(sample, { minLength: 1, maxLength: 60 }),
      fc.nat(59),
      fc.double({ min: 0, max: 1 }),
      (all, gone, p) => {
        fc.pre(!Number.isNaN(p));
        const window = new SortedWindow(60);
        for (const value of all) window.insert(value);
        for (const value of all.slice(0, gone)) window.remove(value);
        const rest = sortedSamples(Float64Array.from(all), gone, all.length);
        expect(window.count).toBe(rest.length);
        expect(window.quantile(p) + 0).toBe(quantile(rest, p) + 0);
      },
    ),
  );
});
