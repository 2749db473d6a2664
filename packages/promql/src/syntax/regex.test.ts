import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { type AnchoredRegex, compileRegex } from './regex.ts';

function regex(pattern: string): AnchoredRegex {
  const result = compileRegex(pattern);
  if (!result.ok) throw new Error(`${pattern}: ${result.message}`);
  return result.regex;
}

describe('compileRegex', () => {
  it.each([
    ['a', ['a'], ['', 'aa', 'b', 'a\n']],
    ['', [''], ['a']],
    ['a|b|c\\.d', ['a', 'b', 'c.d'], ['cxd', 'ab', '']],
    ['(?:a|b)', ['a', 'b'], ['', 'ab']],
    ['(a|)', ['a', ''], ['b']],
    ['a|b|c|d|e|f', ['a', 'f'], ['g', 'a|b']],
    ['api-.*', ['api-', 'api-x', 'api-\n'], ['api', 'xapi-']],
    ['.*-api', ['-api', 'x-api'], ['api', '-apix']],
    ['.*', ['', 'a\nb'], []],
    ['.+', ['a', '\n'], ['']],
    ['a.*b.+c', ['abxc', 'axbbcc', 'ab\nc'], ['abc', 'xabxc', 'abxcd']],
    ['a.+a', ['axa', 'aaa'], ['aa', 'a']],
    ['.+a.+', ['bab', 'aaa'], ['a', 'aa', 'ba', 'ab']],
    ['.+.+', ['ab'], ['a', '😀', '']],
    ['5..|200', ['500', '5xx', '200'], ['50', '2000']],
    ['(?i:API)x', ['apix', 'APIx'], ['apiX']],
    ['[ab]:.', ['a:1', 'b:\n'], ['c:1']],
    ['^a$', ['a'], ['ab', '']],
    ['a*', ['', 'aaa'], ['b']],
    ['\\d+', ['12'], ['', '1a']],
    ['x{2,3}', ['xx', 'xxx'], ['x', 'xxxx', 'x{2,3}']],
    ['😀.', ['😀😀'], ['😀']],
    ['\\Qa.b\\E', ['a.b'], ['axb']],
    ['a\\|b', ['a|b'], ['a', 'b']],
    ['(a|b)c|d', ['ac', 'd'], ['a', 'bd']],
    ['\\(a\\)', ['(a)'], ['a']],
  ])('%s', (pattern, yes, no) => {
    for (const value of yes) expect(regex(pattern).matches(value), value).toBe(true);
    for (const value of no) expect(regex(pattern).matches(value), value).toBe(false);
  });

  it.each([
    '(',
    ')',
    '[',
    '*',
    'a**',
    '(?=a)',
    '(?<!a)',
    '\\1',
    '\\C',
    'x{1001}',
    '(x{100}){100}',
    '[z-a]',
    '\\',
    'a{2,1}',
  ])('refuses %s', (pattern) => {
    const result = compileRegex(pattern);
    expect(result.ok ? '' : result.message).toMatch(/^[^\n]{5,}$/);
    expect(result.ok ? '' : result.message).not.toContain('(?s)');
  });

  it('gives the same object for the same pattern', () => {
    expect(regex('a[bc]')).toBe(regex('a[bc]'));
  });

  it('knows the values or the start of what it matches', () => {
    expect(regex('a|b|a').literals).toEqual(['a', 'b']);
    expect(regex('ab.*').prefix).toBe('ab');
    expect(regex('ab*').prefix).toBe('a');
    expect(regex('ab[c]').prefix).toBe('ab');
    expect(regex('ab[c]|d').prefix).toBe('');
    expect(regex('ab.*|c').prefix).toBe('');
    expect(regex('(?i)ab').prefix).toBe('');
    expect(regex('[a]').literals).toBeUndefined();
  });

  it('matches as the full engine does, fast paths or not', () => {
    const piece = fc.constantFrom('a', 'b', '.*', '.+', '|', '\\.', '.', '(', ')', '[ab]', '?', '*', '-', '\n', '😀');
    const value = fc
      .array(fc.constantFrom('a', 'b', '.', '-', '\n', '😀', '|'), { maxLength: 6 })
      .map((each) => each.join(''));
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 7 }),
        fc.array(value, { minLength: 5, maxLength: 5 }),
        (pieces, values) => {
          const pattern = pieces.join('');
          const result = compileRegex(pattern);
          let full: RE2JS | undefined;
          try {
            full = RE2JS.compile(pattern, RE2JS.DOTALL);
          } catch {
            // Invalid for the full engine: then for ours too.
          }
          expect(result.ok, pattern).toBe(full !== undefined);
          if (!result.ok || full === undefined) return;
          for (const each of values)
            expect(result.regex.matches(each), `${pattern} on ${each}`).toBe(full.matches(each));
          for (const each of values) if (full.matches(each)) expect(each.startsWith(result.regex.prefix)).toBe(true);
          const { literals } = result.regex;
          if (literals !== undefined) for (const each of literals) expect(full.matches(each)).toBe(true);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it('takes no time for patterns that make backtracking engines hang', () => {
    expect(regex('(a+)+b').matches('a'.repeat(20_000))).toBe(false);
    expect(regex('(.*a){20}').matches('a'.repeat(15))).toBe(false);
    expect(regex('.*x.*x.*x.*y').matches('x'.repeat(20_000))).toBe(false);
  });
});

describe('expand', () => {
  it.each([
    ['(.*):(\\d+)', 'host:80', '$1', 'host'],
    ['(.*):(\\d+)', 'host:80', '$2/${1}x', '80/hostx'],
    ['(.*):(\\d+)', 'host:80', '$1x', ''],
    ['(.*):(\\d+)', 'host:80', '$0', 'host:80'],
    ['(.*):(\\d+)', 'host:80', '$3-$$', '-$'],
    ['(?P<name>.+)', 'a', '${name}-$name', 'a-a'],
    ['(?P<name>.+)', 'a', '$other.', '.'],
    ['(a)|(b)', 'b', '[$1][$2]', '[][b]'],
    ['.*', 'a', 'fixed', 'fixed'],
    ['.*', 'a', '$', '$'],
    ['a.*', 'b', '$0', undefined],
    ['(a)', 'b', 'x', undefined],
  ])('%s on %s with %s', (pattern, value, template, expected) => {
    expect(regex(pattern).expand(value, template)).toBe(expected);
  });
});
