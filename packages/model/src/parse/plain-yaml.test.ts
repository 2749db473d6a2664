/** The fast reader gives the nodes of the full parser, or gives up. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isMap, isScalar, isSeq, type ParsedNode } from 'yaml';
import { modelArbitrary } from '../../test/arbitrary.ts';
import { editedModelArbitrary } from '../../test/mutations.ts';
import { writeModel } from '../write/write-model.ts';
import { findLayout } from './layout.ts';
import { readPlainItem } from './plain-yaml.ts';
import { createSourceFile, spanOf } from './source-file.ts';
import { parseYaml } from './yaml-document.ts';

/** What the rest of the program looks at in a node. */
function outline(node: ParsedNode | null, text: string, isKey = false): unknown {
  const source = createSourceFile('x', text);
  if (node === null) return null;
  const { line, column, endLine, endColumn } = spanOf(source, node.range[0], node.range[1]);
  if (isMap(node)) {
    const pairs = node.items.map((pair) => [
      outline(pair.key as ParsedNode, text, true),
      outline(pair.value as ParsedNode, text),
    ]);
    return { flow: node.flow === true, at: [line, column], pairs };
  }
  if (isSeq(node)) {
    const at = node.flow ? [line, column, endLine, endColumn] : [line, column];
    return { flow: node.flow === true, at, items: node.items.map((item) => outline(item as ParsedNode, text)) };
  }
  if (!isScalar(node)) return 'alias';
  const { type } = node;
  // A key is its text, whatever value that text has elsewhere.
  const value = isKey ? undefined : node.value;
  const written = node.source;
  const isEmpty = written === '' && type === 'PLAIN';
  return {
    value,
    type,
    source: written,
    anchor: node.anchor,
    tag: node.tag,
    at: isEmpty ? [] : [line, column, endLine, endColumn],
  };
}

/** True when the fast reader took the text; then its node must be that of the full parser. */
function agrees(text: string, from: number, to: number): boolean {
  const node = readPlainItem(text, from, to);
  if (!node) return false;
  const { root, diagnostics } = parseYaml(createSourceFile('x', text), from, to);
  expect(diagnostics).toEqual([]);
  expect(isSeq(root) && root.items.length).toBe(1);
  expect(outline(node, text)).toEqual(outline((root as { items: ParsedNode[] } | null)?.items[0] ?? null, text));
  return true;
}

function takenItems(text: string): { taken: number; all: number } {
  const layout = findLayout(text);
  const starts = layout?.itemStarts ?? [];
  const taken = starts.filter((start, i) => agrees(text, start, starts[i + 1] ?? layout?.end ?? 0));
  return { taken: taken.length, all: starts.length };
}

const limit = { interruptAfterTimeLimit: 60_000 };

describe('readPlainItem', () => {
  test('agrees with the full parser on written models', () => {
    fc.assert(
      fc.property(modelArbitrary(), (model) => {
        takenItems(writeModel(model.entities));
      }),
      { numRuns: 100, ...limit },
    );
  });

  test('agrees with the full parser on edited models', () => {
    fc.assert(
      fc.property(editedModelArbitrary, (text) => {
        takenItems(text);
      }),
      { numRuns: 300, ...limit },
    );
  });

  test('agrees with the full parser on small texts of the characters that matter', () => {
    let taken = 0;
    const tokens = [
      'a',
      'b c',
      ': ',
      ':',
      ' #',
      '#',
      '"',
      "'",
      "''",
      '[',
      ']',
      ',',
      '|',
      '|-',
      '-',
      '1',
      '.5',
      '007',
      '1e3',
      '~',
    ];
    const words = [...tokens, '\\', '\\n', 'true', 'null', ' ', '5xx', '(%)', '"a"', "'b'", '[a, "b"]', '-1.50'];
    const starts = ['', ' ', '  ', '    ', '- ', '  - ', '    - ', '      '];
    const keys = ['', 'a: ', 'b:', 'c d: ', '- ', '# ', 'a: |', 'b: |+', '404: ', "'e': "];
    const value = fc.array(fc.constantFrom(...words), { maxLength: 3 }).map((parts) => parts.join(''));
    const line = fc.tuple(fc.constantFrom(...starts), fc.constantFrom(...keys), value).map((parts) => parts.join(''));
    const item = fc
      .array(line, { minLength: 1, maxLength: 6 })
      .map((lines) => `- a: b\n${lines.map((each) => `  ${each}\n`).join('')}`);
    fc.assert(
      fc.property(item, (text) => {
        if (agrees(text, 0, text.length)) taken++;
      }),
      { numRuns: 20_000, ...limit },
    );
    expect(taken).toBeGreaterThan(200);
  });

  test('takes what models are usually made of', () => {
    const text = `entities:
  - name: Checkout   # the shop
    # a comment
    external_ref: checkout
    tags: [a, 'b c', "d"]
    labels:
      version: 1.10

      404: x
    indicators:
    - name: 5xx Status (%)
      query: 100 * sum(rate(x{a="b", c!~'d #e'}[5m]))
    - name: "quo\\"ted \\u00e4"
      query: |
        sum(x)
          / y

    alert_rules:
      -
        name: 'it''s'
        greater_than: -0.5
        mute: true
    description:
    notification_channels:
      - oncall
      - name: b
`;
    expect(takenItems(text)).toEqual({ taken: 1, all: 1 });
  });

  test('long lines take little time', () => {
    const long = 100_000;
    for (const value of [
      `[a${' '.repeat(long)}`,
      `a${' '.repeat(long)}b`,
      `|\n    a${'\n'.repeat(long)}    b`,
      'a '.repeat(long),
      `"${'a'.repeat(long)}`,
      `[${'a, '.repeat(long)}`,
      `'${"''".repeat(long)}`,
    ]) {
      const text = `- a: ${value}\n`;
      readPlainItem(text, 0, text.length);
    }
  });

  test.each([
    ['anchor', '- a: &x b\n'],
    ['alias', '- a: *x\n'],
    ['tag', '- a: !x b\n'],
    ['text over two lines', '- a: b\n    c\n'],
    ['folded block', '- a: >\n    b\n'],
    ['mapping in braces', '- a: {b: c}\n'],
    ['tab', '- a: b\tc\n'],
    ['Windows line ends', '- a: b\r\n'],
    ['second colon', '- a: b: c\n'],
    ['complex key', '- ? a\n  : b\n'],
    ['merge key', '- <<: a\n'],
    ['number of another form', '- a: 0x1F\n'],
    ['null', '- a: null\n'],
    ['odd indentation', '- a: b\n   c: d\n'],
    ['open quote', '- a: "b\n'],
  ])('gives up: %s', (_, text) => {
    expect(readPlainItem(text, 0, text.length)).toBeUndefined();
  });
});
