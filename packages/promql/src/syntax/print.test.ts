import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expressions, withoutSpans } from '../../test/arbitrary.ts';
import { VALID } from '../../test/corpus.ts';
import type { Expr } from './ast.ts';
import { parse } from './parser.ts';
import { print, withParens } from './print.ts';

function tree(query: string): Expr {
  const result = parse(query);
  if (!result.ok) throw new Error(`${query}: ${result.problems[0]!.message}`);
  return result.expr;
}

describe('print', () => {
  it.each([
    ['  SUM ( rate( foo{ b = \'x\' ,a="y",}[300s] ) )BY(c , d)', 'sum by (c, d) (rate(foo{b="x", a="y"}[5m]))'],
    ['sum by () (a)', 'sum(a)'],
    ['sum without () (a)', 'sum without () (a)'],
    ['a + ignoring () b', 'a + b'],
    ['a + on () b', 'a + on () b'],
    ['a + ignoring () group_left b', 'a + ignoring () group_left () b'],
    ['a==bool on(x)group_right(y)b', 'a == bool on (x) group_right (y) b'],
    ['a offset 90m @ start()', 'a @ start() offset 1h30m'],
    ['a[7d:] @ 1.5', 'a[1w:] @ 1.5'],
    ['a[400d]', 'a[400d]'],
    ['a offset 0s', 'a'],
    ['1e3 + 0x10 + .5 + +Inf + 010', '1000 + 16 + 0.5 + Inf + 8'],
    ['5m + 1e30 - -0', '5m + 1e+30 - -0'],
    ['-(1) ^ -(a)', '-(1) ^ -(a)'],
    ['{"foo"}', 'foo'],
    ['{"my.metric"}', '{"my.metric"}'],
    ['{"on", a="b"}', '{"on", a="b"}'],
    ['foo{"a.b"="c"}', 'foo{"a.b"="c"}'],
    ['sum by ("a.b", "inf", "plain") (x)', 'sum by ("a.b", "inf", plain) (x)'],
    ['`a\\d"`', '"a\\\\d\\""'],
    ['"\\u263a\\t"', '"☺\\t"'],
    ['a # comment\n + b', 'a + b'],
    ['a[0.0001]', 'a[0.0001]'],
  ])('%s', (query, expected) => {
    expect(print(tree(query))).toBe(expected);
  });

  it('parses back to the same tree, for every valid text of the corpus', () => {
    for (const query of VALID) {
      const printed = print(tree(query));
      expect(withoutSpans(tree(printed)), query).toEqual(withoutSpans(tree(query)));
      expect(print(tree(printed))).toBe(printed);
    }
  });

  it('parses back to the same tree, for generated trees', () => {
    const runs = process.env['OBSIAC_SOAK'] === '1' ? 100_000 : 3_000;
    fc.assert(
      fc.property(expressions().any, (expr) => {
        expect(withoutSpans(tree(print(expr)))).toEqual(withoutSpans(expr));
      }),
      { numRuns: runs },
    );
  });

  it('adds the parentheses that a tree built by hand needs', () => {
    const one = tree('a + b');
    const span = { from: 0, to: 0 };
    const product: Expr = { kind: 'binary', op: '*', left: one, right: one, bool: false, matching: undefined, span };
    expect(print(product)).toBe('(a + b) * (a + b)');
    expect(print({ kind: 'unary', op: '-', expr: one, span })).toBe('-(a + b)');
    expect(print({ kind: 'subquery', expr: one, range: 60_000, step: undefined, offset: 0, at: undefined, span })).toBe(
      '(a + b)[1m:]',
    );
    const minus = tree('-1');
    expect(print({ ...product, op: '^', left: minus, right: minus })).toBe('(-1) ^ -1');
  });

  it('gives a parsed tree back as it is', () => {
    for (const query of VALID) {
      const expr = tree(query);
      expect(withParens(expr), query).toBe(expr);
    }
  });
});
