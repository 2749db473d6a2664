import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expressions } from '../../test/arbitrary.ts';
import type { Expr } from './ast.ts';
import { parse } from './parser.ts';
import { print } from './print.ts';
import { mapSelectors, matchersOf, selectorsOf, transform, typeOf, unwrap, walk } from './walk.ts';

function tree(query: string): Expr {
  const result = parse(query);
  if (!result.ok) throw new Error(`${query}: ${result.problems[0]!.message}`);
  return result.expr;
}

describe('walking', () => {
  it('visits parents before children, in the order of the text', () => {
    const seen: string[] = [];
    walk(tree('topk(1, a) + rate(b[5m]) * -(sum_over_time(c[1h:]))'), (node) => seen.push(node.kind));
    expect(seen.join(' ')).toBe(
      'binary aggregate numberLiteral vectorSelector binary call matrixSelector vectorSelector unary paren call subquery vectorSelector',
    );
  });

  it('finds and changes the selectors of range selectors too', () => {
    const expr = tree('rate(a[5m]) + max_over_time(b[5m:]) + sum(c)');
    expect(selectorsOf(expr).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    const changed = mapSelectors(expr, (selector) => ({ ...selector, name: `x_${selector.name}` }));
    expect(print(changed)).toBe('rate(x_a[5m]) + max_over_time(x_b[5m:]) + sum(x_c)');
  });

  it('shares what it does not change', () => {
    const expr = tree('rate(a[5m]) + sum(c) / 2');
    expect(transform(expr, (node) => node)).toBe(expr);
  });

  it('gives the name as a matcher of its own', () => {
    const [selector] = selectorsOf(tree('a{b="c"}'));
    expect(matchersOf(selector!).map(({ label, value }) => [label, value])).toEqual([
      ['__name__', 'a'],
      ['b', 'c'],
    ]);
  });

  it('unwraps parentheses', () => {
    expect(unwrap(tree('((("a")))'))).toMatchObject({ kind: 'stringLiteral', value: 'a' });
  });

  it('goes through chains of any length', () => {
    const expr = tree(`a${' + a'.repeat(20_000)}`);
    expect(selectorsOf(mapSelectors(expr, (selector) => ({ ...selector, name: 'b' })))).toHaveLength(20_001);
    expect(typeOf(tree(`1${' + 1'.repeat(20_000)}`))).toBe('scalar');
  });

  it('knows the type that the parser finds, for generated trees', () => {
    fc.assert(
      fc.property(expressions().any, (expr) => {
        const parsed = parse(print(expr));
        expect(parsed.ok && parsed.type).toBe(typeOf(expr));
      }),
      { numRuns: 1_000 },
    );
  });
});
