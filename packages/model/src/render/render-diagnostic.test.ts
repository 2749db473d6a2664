/** Diagnostics as text: layout, carets, odd characters, long lines, colours. */
import { describe, expect, test } from 'vitest';
import type { Diagnostic } from '../diagnostic.ts';
import { displayWidth, printable } from './display-width.ts';
import { renderDiagnostic } from './render-diagnostic.ts';

const diagnostic = (line: number, column: number, endColumn: number, endLine = line): Diagnostic => ({
  severity: 'error',
  code: 'rule/window',
  summary: 'Invalid window',
  detail: 'Something is wrong here.',
  source: { file: 'm.yaml', line, column, endLine, endColumn },
});

/** The source line and the line of the caret. */
const snippet = (text: string, column: number, endColumn: number, endLine?: number) =>
  renderDiagnostic(diagnostic(1, column, endColumn, endLine), text)
    .split('\n')
    .slice(3, 5);

describe('renderDiagnostic', () => {
  test('shows headline, place, line, caret and detail', () => {
    expect(renderDiagnostic(diagnostic(2, 3, 6), 'a\n  bcd: e\n')).toBe(
      [
        'error[rule/window]: Invalid window',
        ' --> m.yaml:2:3',
        '  |',
        '2 |   bcd: e',
        '  |   ^^^',
        '  = Something is wrong here.',
      ].join('\n'),
    );
  });

  test('without text there is no line, without source no place', () => {
    expect(renderDiagnostic(diagnostic(2, 3, 6))).toBe(
      'error[rule/window]: Invalid window\n --> m.yaml:2:3\n  = Something is wrong here.',
    );
    const { source: _, ...placeless } = diagnostic(1, 1, 2);
    expect(renderDiagnostic({ ...placeless, severity: 'warning' }, 'text')).toBe(
      'warning[rule/window]: Invalid window\n  = Something is wrong here.',
    );
  });

  test('a line or column that is not there does not matter', () => {
    expect(renderDiagnostic(diagnostic(9, 1, 2), 'one line')).toContain('m.yaml:9:1');
    expect(snippet('abc', 40, 50)).toEqual(['1 | abc', '  |    ^']);
    expect(snippet('', 1, 2)).toEqual(['1 |', '  | ^']);
  });

  test('the caret stands under wide characters, tabs and marks', () => {
    expect(snippet('数数x', 3, 4)).toEqual(['1 | 数数x', '  |     ^']);
    expect(snippet('x数', 2, 3)).toEqual(['1 | x数', '  |  ^^']);
    expect(snippet('🚀x', 3, 4)).toEqual(['1 | 🚀x', '  |   ^']);
    expect(snippet('a\tb', 3, 4)).toEqual(['1 | a   b', '  |     ^']);
    expect(snippet('e\u0301x', 3, 4)).toEqual(['1 | e\u0301x', '  |  ^']);
  });

  test('a span over several lines is marked to the end of the first', () => {
    expect(snippet('key: |\n  x\n', 6, 3, 2)).toEqual(['1 | key: |', '  |      ^']);
  });

  test('Windows line ends and a byte order mark are not shown', () => {
    expect(snippet('\ufeffab\r\ncd', 2, 3)).toEqual(['1 | ab', '  |  ^']);
  });

  test('nothing of the file reaches the terminal as an instruction', () => {
    const text = '\u001b[31mred \u202e\u0007';
    expect(snippet(text, 1, 2)[0]).toBe('1 | \ufffd[31mred \ufffd\ufffd');
    expect(renderDiagnostic({ ...diagnostic(1, 1, 2), detail: 'x\u001b[2Jy' })).not.toContain('\u001b');
  });

  test('a long line is cut around the mark', () => {
    const line = `${'a'.repeat(500)}MARK${'b'.repeat(500)}`;
    const [shown = '', caret = ''] = snippet(line, 501, 505);
    expect(displayWidth(shown)).toBeLessThanOrEqual(124);
    expect(shown.slice(caret.indexOf('^'), caret.lastIndexOf('^') + 1)).toBe('MARK');
    expect(shown).toMatch(/…a+MARKb+…$/);
    const [start = ''] = snippet(line, 2, 4);
    expect(start).toMatch(/^1 \| a+…$/);
    const [, carets = ''] = snippet(line, 1, 1004);
    expect(displayWidth(carets)).toBeLessThanOrEqual(124);
  });

  test('the detail is wrapped at the width, or not at all', () => {
    const long = { ...diagnostic(1, 1, 2), detail: 'word '.repeat(40).trim() };
    for (const line of renderDiagnostic(long, 'x', { width: 40 }).split('\n'))
      expect(line.length).toBeLessThanOrEqual(40);
    expect(renderDiagnostic(long, 'x', { width: 0 })).toContain(long.detail);
  });

  test('paint gets each part and changes nothing else', () => {
    const plain = renderDiagnostic(diagnostic(1, 1, 3), 'ab: c');
    const parts = new Set<string>();
    const painted = renderDiagnostic(diagnostic(1, 1, 3), 'ab: c', {
      paint: (text, part) => {
        parts.add(part);
        return `<${part}>${text}</${part}>`;
      },
    });
    expect(painted.replaceAll(/<\/?[a-z]+>/g, '')).toBe(plain);
    expect([...parts].toSorted()).toEqual(['caret', 'detail', 'error', 'gutter', 'headline', 'place', 'source']);
  });
});

test('printable keeps tab stops from a column on', () => {
  expect(printable('\tx', 2)).toBe('  x');
  expect(printable('\t\t')).toBe('        ');
});
