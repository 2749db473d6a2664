/** Writes one text as a YAML scalar in the most readable style that reads back as the same text. */
import { trimEndOf } from '../trim-end.ts';

/** Words and numbers that a YAML reader, of version 1.1 or 1.2, may take for something else than a text. */
const NOT_A_TEXT =
  /^(?:~|null|true|false|yes|no|on|off|y|n|<<|=|\.nan|[-+]?\.inf|[-+]?[0-9][0-9_,.:eE+-]*|[-+]?\.[0-9_eE+-]*|[-+]?e[-+]?[0-9]+|[-+]?0[xob][0-9a-f_]+|[0-9]{4}-[0-9].*)$/i;

/** Characters that give a plain scalar another meaning when they stand first. */
const INDICATOR = /^[-?:,[\]{}#&*!|>'"%@`]/;

/** Printable on one line: no control character, no invisible mark, no half surrogate pair. */
const ONE_LINE = /^[^\p{Cc}\p{Cs}\u2028\u2029\ufeff]*$/u;
const MANY_LINES = /^(?:[^\p{Cc}\p{Cs}\u2028\u2029\ufeff]|\n|\t)*$/u;

/** A text as a scalar on the line of its key. A text of several lines becomes a block below, indented by `indent` spaces. */
export function writeScalar(text: string, indent: number): string {
  if (text.includes('\n')) return isBlockText(text) ? writeBlock(text, indent) : writeQuoted(text);
  return writeInline(text);
}

/** A text as a scalar that may also be a key or stand between commas. */
export function writeInline(text: string): string {
  if (!ONE_LINE.test(text)) return writeQuoted(text);
  if (isPlain(text)) return text;
  return text.includes("'") && !/["\\]/.test(text) ? `"${text}"` : `'${text.replaceAll("'", "''")}'`;
}

function isPlain(text: string): boolean {
  if (text === '' || text !== text.trim() || NOT_A_TEXT.test(text)) return false;
  return !INDICATOR.test(text) && !/: |:$| #|^---|^\.\.\./.test(text);
}

/** A literal block keeps lines as they are, but not white space at the ends of the text. */
function isBlockText(text: string): boolean {
  const hasOddStart = /^[\s]/.test(text);
  return !hasOddStart && MANY_LINES.test(text) && !/[ \t](?:\n|$)/.test(text) && text.trim() !== '';
}

function writeBlock(text: string, indent: number): string {
  const body = trimEndOf(text, '\n');
  const newlines = text.length - body.length;
  const header = newlines === 0 ? '|-' : newlines === 1 ? '|' : '|+';
  const margin = ' '.repeat(indent);
  const lines = body.split('\n').map((line) => (line === '' ? '' : margin + line));
  return [header, ...lines, ...Array.from({ length: Math.max(newlines - 1, 0) }, () => '')].join('\n');
}

/** Double quotes with escapes, which hold every text; JSON's form with the rest that YAML does not print. */
function writeQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u2028\u2029\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
