/** Literal blocks (`|`) of the usual form, read as the full YAML parser reads them, or not at all. */
import { trimEndOf } from '../trim-end.ts';

interface LiteralBlock {
  readonly value: string;
  /** Offset of the line after the block. */
  readonly to: number;
}

const HEADER = /\|([-+]?)\n/y;

/** The block whose `|` stands at `start`, for a key or hyphen at the column `indent`. */
export function literalBlock(text: string, start: number, indent: number): LiteralBlock | undefined {
  HEADER.lastIndex = start;
  const chomping = HEADER.exec(text)?.[1];
  if (chomping === undefined) return undefined;
  const lines: string[] = [];
  let margin = -1;
  let at = HEADER.lastIndex;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length : end + 1;
    const line = text.slice(at, end === -1 ? text.length : end);
    let column = 0;
    while (line[column] === ' ') column++;
    if (column === line.length) {
      // Spaces alone may count or not, depending on lines to come.
      if (line !== '') return undefined;
      lines.push('');
    } else {
      if (margin === -1) margin = column;
      if (column < margin || margin <= indent) break;
      lines.push(line.slice(margin));
    }
    at = next;
    if (end === -1) return undefined; // A last line without line end is rare, and its newline is too.
  }
  const body = trimEndOf(lines.join('\n'), '\n');
  if (body === '' || margin <= indent) return undefined;
  if (chomping === '-') return { value: body, to: at };
  return { value: chomping === '+' ? `${lines.join('\n')}\n` : `${body}\n`, to: at };
}
