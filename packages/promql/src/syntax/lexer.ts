/** Cuts a query into tokens, one at a time, on demand of the parser. */
import { clip, problemAt, SyntaxStop } from './problem.ts';

export type TokenKind =
  | 'eof'
  | 'number'
  | 'duration'
  | 'string'
  | 'word'
  | '('
  | ')'
  | '{'
  | '}'
  | '['
  | ']'
  | ','
  | ':'
  | '@'
  | '='
  | '=~'
  | '!~'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '^';

/** Words with a meaning of their own, in lower case; the language ignores their case. */
const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'and or unless atan2 sum avg count min max group stddev stdvar topk bottomk count_values quantile limitk ' +
    'limit_ratio offset by without on ignoring group_left group_right bool start end inf nan default if ifnot ' +
    'keep_metric_names with limit'
  ).split(' '),
);
const LONGEST_KEYWORD = 17;

const SINGLE: Readonly<Record<string, TokenKind>> = {
  '(': '(',
  ')': ')',
  '{': '{',
  '}': '}',
  '[': '[',
  ']': ']',
  ',': ',',
  '@': '@',
  '+': '+',
  '-': '-',
  '*': '*',
  '/': '/',
  '%': '%',
  '^': '^',
};

const DURATION_TAIL = /[smhdwy]s?(?:[0-9]+[smhdw]s?)*(?![a-zA-Z0-9_])/y;
// Written without two digit runs side by side, which would backtrack over a long number again and again.
const DECIMAL = '(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)';
const WORD_END = '(?![a-zA-Z0-9_])';
const METRICSQL_NUMBER = new RegExp(
  `(?:0[xX][0-9a-fA-F]+|${DECIMAL}(?:[eE][+-]?[0-9]+)?)(?:[kgtKGT]i?[bB]?|[mM](?:[iI][bB]?|[bB])|M)${WORD_END}`,
  'y',
);
const METRICSQL_DURATION = new RegExp(`(?:${DECIMAL}(?:ms|MS|[smhdwyiSMHDWYI]))+${WORD_END}`, 'y');

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isAlpha(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95;
}

function isAlphaNumeric(code: number): boolean {
  return isAlpha(code) || isDigit(code);
}

function isHexDigit(code: number): boolean {
  return isDigit(code) || (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
}

/** A reader over the query. The fields describe the current token; `advance` moves to the next. */
export class Lexer {
  readonly query: string;
  /** True when MetricsQL number suffixes and duration forms are to be read as one token. */
  readonly metricsql: boolean;
  kind: TokenKind = 'eof';
  from = 0;
  to = 0;
  /** Where the token before the current one ended. */
  lastTo = 0;
  /** For a word that is a keyword: its lower-case form; else empty. */
  keyword = '';
  /** True between `[` and `]`, where `:` is a token of its own. */
  inBrackets = false;

  constructor(query: string, metricsql: boolean) {
    this.query = query;
    this.metricsql = metricsql;
  }

  /** The text of the current token. */
  get text(): string {
    return this.query.slice(this.from, this.to);
  }

  /** Leaves the parser with a syntax error. */
  fail(from: number, to: number, message: string, fix?: string): never {
    throw new SyntaxStop(problemAt(from, to, message, fix));
  }

  advance(): void {
    this.lastTo = this.to;
    this.keyword = '';
    const at = this.skipBlank(this.to);
    this.from = at;
    if (at >= this.query.length) {
      this.kind = this.emit('eof', at);
      return;
    }
    const code = this.query.charCodeAt(at);
    if (isAlpha(code) || (code === 58 && !this.inBrackets)) this.kind = this.word(at);
    else if (isDigit(code) || (code === 46 && isDigit(this.query.charCodeAt(at + 1)))) this.kind = this.number(at);
    else this.kind = this.symbol(at);
  }

  /** Skips white space and comments, which run from # to the end of the line. */
  private skipBlank(start: number): number {
    const { query } = this;
    let at = start;
    for (;;) {
      const code = query.charCodeAt(at);
      if (code === 32 || code === 9 || code === 10 || code === 13) at++;
      else if (code === 35) {
        while (at < query.length && query.charCodeAt(at) !== 10 && query.charCodeAt(at) !== 13) at++;
      } else return at;
    }
  }

  private word(start: number): TokenKind {
    const { query } = this;
    let at = start;
    for (;;) {
      const code = query.charCodeAt(at);
      if (!isAlphaNumeric(code) && (code !== 58 || this.inBrackets)) break;
      at++;
    }
    this.to = at;
    if (at - start > LONGEST_KEYWORD) return 'word';
    const lower = query.slice(start, at).toLowerCase();
    if (!KEYWORDS.has(lower)) return 'word';
    this.keyword = lower;
    return lower === 'inf' || lower === 'nan' ? 'number' : 'word';
  }

  private symbol(start: number): TokenKind {
    const char = this.query[start]!;
    const next = this.query[start + 1];
    const single = SINGLE[char];
    if (single !== undefined) return this.emit(single, start + 1);
    if (char === '"' || char === "'" || char === '`') return this.string(start, char);
    if (char === ':') return this.emit(':', start + 1);
    if (char === '=') {
      if (next === '=' || next === '~') return this.emit(`=${next}`, start + 2);
      return this.emit('=', start + 1);
    }
    if (char === '!') {
      if (next === '=' || next === '~') return this.emit(`!${next}`, start + 2);
      this.fail(start, start + 1, 'A "!" stands alone.', 'Write != or !~.');
    }
    if (char === '<' || char === '>') {
      if (next === '=') return this.emit(`${char}=`, start + 2);
      return this.emit(char, start + 1);
    }
    return this.strayCharacter(start);
  }

  /** Sets where the token ends and gives back its kind. */
  private emit(kind: TokenKind, to: number): TokenKind {
    this.to = to;
    return kind;
  }

  /** Finds the end of a quoted string. What stands inside is read later, by `unescapeString`. */
  private string(start: number, quote: string): TokenKind {
    const { query } = this;
    const raw = quote === '`';
    let at = start + 1;
    for (; ; at++) {
      if (at >= query.length) break;
      const char = query[at];
      if (char === quote) return this.emit('string', at + 1);
      if (raw) continue;
      if (char === '\n') break;
      if (char === '\\') at++;
    }
    this.fail(start, Math.min(at, query.length), `The string has no closing ${quote}.`, `Put a ${quote} at its end.`);
  }

  private number(start: number): TokenKind {
    const extended = this.metricsql ? this.metricsqlNumber(start) : undefined;
    if (extended !== undefined) return extended;
    const end = this.scanNumber(start);
    if (end >= 0 && !isAlphaNumeric(this.query.charCodeAt(end))) return this.emit('number', end);
    const digits = end >= 0 ? end : ~end;
    DURATION_TAIL.lastIndex = digits;
    if (DURATION_TAIL.test(this.query)) return this.emit('duration', DURATION_TAIL.lastIndex);
    let stop = digits;
    while (isAlphaNumeric(this.query.charCodeAt(stop))) stop++;
    this.fail(
      start,
      Math.max(stop, start + 1),
      `"${clip(this.query.slice(start, stop))}" is neither a number nor a duration.`,
    );
  }

  private metricsqlNumber(start: number): TokenKind | undefined {
    METRICSQL_NUMBER.lastIndex = start;
    if (METRICSQL_NUMBER.test(this.query)) return this.emit('number', METRICSQL_NUMBER.lastIndex);
    METRICSQL_DURATION.lastIndex = start;
    if (METRICSQL_DURATION.test(this.query)) return this.emit('duration', METRICSQL_DURATION.lastIndex);
    return undefined;
  }

  /**
   * The end of the number that starts here, or the complement (~) of where it went wrong. Prometheus' own scanner
   * decides what is one token: at most one dot and one exponent, `_` only between digits, an `e` in a hexadecimal
   * number counts as the exponent unless it comes first.
   */
  private scanNumber(start: number): number {
    const { query } = this;
    let at = start;
    const hex = query[at] === '0' && (query[at + 1] === 'x' || query[at + 1] === 'X');
    if (hex) {
      at += 2;
      if (query[at] === '_') at++;
    }
    const isHere = hex ? isHexDigit : isDigit;
    let dots = 0;
    let exponents = 0;
    if (query[at] === '.') at++;
    if (isHere(query.charCodeAt(at))) at++;
    for (;;) {
      const char = query[at];
      if (char === '.') {
        if (++dots > 1 || hex || query[at + 1] === '.' || query[at + 1] === '_') return ~at;
        at++;
      } else if (char === 'e' || char === 'E') {
        if (++exponents > 1) return ~at;
        at++;
        if (query[at] === '+' || query[at] === '-') at++;
        if (at >= query.length || '._eE'.includes(query[at]!)) return ~at;
      } else if (char === '_') {
        at++;
        if (at >= query.length || '._eE'.includes(query[at]!)) return ~at;
      } else if (isHere(query.charCodeAt(at))) {
        while (isHere(query.charCodeAt(at))) at++;
      } else return at;
    }
  }

  private strayCharacter(at: number): never {
    const char = String.fromCodePoint(this.query.codePointAt(at)!);
    const shown = /^[\x20-\x7e]$|^[\p{L}\p{S}\p{P}]$/u.test(char)
      ? `"${char}"`
      : `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
    if (char === '$') {
      this.fail(
        at,
        at + 1,
        'A variable can stand only inside a quoted label value.',
        'Write a duration or number in its place, such as 5m for $__rate_interval.',
      );
    }
    const fix = /\p{L}/u.test(char) ? 'Quote a name with such characters: {"name"}.' : undefined;
    this.fail(at, at + char.length, `The character ${shown} cannot stand here.`, fix);
  }
}
