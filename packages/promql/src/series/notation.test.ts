import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { labelsRecord } from './labels.ts';
import { parseSequence, parseSeriesNotation, readNotation, type SequenceValue } from './notation.ts';

const stale = 'stale' as const;
const none = undefined;

describe('sequences of values', () => {
  const cases: [string, SequenceValue[]][] = [
    ['', []],
    ['   ', []],
    ['1 2.5 -3', [1, 2.5, -3]],
    ['1+2x3', [1, 3, 5, 7]],
    ['1-2x2', [1, -1, -3]],
    ['-1+2x2', [-1, 1, 3]],
    ['-1-2x2', [-1, -3, -5]],
    ['+1 +2', [1, 2]],
    ['7x3', [7, 7, 7, 7]],
    ['7x0', [7]],
    ['1+1x0', [1]],
    ['_ _x3 1', [none, none, none, none, 1]],
    ['_x0 1', [1]],
    ['1 stale 2', [1, stale, 2]],
    ['1e3 1e-2x1 1e1+1e1x1', [1000, 0.01, 0.01, 10, 20]],
    ['0x2', [0, 0, 0]],
    ['NaN Inf -Inf +inf', [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]],
    ['0+0.1x3', [0, 0.1, 0.2, 0.30000000000000004]],
    ['1\t2', [1, 2]],
    ['.5 5.', [0.5, 5]],
    ['-Inf+1x1', [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]],
  ];
  test.each(cases)('%j', (text, expected) => {
    expect(parseSequence(text)).toEqual(expected);
  });

  test.each([
    ['1+x3', 0, '"1+x3" is no value'],
    ['1 2+3', 2, '"2+3" is no value'],
    ['stalex3', 0, '"stalex3" is no value'],
    ['1 NaNx3', 2, '"NaNx3" is no value'],
    ['1+Infx3', 0, '"1+Infx3" is no value'],
    ['1,2', 0, '"1,2" is no value'],
    ['{{schema:0}}', 0, 'Native histograms'],
    ['1x99999999999', 0, 'at most'],
    ['_x99999999999', 0, 'at most'],
  ])('%j is refused', (text, from, message) => {
    const { problem } = parseSequence(text) as { problem: { from: number; message: string } };
    expect(problem.from).toBe(from);
    expect(problem.message).toContain(message);
  });
});

test('reads names and labels in every form', () => {
  const labels = (text: string) => {
    const read = parseSeriesNotation(text);
    if ('problem' in read) throw new Error(read.problem.message);
    return { ...labelsRecord(read.labels) };
  };
  expect(labels('up 1')).toEqual({ __name__: 'up' });
  expect(labels('up')).toEqual({ __name__: 'up' });
  expect(labels('up{} 1')).toEqual({ __name__: 'up' });
  expect(labels('{} 1')).toEqual({});
  expect(labels(`a:b{ x = "1" , y='2', z=\`3\\\`, } 1`)).toEqual({ __name__: 'a:b', x: '1', y: '2', z: '3\\' });
  expect(labels('{"a metric", "a label"="\\u00e9\\n"} 1')).toEqual({ __name__: 'a metric', 'a label': 'é\n' });
  expect(labels('{__name__="x", empty=""} 1')).toEqual({ __name__: 'x' });
  expect(labels('x{__proto__="p", constructor="c"} 1')).toMatchObject({ constructor: 'c' });
});

test.each([
  ['1 2', 'A metric name'],
  ['up{a="b" 1', '"," or "}"'],
  ['up{a="b', 'not closed'],
  ['up{a=b} 1', 'in quotes'],
  ['up{a="1", a="2"} 1', 'twice'],
  ['up{="1"} 1', 'label name'],
  ['up{a="\\q"} 1', 'escape'],
  ['up{a="b"}1', 'space'],
  ['up{__name__="b"} 1', 'twice'],
])('%j is refused', (text, message) => {
  expect((parseSeriesNotation(text) as { problem: { message: string } }).problem.message).toContain(message);
});

test('lays lines out in time and tells problems by their place in the text', () => {
  const text = '# a comment\nup{a="1"} 1 _ stale 4\r\n\n  down 5x1\nbad{ 1\nup{a="1"} 2\n';
  const { series, problems } = readNotation(text, { start: 1000, interval: 500 });
  expect(series.map(({ times }) => [...times])).toEqual([
    [1000, 2000, 2500],
    [1000, 1500],
  ]);
  expect([...series[0]!.stale!]).toEqual([0, 1, 0]);
  expect(series[1]!.stale).toBeUndefined();
  expect(problems.map(({ from, to }) => text.slice(from, to))).toEqual(['1', 'up{a="1"} 2']);
});

test('no text crashes it', () => {
  const piece = fc.constantFrom(
    'up',
    '{',
    '}',
    '"',
    "'",
    '`',
    '=',
    ',',
    ' ',
    '1',
    '+2',
    'x3',
    '_',
    'stale',
    '\\',
    '\n',
    '{{',
    '-',
    'e',
    '.',
    'é',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((pieces) => pieces.join('')),
        fc.string(),
      ),
      (text) => {
        const { series, problems } = readNotation(text, { start: 0, interval: 1 });
        for (const { from, to } of problems) expect(from >= 0 && to > from && to <= text.length + 1).toBe(true);
        for (const { times, values } of series) expect(times.length).toBe(values.length);
      },
    ),
    { numRuns: 2_000 },
  );
});
