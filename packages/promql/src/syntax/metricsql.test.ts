import { describe, expect, it } from 'vitest';
import { VALID } from '../../test/corpus.ts';
import { parse } from './parser.ts';
import { print } from './print.ts';
import { selectorsOf } from './walk.ts';

function tolerant(query: string) {
  const result = parse(query, { dialect: 'metricsql' });
  if (!result.ok) throw new Error(`${query}: ${result.problems[0]!.message}`);
  return result;
}

describe('the metricsql dialect', () => {
  it.each([
    ['rate(foo)', 0, 9, ['foo']],
    ['sum(rate(foo{a="b"})) by (c)', 4, 20, ['foo']],
    ['foo default 0', 0, 13, ['foo']],
    ['foo if bar', 0, 10, ['foo', 'bar']],
    ['foo ifnot on (a) bar', 0, 20, ['foo', 'bar']],
    ['rate(foo[5m]) keep_metric_names', 0, 31, ['foo']],
    ['foo > 1Ki', 6, 9, ['foo']],
    ['foo > 2.5MB', 6, 11, ['foo']],
    ['rate(foo[1.5h])', 9, 13, ['foo']],
    ['rate(foo[5i])', 5, 12, ['foo']],
    ['median_over_time(foo[5m])', 0, 25, ['foo']],
    ['label_set(foo, "a", "b")', 0, 24, ['foo']],
    ['median by (a) (foo)', 0, 19, ['foo']],
    ['limitk(1, foo)', 0, 14, ['foo']],
    ['sum(foo) limit 5', 0, 16, ['foo']],
    ['sum(foo, bar)', 0, 13, ['foo', 'bar']],
    ['(foo, bar)', 0, 10, ['foo', 'bar']],
    ['(foo + bar) offset 5m', 0, 21, ['foo', 'bar']],
    ['sum(foo)[5m]', 0, 12, ['foo']],
    ['foo{a="b" or c="d"}', 0, 19, []],
    ['WITH (x = foo{a="b"}) x + bar', 0, 29, ['foo', 'bar']],
    ['WITH (f(q) = sum(q) by (a)) f(rate(foo[5m]))', 0, 44, ['foo']],
    ['foo @ (bar + 1)', 0, 15, ['foo']],
    ['RATE(foo[5m])', 0, 13, ['foo']],
    ['abs(foo,)', undefined, undefined, ['foo']],
    ['1 > 2', 0, 5, []],
    ['foo and 1', 0, 9, ['foo']],
  ])('takes %s', (query, from, to, names) => {
    const { expr, notices } = tolerant(query);
    if (from !== undefined) expect(notices[0]).toMatchObject({ from, to });
    for (const { message } of notices) expect(message).toMatch(/Only VictoriaMetrics takes this\.$/);
    expect(selectorsOf(expr).map(({ name }) => name)).toEqual(names);
    // What was printed means the same and prints the same.
    expect(print(tolerant(print(expr)).expr)).toBe(print(expr));
    expect(parse(query).ok).toBe(false);
  });

  it('reads plain PromQL as the other dialect does', () => {
    for (const query of VALID) {
      const plain = parse(query);
      const result = parse(query, { dialect: 'metricsql' });
      expect(result, query).toEqual(plain);
    }
  });

  it.each([
    'sum(',
    'foo{a=}',
    'raet(foo[5m])',
    'rate("a")',
    'sum(foo[5m])',
    'foo default',
    'default foo',
    'WITH (x = ) x',
    'WITH (x foo) x',
    'foo[5m:x]',
    'foo{a="b" or c="d"',
    'foo{a=~"("} default 1',
  ])('still refuses %s', (query) => {
    expect(parse(query, { dialect: 'metricsql' }).ok).toBe(false);
  });

  it('binds its operators weaker than or', () => {
    const { expr } = tolerant('a or b default c + d');
    expect(expr).toMatchObject({ kind: 'opaque', parts: [{ op: 'or' }, ' default ', { op: '+' }] });
  });

  it.each([' default a', ' if a', '[5m]', ' offset 5m'])('refuses endless "%s" with a clear error', (tail) => {
    const result = parse(`(a + a)${tail.repeat(20_000)}`, { dialect: 'metricsql' });
    expect(result.ok ? '' : result.problems[0]!.message).toMatch(/nests deeper/);
  });
});
