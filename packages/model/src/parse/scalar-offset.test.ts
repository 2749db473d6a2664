/** Offsets in a YAML scalar's value lead to the same characters of the file, in every style. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isScalar, Scalar, stringify } from 'yaml';
import { scalarOffset } from './scalar-offset.ts';
import { createSourceFile } from './source-file.ts';
import { parseYaml } from './yaml-document.ts';

const STYLES = [
  Scalar.PLAIN,
  Scalar.QUOTE_DOUBLE,
  Scalar.QUOTE_SINGLE,
  Scalar.BLOCK_LITERAL,
  Scalar.BLOCK_FOLDED,
] as const;

/** Words, so that folding has spaces to fold at, with what each style escapes. */
const textArbitrary = fc
  .array(
    fc.oneof(
      fc.stringMatching(/^[a-z(){}$"'\\,#:=]{1,8}$/),
      fc.constantFrom('数', '🚀', 'a\nb', 'a\n\nb', 'x\n  y', '\t'),
    ),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  .map((words) => words.join(' '));

function scalarOf(text: string) {
  const { root, diagnostics } = parseYaml(createSourceFile('x.yaml', text));
  expect(diagnostics).toEqual([]);
  const node = root && 'items' in root ? (root.items[0] as { value: unknown }).value : undefined;
  if (!isScalar(node)) throw new Error(`no scalar in ${text}`);
  return node as Scalar.Parsed;
}

describe('scalarOffset', () => {
  test('finds every visible character, in all styles', () => {
    fc.assert(
      fc.property(textArbitrary, fc.constantFrom(...STYLES), fc.constantFrom(0, 20, 80), (value, style, lineWidth) => {
        const scalar = new Scalar(value);
        scalar.type = style;
        const text = stringify({ key: scalar }, { lineWidth, minContentWidth: 0, indent: 4 });
        const node = scalarOf(text);
        fc.pre(node.value === value); // Not every style can hold every text.
        for (let i = 0; i < value.length; i++) {
          const char = value[i]!;
          if (/\s/.test(char)) continue;
          const at = scalarOffset(text, node, i);
          const isEscape = text[at] === '\\' || (text[at] === "'" && node.type === Scalar.QUOTE_SINGLE);
          if (!isEscape) expect(text[at]).toBe(char);
          expect(scalarOffset(text, node, i + 1, true)).toBeGreaterThan(at);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['key: "a\\tb\\u0041\\U0001F680c"', 6, 'c'],
    ['key: "joined \\\n  lines c"', 13, 'c'],
    ["key: 'it''s c'", 5, 'c'],
    ['key: plain\n  goes on\n\n  c', 14, 'c'],
    ['key: >-2\n    kept\n  c', 7, 'c'],
    ['key: |+ # comment\r\n  one\r\n  c\r\n', 4, 'c'],
  ])('%j', (text, offset, char) => {
    const at = scalarOffset(text, scalarOf(text), offset);
    expect(text[at]).toBe(char);
  });
});
