import { describe, expect, it } from 'vitest';
import type { RangeSeries } from '../data-source/source.ts';
import { limitSeries, toMinutes } from './minute-grid.ts';

const series = (labels: Record<string, string>, points: Record<number, number>): RangeSeries => ({
  labels,
  times: Float64Array.from(Object.keys(points), (minute) => Number(minute) * 60),
  values: Float64Array.from(Object.values(points)),
});

describe('the grid of minutes', () => {
  it('has NaN where there is no sample, and drops what lies outside', () => {
    const [only] = toMinutes([series({ __name__: 'm', a: '1' }, { 9: 0, 10: 1, 12: 3, 14: 9 })], 10, 13);
    expect(only).toEqual({
      key: '[["a","1"]]',
      labels: { a: '1' },
      first: 10,
      values: Float64Array.of(1, Number.NaN, 3, Number.NaN),
    });
  });

  it('is in the order of the keys and joins series that differ in the metric alone', () => {
    const rows = toMinutes(
      [
        series({ __name__: 'b', a: '2' }, { 1: 1 }),
        series({ __name__: 'b', a: '1' }, { 1: 5 }),
        series({ __name__: 'c', a: '2' }, { 1: 7, 2: 8 }),
      ],
      1,
      2,
    );
    expect(rows.map(({ labels, values }) => [labels['a'], ...values])).toEqual([
      ['1', 5, Number.NaN],
      ['2', 1, 8],
    ]);
  });

  it('keeps what fires when there are more series than the limit, and counts all', () => {
    const rows = toMinutes(
      ['a', 'b', 'c', 'd'].map((name) => series({ name }, { 1: 1 })),
      1,
      2,
    );
    const { kept, counts } = limitSeries(rows, new Set([rows[3]!.key]), 2);
    expect(kept.map(({ labels }) => labels['name'])).toEqual(['d', 'a']);
    expect([...counts!]).toEqual([4, 0]);
    expect(limitSeries(rows, new Set(), 4)).toEqual({ kept: rows, counts: undefined });
  });
});
