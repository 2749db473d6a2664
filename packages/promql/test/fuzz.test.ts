/** No text makes the parser throw, hang or point outside the text; whatever parses prints and parses again. */
import { describe, expect, it } from 'vitest';
import { canonicalText } from '../src/syntax/equivalent.ts';
import type { Dialect } from '../src/syntax/parser.ts';
import { parse } from '../src/syntax/parser.ts';
import { print } from '../src/syntax/print.ts';
import { compileRegex } from '../src/syntax/regex.ts';
import { substituteVariables, variablesOf } from '../src/syntax/variables.ts';
import { withoutSpans } from './arbitrary.ts';
import { INVALID, VALID } from './corpus.ts';
import { gibberish, mutate } from './mutate.ts';
import { Random } from './prometheus/random.ts';

const COUNT = process.env['OBSIAC_SOAK'] === '1' ? 100_000 : 4_000;
const TIMEOUT = 600_000;

function examine(query: string, dialect: Dialect): boolean {
  const result = parse(query, { dialect });
  for (const { from, to } of [...result.notices, ...(result.ok ? [] : result.problems)]) {
    expect(from >= 0 && from <= to && to <= query.length, `${query}: ${from}-${to}`).toBe(true);
  }
  if (!result.ok) {
    expect(result.problems.length).toBeGreaterThan(0);
    return false;
  }
  const printed = print(result.expr);
  const again = parse(printed, { dialect });
  expect(again.ok, `${query} printed as ${printed}`).toBe(true);
  if (!again.ok) return false;
  if (dialect === 'prometheus') expect(withoutSpans(again.expr), query).toEqual(withoutSpans(result.expr));
  expect(canonicalText(again.expr), query).toBe(canonicalText(result.expr));
  substituteVariables(result.expr, Object.fromEntries(variablesOf(result.expr).map(({ name }) => [name, 'x'])));
  return true;
}

describe.each(['prometheus', 'metricsql'] as const)('fuzzing the %s dialect', (dialect) => {
  it('stands mutated queries', { timeout: TIMEOUT }, () => {
    const random = new Random(1);
    const all = [...VALID, ...INVALID];
    let valid = 0;
    for (let i = 0; i < COUNT; i++) if (examine(mutate(random.pick(all), random, all), dialect)) valid++;
    // Enough of them must still be valid for the way back to be tested.
    expect(valid).toBeGreaterThan(COUNT / 20);
  });

  it('stands random pieces', { timeout: TIMEOUT }, () => {
    const random = new Random(2);
    for (let i = 0; i < COUNT; i++) examine(gibberish(random, 40), dialect);
  });

  it.each([
    '(',
    '[',
    '{',
    '"',
    '`',
    '-',
    'a ',
    '1',
    '0x',
    '1e',
    '.',
    ':',
    '#\n',
    '\\',
    'a{',
    'a{b="c",',
    'sum(',
    'by(',
    'a[',
    'a[1m:',
    'WITH (',
    '$',
    '@',
    'a@',
    'a default ',
  ])('stands "%s" a hundred thousand times over', (piece) => {
    examine(piece.repeat(100_000), dialect);
    examine(`a ${piece.repeat(50_000)}`, dialect);
  });
});

it('no regular expression makes it throw or hang', { timeout: TIMEOUT }, () => {
  const random = new Random(3);
  const pieces =
    'a b . * + ? | ( ) [ ] { } ^ $ \\ \\d \\pL (?: (?i) (?P<n> [^a-z] {2,5} {1000} {0,} - , : [[:alpha:]] \\Q \\E \\x{41} é 😀 \n'.split(
      ' ',
    );
  for (let i = 0; i < COUNT; i++) {
    let pattern = '';
    for (let n = random.integer(0, 14); n > 0; n--) pattern += random.pick(pieces);
    const result = compileRegex(pattern);
    if (!result.ok) continue;
    const value = random.pick(['a', 'ab', 'b', '']).repeat(random.integer(0, 200));
    result.regex.matches(value);
    result.regex.expand(value, '$1-${n}$$');
  }
});
