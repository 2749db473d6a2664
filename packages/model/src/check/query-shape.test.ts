/** What the trees of queries tell: the positive and negative cases of each warning. */
import { describe, expect, test } from 'vitest';
import { readQuery } from '../query-text.ts';
import { aggregationToOneSeries, bareSelector, droppingComparisons, shortRanges } from './query-shape.ts';

function exprOf(text: string) {
  const query = readQuery(text);
  if (!query.ok) throw new Error(`${text}: ${query.problems[0]?.message}`);
  return query.expr;
}

describe('shortRanges', () => {
  test.each([
    'rate(x[1m])',
    'sum(increase(x[90s]))',
    'irate(x[119s])',
    'deriv((x[1m]))',
    'rate(x[2m:90s])',
    'delta(x[1m:])',
  ])('%s', (text) => {
    expect(shortRanges(exprOf(text))).toHaveLength(1);
  });

  test.each(['rate(x[2m])', 'max_over_time(x[1m])', 'rate(x[10m:5m])', 'delta(x[2m:])', 'increase(x)'])(
    'not %s',
    (text) => {
      expect(shortRanges(exprOf(text))).toEqual([]);
    },
  );
});

describe('droppingComparisons', () => {
  test.each([
    ['x > 5', 1],
    ['100 * (x > 5)', 1],
    ['sum by (a) (rate(x[5m]) > 1)', 1],
    ['count(up == 0)', 1],
    ['(x > 1) and on () (y > 2)', 1],
    ['-(a != b) + (c < d)', 2],
    ['abs(x > 5)', 1],
  ])('%s', (text, count) => {
    expect(droppingComparisons(exprOf(text))).toHaveLength(count);
  });

  test.each([
    'x > bool 5',
    'x',
    '(x > 5) or vector(0)',
    'absent(x > 5)',
    'x unless on () (y > 2)',
    'max_over_time((x > 5)[5m:1m])',
  ])('not %s', (text) => {
    expect(droppingComparisons(exprOf(text))).toEqual([]);
  });
});

describe('aggregationToOneSeries', () => {
  test.each(['sum(x)', '100 * sum(rate(x[5m]))', 'sum(a) / sum(b)', 'abs(sum(x)) + 0', '-(avg(x))', 'sum by () (x)'])(
    '%s',
    (text) => {
      expect(aggregationToOneSeries(exprOf(text))).toBeDefined();
    },
  );

  test.each([
    'x',
    'sum by (a) (x)',
    'sum without (a) (x)',
    'topk(3, x)',
    'count_values("v", x)',
    'x / ignoring (a) group_left () sum(x)',
    'sum(x) or y',
    'rate(x[5m])',
  ])('not %s', (text) => {
    expect(aggregationToOneSeries(exprOf(text))).toBeUndefined();
  });
});

describe('bareSelector', () => {
  test.each(['x', 'x{a="b"}', '(x)', '100 * x', '1 - x / 5', '-x', 'x > 5'])('%s', (text) => {
    expect(bareSelector(exprOf(text))).toBeDefined();
  });

  test.each(['rate(x[5m])', 'sum(x)', 'a / b', 'last_over_time(x[1m])', 'x or y'])('not %s', (text) => {
    expect(bareSelector(exprOf(text))).toBeUndefined();
  });
});

test('a chain of a hundred thousand operators is no trouble', () => {
  const chain = exprOf(`x${' + 1'.repeat(100_000)}`);
  expect(bareSelector(chain)).toBeDefined();
  expect(aggregationToOneSeries(exprOf(`sum(x)${' + 1'.repeat(100_000)}`))).toBeDefined();
  expect([droppingComparisons(chain), shortRanges(chain)]).toEqual([[], []]);
});
