/** A diagnostic as text for people: headline, place, source line with a caret, and what to do. */
import type { Diagnostic, Source } from '../diagnostic.ts';
import { displayWidth, printable } from './display-width.ts';

/** What a piece of the text is, for a caller that colours it. */
export type DiagnosticPart = 'error' | 'warning' | 'headline' | 'place' | 'gutter' | 'source' | 'caret' | 'detail';

export interface RenderOptions {
  /** Gets each piece that has a part of its own; gives it back as it is to be shown. Default: unchanged. */
  readonly paint?: (text: string, part: DiagnosticPart) => string;
  /** Columns after which the detail is wrapped. Default 100; 0: never. */
  readonly width?: number;
}

/** The most columns of a source line that are shown. */
const SOURCE_COLUMNS = 120;

/**
 * Renders a diagnostic; `textOfFile` is the whole text of the file that its source names. Without it, or without a
 * source, there is no source line. The result has no newline at its end.
 *
 * ```text
 * error[rule/window]: Invalid window
 *   --> model.yaml:12:22
 *    |
 * 12 |         bad_minutes: 20
 *    |                      ^^
 *    = bad_minutes is 20 and total_minutes is 10: …
 * ```
 */
export function renderDiagnostic(diagnostic: Diagnostic, textOfFile?: string, options: RenderOptions = {}): string {
  const paint = options.paint ?? ((text: string) => text);
  const { severity, code, summary, source, detail } = diagnostic;
  const line = source && textOfFile !== undefined ? lineAt(textOfFile, source.line) : undefined;
  const gutter = ' '.repeat(line === undefined || !source ? 1 : String(source.line).length);
  const lines = [`${paint(`${severity}[${code}]`, severity)}${paint(`: ${summary}`, 'headline')}`];
  if (source) {
    const place = `${printable(source.file)}:${source.line}:${source.column}`;
    lines.push(`${gutter}${paint('-->', 'gutter')} ${paint(place, 'place')}`);
  }
  if (source && line !== undefined) lines.push(...sourceLines(source, line, gutter, paint));
  const indent = `${gutter} ${paint('=', 'gutter')} `;
  const wrapped = wrap(printable(detail), (options.width ?? 100) - gutter.length - 3);
  wrapped.forEach((text, i) => {
    lines.push(`${i === 0 ? indent : ' '.repeat(gutter.length + 3)}${paint(text, 'detail')}`);
  });
  return lines.join('\n');
}

type Paint = NonNullable<RenderOptions['paint']>;

function sourceLines(source: Source, line: string, gutter: string, paint: Paint): string[] {
  const from = Math.min(source.column - 1, line.length);
  const endOfSpan = source.endLine === source.line ? source.endColumn - 1 : line.length;
  const to = Math.min(Math.max(endOfSpan, from), line.length);
  const before = printable(line.slice(0, from));
  const marked = printable(line.slice(from, to), displayWidth(before));
  const after = printable(line.slice(to), displayWidth(before) + displayWidth(marked));
  const [shownBefore, shownMarked, shownAfter] = fit(before, marked, after);
  const caret = ' '.repeat(displayWidth(shownBefore)) + '^'.repeat(Math.max(displayWidth(shownMarked), 1));
  const bar = paint('|', 'gutter');
  const number = paint(String(source.line), 'gutter');
  const text = `${shownBefore}${shownMarked}${shownAfter}`.trimEnd();
  return [
    `${gutter} ${bar}`,
    text === '' ? `${number} ${bar}` : `${number} ${bar} ${paint(text, 'source')}`,
    `${gutter} ${bar} ${paint(caret, 'caret')}`,
  ];
}

/** Cuts a long line so that the marked part stays in view. */
function fit(before: string, marked: string, after: string): [string, string, string] {
  if (displayWidth(before) + displayWidth(marked) + displayWidth(after) <= SOURCE_COLUMNS)
    return [before, marked, after];
  const shownMarked = takeStart(marked, SOURCE_COLUMNS / 2);
  const room = SOURCE_COLUMNS - displayWidth(shownMarked);
  const shownBefore = takeEnd(before, Math.max(room - 20, room / 2));
  const left = room - displayWidth(shownBefore);
  return [shownBefore, shownMarked, shownMarked === marked ? takeStart(after, left) : ''];
}

function takeStart(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let taken = '';
  let width = 1;
  for (const char of text) {
    width += displayWidth(char);
    if (width > columns) break;
    taken += char;
  }
  return `${taken}…`;
}

function takeEnd(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let taken = '';
  let width = 1;
  for (const char of [...text].reverse()) {
    width += displayWidth(char);
    if (width > columns) break;
    taken = char + taken;
  }
  return `…${taken}`;
}

/** The line with a number from 1, without its line break and byte order mark; undefined when there is none. */
function lineAt(text: string, number: number): string | undefined {
  let start = text.startsWith('\ufeff') ? 1 : 0;
  for (let line = 1; line < number; line++) {
    const end = text.indexOf('\n', start);
    if (end === -1) return undefined;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '');
}

function wrap(text: string, width: number): string[] {
  if (width <= 0) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
