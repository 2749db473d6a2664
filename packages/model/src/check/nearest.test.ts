/** Suggestions and quoting in messages. */
import { expect, test } from 'vitest';
import { didYouMean, nearest, oneOf, quote } from './nearest.ts';

test.each([
  ['indicater', ['indicator', 'indicators'], 'indicator'],
  ['Alert-Rules', ['alert_rules', 'labels'], 'alert_rules'],
  ['severtiy', ['severity', 'service'], 'severity'],
  ['xyz', ['abc', 'def'], undefined],
  ['to', ['from', 'for'], undefined],
  ['5xx status', ['5xx Status'], '5xx Status'],
  ['', ['a'], undefined],
])('nearest(%j)', (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected);
});

test('many candidates and long names take little work', () => {
  const many = Array.from({ length: 100_000 }, (_, i) => `${'long name '.repeat(50)}${i}`);
  expect(didYouMean('short', many)).toBe('');
});

test('sentences', () => {
  expect(didYouMean('teir', ['tier'])).toBe(' Did you mean "tier"?');
  expect([oneOf([]), oneOf(['a']), oneOf(['a', 'b']), oneOf(['a', 'b', 'c'], 'and')]).toEqual([
    '',
    'a',
    'a or b',
    'a, b and c',
  ]);
});

test('quote keeps a text on one line, without instructions to a terminal', () => {
  expect(quote('a "b" \\ \n\t\u001b\u202e')).toBe('"a \\"b\\" \\\\ \\n\\t\\u001b\\u202e"');
  expect(quote('x'.repeat(100))).toBe(`"${'x'.repeat(80)}…"`);
  expect(quote(`${'x'.repeat(79)}🚀`).isWellFormed()).toBe(true);
});
