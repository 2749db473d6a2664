/** Scalars on one line, read as the full YAML parser reads them, or not at all. */
import { Scalar } from 'yaml';
import { trimEndOf } from '../trim-end.ts';

/** `to` is the offset after the scalar. */
export interface LineScalar {
  readonly value: unknown;
  readonly source: string;
  readonly type: Scalar.Type;
  readonly to: number;
}

const PLAIN_LINE = /[^\n]*/y;

/** A text that starts like this is an alias, a list or something else that is no plain scalar, or a rare one. */
const NOT_PLAIN = /^[?:,[\]{}#&*!|>'"%@`~]|^-(?![0-9])/;

/** Words and numbers that are no texts. Those of unusual form are left to the full parser. */
const WORD = /^(?:null|true|false)$/i;
const NUMBER = /^-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?$/;
const LIKE_A_NUMBER = /^[-+]?\.?[0-9][\w.+-]*$|^[-+]?\.(?:inf|nan)$/i;

/** The plain scalar from `start` to the end of its line or to a comment. */
export function plainScalar(text: string, start: number): LineScalar | undefined {
  PLAIN_LINE.lastIndex = start;
  const line = PLAIN_LINE.exec(text)?.[0] ?? '';
  const comment = line.indexOf(' #');
  const source = trimEndOf(comment === -1 ? line : line.slice(0, comment), ' ');
  if (source === '' || NOT_PLAIN.test(source) || source.includes(': ') || source.endsWith(':')) return undefined;
  const value = plainValue(source);
  return value === undefined ? undefined : { value, source, type: Scalar.PLAIN, to: start + source.length };
}

function plainValue(source: string): string | number | boolean | undefined {
  if (NUMBER.test(source)) return Number(source);
  if (source === 'true' || source === 'false') return source === 'true';
  return WORD.test(source) || LIKE_A_NUMBER.test(source) ? undefined : source;
}

const DOUBLE = /"(?:[^"\\\n]|\\["\\/nt]|\\u[0-9a-fA-F]{4})*"/y;
const SINGLE = /'(?:[^'\n]|'')*'/y;

/** The scalar in quotes at `start`, if it ends on its line and has no rare escape. */
export function quotedScalar(text: string, start: number): LineScalar | undefined {
  const isDouble = text[start] === '"';
  const pattern = isDouble ? DOUBLE : SINGLE;
  pattern.lastIndex = start;
  const written = pattern.exec(text)?.[0];
  if (written === undefined) return undefined;
  const value = isDouble ? doubleValue(written) : written.slice(1, -1).replaceAll("''", "'");
  const type = isDouble ? Scalar.QUOTE_DOUBLE : Scalar.QUOTE_SINGLE;
  return value === undefined ? undefined : { value, source: value, type, to: start + written.length };
}

/** Without the rare escapes, the text is JSON, control characters apart. */
function doubleValue(written: string): string | undefined {
  if (!written.includes('\\')) return written.slice(1, -1);
  return /\p{Cc}/u.test(written) ? undefined : (JSON.parse(written) as string);
}
