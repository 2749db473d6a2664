import { describe, expect, it } from 'vitest';
import { clip, lineColumn, nearest } from './problem.ts';

describe('lineColumn', () => {
  it.each([
    ['abc', 0, 1, 1],
    ['abc', 3, 1, 4],
    ['a\nbc\n\nd', 2, 2, 1],
    ['a\nbc\n\nd', 4, 2, 3],
    ['a\nbc\n\nd', 5, 3, 1],
    ['a\nbc\n\nd', 6, 4, 1],
  ])('%j at %d', (query, offset, line, column) => {
    expect(lineColumn(query, offset)).toEqual({ line, column });
  });
});

describe('nearest', () => {
  const known = ['rate', 'irate', 'increase', 'sum', 'histogram_quantile', 'abs'];

  it.each([
    ['raet', 'rate'],
    ['Rate', 'rate'],
    ['increas', 'increase'],
    ['histogram_quantiel', 'histogram_quantile'],
    ['smu', 'sum'],
    ['unrelated_name', undefined],
    ['x', undefined],
  ])('%s', (word, expected) => {
    expect(nearest(word, known)).toBe(expected);
  });
});

it('clips long text', () => {
  expect(clip('x'.repeat(41))).toBe(`${'x'.repeat(39)}…`);
  expect(clip('x'.repeat(40))).toHaveLength(40);
});
