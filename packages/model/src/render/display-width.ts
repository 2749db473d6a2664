/** How many columns of a terminal a text takes, so that a caret stands under its character. */

/** Blocks whose characters are two columns wide: Unicode's East Asian wide and full-width ones, coarsely. */
const WIDE: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

/** Columns of one code point: 0, 1 or 2. */
function codePointWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(char)) return 0;
  if (/\p{Emoji_Presentation}/u.test(char)) return 2;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Columns that a text without control characters takes. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += codePointWidth(char);
  return width;
}

const TAB_WIDTH = 4;

/**
 * The text as a terminal may show it: tabs as spaces up to the next stop, and a mark in the place of characters that
 * would move the cursor, change colours or reverse the direction. `column` is where the text starts on its line.
 */
export function printable(text: string, column = 0): string {
  let shown = '';
  let at = column;
  for (const char of text) {
    const next = char === '\t' ? ' '.repeat(TAB_WIDTH - (at % TAB_WIDTH)) : isUnsafe(char) ? '\ufffd' : char;
    shown += next;
    at += displayWidth(next);
  }
  return shown;
}

const isUnsafe = (char: string) => /[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u.test(char);
