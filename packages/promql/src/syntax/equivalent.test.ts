import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expressions } from '../../test/arbitrary.ts';
import { canonicalText, equivalent, equivalentQueries } from './equivalent.ts';
import { parse } from './parser.ts';
import { print } from './print.ts';

describe('equivalentQueries', () => {
  it.each([
    ['sum(rate(a[5m])) by (x)', 'sum  by(x)(rate(a [300]))'],
    ['a{b="c",d="e"}', "a { d='e', b=`c` }"],
    ['a{b="c", b="c"}', 'a{b="c"}'],
    ['(a) + ((b))', 'a + b'],
    ['a + b * c', 'a + (b * c)'],
    ['1h30m', '5400'],
    ['a[60m]', 'a[1h]'],
    ['1e3', '1000.0'],
    ['0x10', '16'],
    ['-(1)', '-1'],
    ['+a', 'a'],
    ['sum by (x, y) (a)', 'sum by (y, x, x) (a)'],
    ['a == on (x, y) b', 'a == on (y, x) b'],
    ['{__name__="a"}', 'a'],
    ['{"a"}', 'a'],
    ['SUM(a) AND b', 'sum(a) and b'],
    ['a # note\n', 'a'],
    ['a + ignoring () b', 'a + b'],
    ['a offset 0s', 'a'],
    ['rate((a[5m]))', 'rate(a[5m])'],
    ['sum by () (a)', 'sum(a)'],
    ['a[1d:1m] offset 24h', 'a[24h:60s] offset 1d'],
  ])('%s is %s', (a, b) => {
    expect(equivalentQueries(a, b)).toBe(true);
  });

  it.each([
    ['a - b - c', 'a - (b - c)'],
    ['a + b', 'b + a'],
    ['-a ^ b', '(-a) ^ b'],
    ['a{b="c"}', 'a{b!="c"}'],
    ['a{b="c"}', 'a{b=~"c"}'],
    ['sum(a)', 'sum without () (a)'],
    ['a + b', 'a + on () b'],
    ['a > 1', 'a > bool 1'],
    ['a[5m]', 'a[5m:]'],
    ['a offset 1m', 'a offset -1m'],
    ['a @ start()', 'a @ end()'],
    ['a @ 0', 'a'],
    ['a * on (x) group_left () b', 'a * on (x) b'],
    ['topk(1, a)', 'topk(2, a)'],
    ['{__name__="a", __name__="b"}', 'a'],
    ['label_join(a, "x", "y", "z")', 'label_join(a, "x", "y", "z", "z")'],
  ])('%s is not %s', (a, b) => {
    expect(parse(a).ok && parse(b).ok).toBe(true);
    expect(equivalentQueries(a, b)).toBe(false);
  });

  it('holds an invalid text equal to itself alone', () => {
    expect(equivalentQueries('sum(', 'sum(')).toBe(true);
    expect(equivalentQueries('sum(', 'sum( ')).toBe(false);
  });
});

it('white space and parentheses around the whole never count, for generated trees', () => {
  fc.assert(
    fc.property(expressions().any, (expr) => {
      const again = parse(`( ${print(expr)} )`);
      expect(again.ok && equivalent(again.expr, expr)).toBe(true);
      const canonical = parse(canonicalText(expr));
      expect(canonical.ok && canonicalText(canonical.expr)).toBe(canonicalText(expr));
    }),
    { numRuns: 1_000 },
  );
});
