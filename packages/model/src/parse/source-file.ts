/** A text with its name and the start of each line, so that an offset becomes a line and a column. */
import type { Source } from '../diagnostic.ts';

export interface SourceFile {
  readonly file: string;
  readonly text: string;
  /** Offset of the first character of each line. */
  readonly lineStarts: Uint32Array;
}

export function createSourceFile(file: string, text: string): SourceFile {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return { file, text, lineStarts: Uint32Array.from(starts) };
}

/** Line and column of an offset, both counted from 1; a column is one UTF-16 unit, as editors count. */
function positionAt(source: SourceFile, offset: number): { line: number; column: number } {
  let low = 0;
  let high = source.lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (source.lineStarts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - source.lineStarts[low]! + 1 };
}

/** The span from one offset to another (exclusive), without white space at its end and at least one column wide. */
export function spanOf(source: SourceFile, from: number, to: number): Source {
  let end = Math.min(to, source.text.length);
  while (end > from + 1 && isSpace(source.text.charCodeAt(end - 1))) end--;
  const start = positionAt(source, from);
  const last = positionAt(source, Math.max(end, from));
  const isEmpty = last.line === start.line && last.column === start.column;
  return {
    file: source.file,
    line: start.line,
    column: start.column,
    endLine: last.line,
    endColumn: isEmpty ? last.column + 1 : last.column,
  };
}

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9;
