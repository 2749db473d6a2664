import { describe, expect, it } from 'vitest';
import { CORPUS, DEVIATIONS } from '../../test/corpus.ts';
import { type Expr, MAX_NESTING } from './ast.ts';
import { parse } from './parser.ts';
import { leftSpine } from './walk.ts';

function tree(query: string): Expr {
  const result = parse(query);
  if (!result.ok) throw new Error(`${query}: ${result.problems[0]!.message}`);
  return result.expr;
}

/** The tree with every operation in brackets. */
function shape(expr: Expr): string {
  switch (expr.kind) {
    case 'numberLiteral':
      return String(expr.value);
    case 'vectorSelector':
      return `${expr.name}${expr.offset === 0 ? '' : `~${expr.offset}`}${expr.at === undefined ? '' : '@'}`;
    case 'subquery':
      return `${shape(expr.expr)}[sub]`;
    case 'matrixSelector':
      return `${shape(expr.selector)}[range]`;
    case 'binary':
      return `<${shape(expr.left)} ${expr.op} ${shape(expr.right)}>`;
    case 'unary':
      return `<${expr.op}${shape(expr.expr)}>`;
    case 'paren':
      return `(${shape(expr.expr)})`;
    case 'aggregate':
      return `${expr.op}(${shape(expr.expr)})`;
    case 'call':
      return `${expr.func}(${expr.args.map(shape).join()})`;
    default:
      return expr.kind;
  }
}

describe('the corpus', () => {
  for (const { topic, valid, invalid } of CORPUS) {
    it(`takes: ${topic}`, () => {
      for (const query of valid) expect(parse(query), query).toMatchObject({ ok: true });
    });
    it(`refuses, with a place in the text: ${topic}`, () => {
      for (const query of [...invalid, ...DEVIATIONS.map((each) => each.query)]) {
        const result = parse(query);
        expect(result.ok, query).toBe(false);
        if (result.ok) continue;
        for (const { from, to, message } of result.problems) {
          expect(from >= 0 && from <= to && to <= query.length, `${query}: ${from}-${to}`).toBe(true);
          expect(message, query).toMatch(/^[^\n]+[.]$/);
        }
      }
    });
  }
});

describe('precedence', () => {
  it.each([
    ['a + b * c', '<a + <b * c>>'],
    ['a - b - c', '<<a - b> - c>'],
    ['a ^ b ^ c', '<a ^ <b ^ c>>'],
    ['-1 ^ 2', '<-<1 ^ 2>>'],
    ['-a * b', '<<-a> * b>'],
    ['2 ^ -1 ^ 2', '<2 ^ <-<1 ^ 2>>>'],
    ['2 ^ -1 * 3', '<<2 ^ -1> * 3>'],
    ['-1 + 2', '<-1 + 2>'],
    ['- - 1', '1'],
    ['a or b and c', '<a or <b and c>>'],
    ['a unless b and c', '<<a unless b> and c>'],
    ['a == b + c', '<a == <b + c>>'],
    ['a > b == c', '<<a > b> == c>'],
    ['a atan2 b % c', '<<a atan2 b> % c>'],
    ['a + b offset 5m', '<a + b~300000>'],
    ['a + b @ 10', '<a + b@>'],
    ['a or b[5m:]', null],
    ['a * sum(b)[5m:1m]', null],
    ['rate(a[5m]) or max_over_time(b[5m:])', '<rate(a[range]) or max_over_time(b[sub])>'],
    ['-a offset 5m', '<-a~300000>'],
    ['max_over_time((a + b)[5m:])', 'max_over_time((<a + b>)[sub])'],
    ['sum(a) + sum(b) by (x)', '<sum(a) + sum(b)>'],
    ['and and and', '<and and and>'],
    ['sum + sum', '<sum + sum>'],
  ])('%s', (query, expected) => {
    const result = parse(query);
    // A range vector on one side of an operator: the postfix bound to the right operand alone.
    if (expected === null) expect(result).toMatchObject({ ok: false, problems: [{ message: /range vector/ }] });
    else expect(shape(tree(query))).toBe(expected);
  });
});

describe('nodes', () => {
  it('reads a selector with everything', () => {
    const query = 'foo{a="b", "c d"=~\'e\\x41\', f!~`\\d+`,}[1h30m] @ 1.5 offset -5m';
    expect(tree(query)).toEqual({
      kind: 'matrixSelector',
      selector: {
        kind: 'vectorSelector',
        name: 'foo',
        matchers: [
          { label: 'a', op: '=', value: 'b', span: { from: 4, to: 9 } },
          { label: 'c d', op: '=~', value: 'eA', span: { from: 11, to: 25 } },
          { label: 'f', op: '!~', value: '\\d+', span: { from: 27, to: 35 } },
        ],
        offset: -300_000,
        at: { kind: 'timestamp', timestamp: 1_500 },
        span: { from: 0, to: 37 },
      },
      range: 5_400_000,
      span: { from: 0, to: query.length },
    });
  });

  it('reads a subquery', () => {
    expect(tree('foo[1h:] @ end() offset 1w')).toMatchObject({
      kind: 'subquery',
      range: 3_600_000,
      step: undefined,
      at: { kind: 'end' },
      offset: 604_800_000,
    });
  });

  it('reads matching, bool and groups', () => {
    expect(tree('a == bool on (x, y,) group_right (z) b')).toMatchObject({
      op: '==',
      bool: true,
      matching: { card: 'one-to-many', on: true, labels: ['x', 'y'], include: ['z'] },
    });
    expect(tree('a and b')).toMatchObject({ matching: { card: 'many-to-many', on: false, labels: [], include: [] } });
    expect(tree('a + 1')).toMatchObject({ matching: undefined });
  });

  it('reads aggregations with the grouping on either side', () => {
    const grouped = { kind: 'aggregate', op: 'topk', param: { value: 3 }, grouping: ['a', 'b c'], without: true };
    expect(tree('TOPK without (a, "b c") (3, foo)')).toMatchObject(grouped);
    expect(tree('topk(3, foo) WITHOUT (a, "b c")')).toMatchObject(grouped);
  });

  it('takes a quoted metric name as the name', () => {
    expect(tree('{"my.metric", a="b"}')).toMatchObject({ name: 'my.metric', matchers: [{ label: 'a' }] });
    expect(tree('{__name__="foo"}')).toMatchObject({ name: undefined, matchers: [{ label: '__name__' }] });
  });

  it('counts spans in UTF-16 units', () => {
    const query = '{a="😀"} + "x"';
    const result = parse(query);
    expect(result).toMatchObject({ ok: false, problems: [{ from: 11, to: 14 }] });
    expect(query.slice(11, 14)).toBe('"x"');
  });

  it.each([
    ['1', 'scalar'],
    ['"a"', 'string'],
    ['a', 'vector'],
    ['a[5m]', 'matrix'],
    ['(a[5m:])', 'matrix'],
    ['1 + 2', 'scalar'],
    ['1 + a', 'vector'],
    ['-time()', 'scalar'],
    ['scalar(a) > bool 1', 'scalar'],
    ['sum(a)', 'vector'],
    ['vector(1)', 'vector'],
  ])('%s is of type %s', (query, type) => {
    expect(parse(query)).toMatchObject({ ok: true, type });
  });
});

describe('messages', () => {
  it.each([
    ['', 0, 0, 'There is no expression.', undefined],
    ['sum(rate(foo[5m])', 3, 4, 'The "(" is not closed.', 'Add a ")".'],
    ['foo{a="b"', 3, 4, 'The "{" is not closed.', 'Add a "}".'],
    ['foo[5m', 3, 4, 'The "[" is not closed.', 'Add a "]".'],
    ['foo)', 3, 4, 'The ")" was never opened.', 'Leave it out.'],
    ['foo{a="b}', 6, 9, 'The string has no closing ".', 'Put a " at its end.'],
    ['foo{a=b}', 6, 7, 'Expected a quoted label value, found "b".', 'Write "b" in quotes.'],
    ['foo{a=="b"}', 5, 7, 'Expected =, !=, =~ or !~ after the label name, found "==".', 'Write a single "=".'],
    ['rate(foo)', 5, 8, 'rate needs a range vector, this is an instant vector.', 'Add a range, such as foo[5m].'],
    [
      'rate(sum(foo))',
      5,
      13,
      'rate needs a range vector, this is an instant vector.',
      'Write a subquery, such as (…)[5m:].',
    ],
    ['rate(foo[5m], 1)', 0, 16, 'rate takes 1 argument, here are 2.', undefined],
    ['round()', 0, 7, 'round takes 1 to 2 arguments, here are 0.', undefined],
    ['label_join(a, "b")', 0, 18, 'label_join takes at least 3 arguments, here are 2.', undefined],
    ['time(1)', 0, 7, 'time takes no arguments, here is 1.', undefined],
    ['topk(foo)', 0, 9, 'topk takes two arguments, here are 1.', 'Write topk(number, vector).'],
    [
      'sum(foo[5m])',
      4,
      11,
      'sum needs an instant vector, this is a range vector.',
      'Apply a function such as rate or last_over_time to it.',
    ],
    ['1 > 2', 0, 5, 'A comparison of two scalars needs bool.', 'Write > bool.'],
    ['a and 1', 0, 7, 'and works only between two instant vectors.', 'Wrap the scalar: vector(…).'],
    ['a + bool b', 0, 10, 'bool is allowed only with a comparison, not with +.', 'Leave out bool.'],
    [
      'a + on (x) group_left (x) b',
      0,
      27,
      'The label x stands both in on and in group_left.',
      'Leave it out of group_left.',
    ],
    [
      '{a=""}',
      0,
      6,
      'The selector would select every series: each of its matchers also matches an empty value.',
      'Give a metric name, or a matcher such as {job!=""}.',
    ],
    ['a{b=~"("}', 2, 8, 'The regular expression is invalid: missing closing ): `(`.', undefined],
    ['raet(a[5m])', 0, 4, 'There is no function raet in Prometheus.', 'Did you mean rate?'],
    ['mad_over_time(a[5m])', 0, 13, 'mad_over_time is experimental in Prometheus and not supported.', undefined],
    ['limitk(1, a)', 0, 12, 'limitk is experimental in Prometheus and not supported.', undefined],
    ['start()', 0, 5, 'start is experimental in Prometheus and not supported.', undefined],
    [
      'a[5m + 1m]',
      2,
      6,
      'Arithmetic on durations is experimental in Prometheus and not supported.',
      'Write the result.',
    ],
    [
      'sum(a) offset 5m',
      0,
      16,
      'An offset can follow only a selector or a subquery.',
      'Put it directly after the selector.',
    ],
    ['a offset 5m [5m]', 12, 16, 'The range must stand before offset.', 'Write foo[5m] offset 1h.'],
    ['(a)[5m]', 3, 7, 'A range can follow only a selector.', 'For an expression write a subquery, (…)[5m:].'],
    ['a[0s]', 2, 4, 'The range must be longer than zero.', undefined],
    ['a[5m:0s]', 5, 7, 'The step must be longer than zero.', undefined],
    [
      'a[1.5h]',
      2,
      6,
      '"1.5h" is not a duration.',
      'Use whole numbers, units from large to small and each once (y, w, d, h, m, s, ms), such as 1h30m.',
    ],
    ['a[300y]', 2, 6, 'The duration is longer than 292 years.', undefined],
    [
      'a[$__rate_interval]',
      2,
      3,
      'A variable can stand only inside a quoted label value.',
      'Write a duration or number in its place, such as 5m for $__rate_interval.',
    ],
    ['on', 0, 2, 'Expected an expression, found "on".', 'A metric with this name is written {"on"}.'],
    [
      'foo{__name__="bar"}',
      4,
      18,
      'The metric name is given twice.',
      'Leave out "foo" before the braces, or this one.',
    ],
    ['é', 0, 1, 'The character "é" cannot stand here.', 'Quote a name with such characters: {"name"}.'],
    ['"\\q"', 1, 3, 'The escape \\q is not known.', 'Write \\\\ for a backslash.'],
    ['sum(a,)', 5, 6, 'A comma stands before ")".', 'Leave it out.'],
    ['0x', 0, 2, '"0x" is not a number, or is too large for one.', undefined],
    ['a b', 2, 3, 'Expected an operator or the end of the query, found "b".', undefined],
  ])('%s', (query, from, to, message, fix) => {
    const result = parse(query);
    expect(result.ok ? [] : result.problems[0]).toEqual(
      fix === undefined ? { from, to, message } : { from, to, message, fix },
    );
  });

  it('lists all type errors', () => {
    const result = parse('rate(a) + sum(1) + abs("x")');
    expect(result.ok ? [] : result.problems.map(({ from, to }) => [from, to])).toEqual([
      [5, 6],
      [14, 15],
      [23, 26],
    ]);
  });

  it('warns of a label_replace that would fail when evaluated', () => {
    expect(parse('label_replace(a, "b", "$1", "c", "(")')).toMatchObject({ ok: true, notices: [{ from: 33, to: 36 }] });
  });

  it('notes a label given twice, which the server takes', () => {
    expect(parse('sum by (a, b, a) (x)')).toMatchObject({ ok: true, notices: [{ from: 0, to: 20 }] });
    expect(parse('sum by (a, b) (x)')).toMatchObject({ ok: true, notices: [] });
  });

  it('shortens what it quotes', () => {
    const result = parse(`1${'_1'.repeat(50_000)}x`);
    expect(result.ok ? '' : result.problems[0]!.message.length).toBeLessThan(120);
  });
});

describe('size', () => {
  it.each(['(', '-', 'abs(', 'sum by (x) (', '2 ^ ', '-('])(
    'refuses deep nesting of "%s" with a clear error',
    (opener) => {
      const result = parse(opener.repeat(100_000));
      expect(result.ok ? '' : result.problems[0]!.message).toBe(`The query nests deeper than ${MAX_NESTING} levels.`);
    },
  );

  it('takes nesting up to the limit', () => {
    const levels = MAX_NESTING - 1;
    expect(parse(`${'('.repeat(levels)}a${')'.repeat(levels)}`).ok).toBe(true);
  });

  it.each([' + ', ' or ', ' * ', ' == bool '])('takes a chain of 20,000 "%s"', (operator) => {
    const expr = tree(`a${`${operator}a`.repeat(20_000)}`);
    expect(expr.kind === 'binary' && leftSpine(expr)).toHaveLength(20_000);
  });
});
