/** What queries need of the records of a selector. */
import { type LabelMatcher, matchersOf, parse, selectorsOf } from '@obsiac/promql';
import { describe, expect, it } from 'vitest';
import { demandsOf, type Grouping } from './demand.ts';

function demand(query: string, step?: number) {
  const result = parse(query);
  if (!result.ok) throw new Error(result.problems[0]?.message);
  const demands = demandsOf(result.expr, step);
  const of = (matchers: readonly LabelMatcher[]) => demands.of(matchers);
  return { demands, found: selectorsOf(result.expr).map((selector) => of(matchersOf(selector))) };
}
const told = (grouping: Grouping | undefined) =>
  grouping === undefined || grouping.kind === 'all'
    ? 'all'
    : `${grouping.kind} ${[...grouping.labels].join(' ')}`.trim();

describe('grouping', () => {
  it.each([
    ['sum(rate(x[5m]))', 'by'],
    ['sum by (zone, status) (rate(x[5m]))', 'by zone status'],
    ['sum without (status) (increase(x[5m]))', 'without status'],
    ['sum by (a) (sum by (a, b) (rate(x[5m])))', 'by a b'],
    ['sum by (a) (-(rate(x[5m])))', 'by a'],
    ['sum by (a) (avg_over_time(rate(x[5m])[1h:1m]))', 'by a'],
    ['max(sum by (a) (x))', 'by a'],
    ['histogram_quantile(0.9, sum by (le) (rate(x[5m])))', 'by le'],
    ['rate(x[5m])', 'all'],
    ['max by (a) (rate(x[5m]))', 'all'],
    ['count(x)', 'all'],
    ['sum by (a) (max_over_time(x[5m]))', 'all'],
    ['sum by (a) (rate(x[5m]) > 1)', 'all'],
    ['sum by (a) (max_over_time(rate(x[5m])[1h:1m]))', 'all'],
    ['sum(abs(x))', 'all'],
    ['topk(3, x)', 'all'],
  ])('%s: %s', (query, expected) => {
    expect(told(demand(query).found[0]?.grouping)).toBe(expected);
  });

  it('of a selector that stands twice serves both places', () => {
    expect(told(demand('sum by (a) (rate(x[5m])) / on () sum by (b) (rate(x[5m]))').found[0]?.grouping)).toBe('by a b');
    expect(told(demand('sum by (a) (rate(x[5m])) and x').found[0]?.grouping)).toBe('all');
    expect(told(demand('sum(rate(x{a="1"}[5m])) / sum by (b) (rate(x[5m]))').found[0]?.grouping)).toBe('by');
  });
});

it.each<[string, number | undefined, number]>([
  ['rate(x[5m])', undefined, 60_000],
  ['rate(x[5m])', 60_000, 60_000],
  ['rate(x[5m])', 15_000, 15_000],
  ['rate(x[90s])', 60_000, 30_000],
  ['rate(x[5m])', 7_500, 7_500],
  ['rate(x[5m])', 3_600_000, 60_000],
  ['rate(x[5m])', 12_345, 12_345],
  ['max_over_time(rate(x[1m])[1h:20s])', 60_000, 20_000],
  ['rate(x[5m]) + rate(x[45s])', 60_000, 15_000],
])('%s with step %s has samples each %s ms', (query, step, expected) => {
  expect(demand(query, step).found[0]?.interval).toBe(expected);
});

it('knows every label that a query names', () => {
  const { demands } = demand(
    'sum by (a) (x{b="1"}) * on (c) group_left (d) label_replace(y, "e", "$1", "f", "(.*)") + sum without (g) (z)',
  );
  expect([...demands.named].filter((name) => /^[a-z]$/.test(name)).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
});
