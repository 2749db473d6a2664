import { describe, expect, it } from 'vitest';
import type { Expr } from './ast.ts';
import { parse } from './parser.ts';
import { print } from './print.ts';
import { addMatchers, hidesSelectors, substituteVariables, variablesOf } from './variables.ts';

function tree(query: string, dialect: 'prometheus' | 'metricsql' = 'prometheus'): Expr {
  const result = parse(query, { dialect });
  if (!result.ok) throw new Error(`${query}: ${result.problems[0]!.message}`);
  return result.expr;
}

describe('variables', () => {
  it('finds those of matcher values, wherever the selectors stand', () => {
    const query = 'sum(rate(a{s="$service",e=~"${env}-.*"}[5m])) / b{s="$service", t=~"x$", u="$1 $"} + 1';
    const uses = variablesOf(tree(query));
    expect(uses.map(({ name, span }) => [name, span.from])).toEqual([
      ['service', 11],
      ['env', 24],
      ['service', query.lastIndexOf('s="$service"')],
    ]);
  });

  it.each([
    ['a{s="$service"}', 'a{s="checkout"}'],
    ['a{s=~"${service}"}', 'a{s=~"checkout"}'],
    ['a{s="$services"}', 'a{s="$services"}'],
    ['rate(a{s="x-$service"}[5m]) + b{s=~"${service}.*$"}', 'rate(a{s="x-checkout"}[5m]) + b{s=~"checkout.*$"}'],
    ['max_over_time(sum(a{s="$service"})[5m:])', 'max_over_time(sum(a{s="checkout"})[5m:])'],
  ])('%s becomes %s', (query, expected) => {
    expect(print(substituteVariables(tree(query), { service: 'checkout' }))).toBe(expected);
  });

  it('takes a value as text: quotes and backslashes do not leave the string', () => {
    const changed = substituteVariables(tree('a{s="$v"}'), { v: 'x"} or {y="\\' });
    const again = parse(print(changed));
    expect(again.ok && again.expr).toMatchObject({ matchers: [{ value: 'x"} or {y="\\' }] });
  });

  it('groups alternatives inside a longer regex', () => {
    const values = { v: 'a|b' };
    expect(print(substituteVariables(tree('m{s=~"$v", t=~"$v-.*", u="$v"}'), values))).toBe(
      'm{s=~"a|b", t=~"(?:a|b)-.*", u="a|b"}',
    );
  });

  it('does not take properties of every object for values', () => {
    expect(print(substituteVariables(tree('a{s="$constructor"}'), {}))).toBe('a{s="$constructor"}');
  });
});

describe('addMatchers', () => {
  const cluster = { label: 'cluster', op: '=', value: 'eu' } as const;

  it.each([
    ['a', 'a{cluster="eu"}'],
    ['{"b.c"}', '{"b.c", cluster="eu"}'],
    ['sum(rate(a{x="y"}[5m])) / on () sum(b)', 'sum(rate(a{x="y", cluster="eu"}[5m])) / on () sum(b{cluster="eu"})'],
    ['a{cluster="eu"}', 'a{cluster="eu"}'],
    ['a{cluster="us"}', 'a{cluster="us", cluster="eu"}'],
    ['1 + 2', '1 + 2'],
  ])('%s becomes %s', (query, expected) => {
    expect(print(addMatchers(tree(query), [cluster]))).toBe(expected);
  });

  it('reaches the selectors inside MetricsQL, and says where it cannot', () => {
    const reachable = tree('rate(a) default b{x="y"}', 'metricsql');
    expect(print(addMatchers(reachable, [cluster]))).toBe('rate(a{cluster="eu"}) default b{x="y", cluster="eu"}');
    expect(hidesSelectors(reachable)).toBeUndefined();
    expect(hidesSelectors(tree('1 + sum({a="b" or c="d"})', 'metricsql'))).toEqual({ from: 8, to: 24 });
  });
});
