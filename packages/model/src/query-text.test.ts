/** Queries of a model: comparison, variables and filters put in by tree. */
import { selectorsOf } from '@obsiac/promql';
import { describe, expect, test } from 'vitest';
import { canonicalQuery, expandQuery, queryVariables, readQuery } from './query-text.ts';

const entity = (labels: Record<string, string> | null, data_source = 'prod', filtered = 'prod') => ({
  data_source,
  adhoc_filter: labels && { data_source: filtered, labels },
});

function expanded(query: string, labels: Record<string, string> | null, label_filter?: Record<string, string>): string {
  const result = expandQuery({ query, data_source: '' }, entity(labels), label_filter && { label_filter });
  if (!result.ok) throw new Error(result.problems[0]?.message);
  return result.query;
}

describe('canonicalQuery', () => {
  test.each([
    ['sum( rate(x{b="1", a="2"}[5m]) )', 'sum(rate(x{a=\'2\',b="1"}[300s]))'],
    ['(a + b)', 'a\n  + b # comment'],
    ['sum(x) by (a, b)', 'sum by (b, a) (x)'],
    ['  not a query (', 'not a query ('],
    ['increase(x) + 1', 'increase(x)+1'],
  ])('%s is %s', (a, b) => {
    expect(canonicalQuery(a)).toBe(canonicalQuery(b));
  });

  test.each([
    ['a - b', 'b - a'],
    ['rate(x[5m])', 'rate(x[6m])'],
    ['x{a="1"}', 'x{a=~"1"}'],
    ['a b', 'a  b'],
  ])('%s is not %s', (a, b) => {
    expect(canonicalQuery(a)).not.toBe(canonicalQuery(b));
  });
});

test('queryVariables finds them in matchers only, each once', () => {
  const query = readQuery('sum(x{a="$a", b=~"${b}.*$", c="$a"}) + label_replace(y, "d", "$e", "f", "(?P<e>.*)")');
  expect(query.ok && queryVariables(query.expr)).toEqual(['a', 'b']);
});

describe('expandQuery', () => {
  test('puts values in the place of variables', () => {
    const query = 'sum(x{service="$service", region=~"${region}.*"})';
    expect(expanded(query, null, { service: 'a"b', region: 'eu|us' })).toBe(
      'sum(x{service="a\\"b", region=~"(?:eu|us).*"})',
    );
    expect(expanded(query, null, { service: 'a' })).toContain('${region}');
    expect(expanded(query, null)).toBe(query);
  });

  test('adds the labels of the filter to every selector', () => {
    const query = 'sum(rate(a[5m])) / on (x) max_over_time((b{c="d"} offset 1h)[1h:5m]) > bool 1';
    const result = expandQuery({ query, data_source: '' }, entity({ cluster: 'eu', 'odd.label': 'x"y' }));
    const selectors = result.ok ? selectorsOf(result.expr) : [];
    expect(selectors).toHaveLength(2);
    for (const { matchers } of selectors) {
      const added = matchers.map(({ label, op, value }) => `${label}${op}${value}`);
      expect(added).toEqual(expect.arrayContaining(['cluster=eu', 'odd.label=x"y']));
    }
  });

  test('filters only the queries on its data source', () => {
    const query = 'up';
    const expand = (data_source: string, of: ReturnType<typeof entity>) => expandQuery({ query, data_source }, of);
    expect(expand('', entity({ a: 'b' }))).toMatchObject({ query: 'up{a="b"}' });
    expect(expand('prod', entity({ a: 'b' }))).toMatchObject({ query: 'up{a="b"}' });
    expect(expand('other', entity({ a: 'b' }))).toMatchObject({ query: 'up' });
    expect(expand('', entity({ a: 'b' }, 'prod', 'other'))).toMatchObject({ query: 'up' });
    expect(expand('', entity({ a: 'b' }, '', ''))).toMatchObject({ query: 'up{a="b"}' });
  });

  test('a query without filter and variables stays as it is written', () => {
    const query = 'sum( up ) by(a) # comment';
    expect(expanded(query, null, {})).toBe(query);
  });

  test('refuses what does not parse, before or after', () => {
    expect(expandQuery({ query: 'sum(', data_source: '' }, entity(null)).ok).toBe(false);
    const rule = { label_filter: { a: '(' } };
    expect(expandQuery({ query: 'x{b=~"$a"}', data_source: '' }, entity(null), rule).ok).toBe(false);
  });
});
