/** From an offset in the value of a YAML scalar to the offset in the file, for every way to write a scalar. */
import { Scalar } from 'yaml';

type ScalarNode = Scalar.Parsed;

/**
 * The offset in `text` of the character at `offset` of the scalar's value. With `end`, `offset` is exclusive: the
 * answer is just after the character before it.
 *
 * Every character of the value that is not white space stands in the file in the same order, alone or as an escape;
 * white space comes and goes with folding and indentation. So both are walked together and white space gives way.
 */
export function scalarOffset(text: string, scalar: ScalarNode, offset: number, end = false): number {
  const value = String(scalar.source);
  const [start, stop] = scalar.range;
  let at = contentStart(text, scalar, start);
  const last = end ? Math.max(offset - 1, 0) : offset;
  for (let i = 0; i < value.length && at < stop; i++) {
    const token = nextToken(text, scalar, at, value.charCodeAt(i));
    if (i >= last || i + token.units > last) return end ? token.to : token.from;
    at = token.to;
    i += token.units - 1;
  }
  return Math.min(at, stop);
}

interface Token {
  readonly from: number;
  readonly to: number;
  /** UTF-16 units of the value that the token stands for. */
  readonly units: number;
}

function contentStart(text: string, scalar: ScalarNode, start: number): number {
  if (scalar.type === Scalar.QUOTE_DOUBLE || scalar.type === Scalar.QUOTE_SINGLE) return start + 1;
  if (scalar.type !== Scalar.BLOCK_LITERAL && scalar.type !== Scalar.BLOCK_FOLDED) return start;
  const lineEnd = text.indexOf('\n', start);
  return lineEnd === -1 ? text.length : lineEnd + 1;
}

/** The token in the file that gives the next character of the value. */
function nextToken(text: string, scalar: ScalarNode, at: number, wanted: number): Token {
  if (isSpace(wanted)) return spaceToken(text, scalar, at);
  const from = visibleFrom(text, scalar, at);
  if (scalar.type === Scalar.QUOTE_DOUBLE && text[from] === '\\') return escapeToken(text, from);
  const isQuotePair = scalar.type === Scalar.QUOTE_SINGLE && text[from] === "'";
  return { from, to: from + (isQuotePair ? 2 : 1), units: 1 };
}

/** Skips white space, be it written as an escape. */
function visibleFrom(text: string, scalar: ScalarNode, at: number): number {
  let from = at;
  for (;;) {
    const sequence =
      scalar.type === Scalar.QUOTE_DOUBLE && text[from] === '\\'
        ? SPACE_ESCAPE.exec(text.slice(from, from + 10))
        : null;
    if (sequence) from += sequence[0].length;
    else if (isSpace(text.charCodeAt(from)) || isLineJoin(text, scalar, from)) from += 1;
    else return from;
  }
}

const SPACE_ESCAPE = /^\\(?:[tnr \t]|x(?:20|09|0a|0d)|u00(?:20|09|0a|0d)|U000000(?:20|09|0a|0d))/i;

/** White space of the value is one character of the file, an escape, or nothing (the fold of a line break). */
function spaceToken(text: string, scalar: ScalarNode, at: number): Token {
  if (scalar.type === Scalar.QUOTE_DOUBLE && text[at] === '\\' && !isLineJoin(text, scalar, at)) {
    return escapeToken(text, at);
  }
  return { from: at, to: isSpace(text.charCodeAt(at)) ? at + 1 : at, units: 1 };
}

/** A backslash at the end of a line in double quotes: it joins the lines and stands for nothing. */
const isLineJoin = (text: string, scalar: ScalarNode, at: number) =>
  scalar.type === Scalar.QUOTE_DOUBLE && text[at] === '\\' && /[\r\n]/.test(text[at + 1] ?? '');

const ESCAPE_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function escapeToken(text: string, from: number): Token {
  const digits = ESCAPE_DIGITS[text[from + 1] ?? ''] ?? 0;
  const to = from + 2 + digits;
  const code = digits === 8 ? Number.parseInt(text.slice(from + 2, to), 16) : 0;
  return { from, to, units: code > 0xffff ? 2 : 1 };
}

const isSpace = (code: number) => code === 32 || code === 9 || code === 10 || code === 13;
