/** Rows under headings, aligned in columns, for people. */
import { oneLine, type Style } from './style.ts';

const GAP = '  ';

/** Columns that a text takes, near enough: code points, without marks that combine with the one before. */
function widthOf(text: string): number {
  return [...text.replace(/\p{Mark}/gu, '')].length;
}

/** `text` in at most `width` columns; what is cut is told by an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return `${[...text].slice(0, Math.max(0, width - 1)).join('')}…`;
}

export interface TableLook {
  /** Colours a whole row, by its index. */
  readonly paintRow?: (line: string, index: number) => string;
  /** Cut the last column at the width of the page; else lines may be longer. */
  readonly fit?: boolean;
}

/** Whole lines: the headings, then the rows. Line ends and control characters in cells are made visible. */
export function tableText(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
  look: TableLook = {},
): string {
  const cells = rows.map((row) => row.map((cell) => (/[^\x20-\x7e]/.test(cell) ? oneLine(cell) : cell)));
  const widths = headings.map((heading, column) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[column] ?? '')), widthOf(heading)),
  );
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, column) => {
      if (column === row.length - 1) return cell;
      return cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
    });
    const text = padded.join(GAP).trimEnd();
    return look.fit === true ? cut(text, style.width) : text;
  };
  const paint = look.paintRow ?? ((text: string) => text);
  return `${[style.faint(line(headings)), ...cells.map((row, index) => paint(line(row), index))].join('\n')}\n`;
}
