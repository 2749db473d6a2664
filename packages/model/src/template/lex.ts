/** Cuts a template into texts and actions, and an action into tokens. */
import { TemplateProblem } from './value.ts';

export type Token =
  | { readonly kind: 'space' }
  | { readonly kind: 'identifier'; readonly name: string }
  | { readonly kind: 'field'; readonly name: string }
  /** Without the dollar sign; empty for `$` itself. */
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'string'; readonly content: string }
  | { readonly kind: 'int'; readonly integer: bigint }
  | { readonly kind: 'float'; readonly number: number }
  | { readonly kind: 'symbol'; readonly symbol: '.' | '|' | '(' | ')' | ',' | ':=' | '=' };

export type Piece =
  | { readonly kind: 'text'; readonly content: string }
  | { readonly kind: 'action'; readonly tokens: readonly Token[]; readonly line: number };

const OPEN = '{{';
const CLOSE = '}}';
const BLANK = /[ \t\r\n]/;

/** @throws TemplateProblem */
export function lex(source: string): Piece[] {
  return new Lexer(source).run();
}

class Lexer {
  readonly #source: string;
  readonly #pieces: Piece[] = [];
  #at = 0;
  #trimNext = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): Piece[] {
    for (;;) {
      const open = this.#source.indexOf(OPEN, this.#at);
      const content = this.#source.slice(this.#at, open === -1 ? undefined : open);
      const trimEnd = open !== -1 && this.#source[open + 2] === '-' && BLANK.test(this.#source[open + 3] ?? '');
      this.#text(content, trimEnd);
      if (open === -1) return this.#pieces;
      this.#at = open + (trimEnd ? 4 : 2);
      this.#trimNext = false;
      if (!this.#comment()) this.#action(open);
    }
  }

  #text(content: string, trimEnd: boolean): void {
    let kept = content;
    if (this.#trimNext) kept = kept.replace(/^[ \t\r\n]+/, '');
    if (trimEnd) kept = withoutBlanksAtEnd(kept);
    if (kept !== '') this.#pieces.push({ kind: 'text', content: kept });
  }

  #comment(): boolean {
    if (!this.#source.startsWith('/*', this.#at)) return false;
    const end = this.#source.indexOf('*/', this.#at + 2);
    if (end === -1) throw this.#problem('a comment does not end', this.#at);
    this.#at = end + 2;
    if (!this.#closes()) throw this.#problem('a comment must stand alone between {{ and }}', end);
    return true;
  }

  /** Passes the end of an action when it comes now. */
  #closes(): boolean {
    if (this.#source.startsWith(CLOSE, this.#at)) {
      this.#at += 2;
      return true;
    }
    if (!BLANK.test(this.#source[this.#at] ?? '') || !this.#source.startsWith(`-${CLOSE}`, this.#at + 1)) return false;
    this.#at += 4;
    this.#trimNext = true;
    return true;
  }

  #action(open: number): void {
    const tokens: Token[] = [];
    const line = lineOf(this.#source, open);
    while (!this.#closes()) {
      if (this.#at >= this.#source.length) throw this.#problem('an action is opened with {{ and not closed', open);
      tokens.push(this.#token());
    }
    this.#pieces.push({ kind: 'action', tokens, line });
  }

  #token(): Token {
    const char = this.#source[this.#at]!;
    if (BLANK.test(char)) {
      // Not over the blank that a closing `-}}` needs before it.
      do this.#at += 1;
      while (BLANK.test(this.#source[this.#at] ?? '') && !this.#source.startsWith(`-${CLOSE}`, this.#at + 1));
      return { kind: 'space' };
    }
    if (this.#source.startsWith(':=', this.#at)) return this.#symbol(':=');
    if (char === '|' || char === '(' || char === ')' || char === ',' || char === '=') return this.#symbol(char);
    if (char === '"' || char === '`') return { kind: 'string', content: this.#string(char) };
    if (char === "'") return { kind: 'int', integer: this.#character() };
    return this.#name() ?? this.#number() ?? this.#stranger();
  }

  #symbol(symbol: Extract<Token, { kind: 'symbol' }>['symbol']): Token {
    this.#at += symbol.length;
    return { kind: 'symbol', symbol };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match) this.#at += match[0].length;
    return match;
  }

  #name(): Token | undefined {
    const match = this.#match(/([.$]?)([\p{L}_][\p{L}\p{Nd}_]*)|\$|\.(?!\d)/uy);
    if (!match) return undefined;
    this.#requireEnd(match[0]);
    const [whole, sign, name] = match;
    if (whole === '$') return { kind: 'variable', name: '' };
    if (whole === '.') return { kind: 'symbol', symbol: '.' };
    if (sign === '$') return { kind: 'variable', name: name! };
    return sign === '.' ? { kind: 'field', name: name! } : { kind: 'identifier', name: name! };
  }

  #number(): Token | undefined {
    const match = this.#match(NUMBER);
    if (!match) return undefined;
    this.#requireEnd(match[0]);
    return readNumber(match[0]) ?? this.#refuse(`${match[0]} is no number`);
  }

  /** What may follow a word or a number. */
  #requireEnd(word: string): void {
    const next = this.#source[this.#at] ?? '';
    if (next === '' || BLANK.test(next) || '.,|:)(='.includes(next) || this.#source.startsWith(CLOSE, this.#at)) return;
    if (word === '.' || word === '$') return;
    throw this.#problem(`unexpected ${JSON.stringify(next)} after ${word}`, this.#at);
  }

  #string(quote: '"' | '`'): string {
    const from = this.#at;
    const pattern = quote === '"' ? /"(?:[^"\\\n]|\\[^\n])*"/y : /`[^`]*`/y;
    const match = this.#match(pattern);
    if (!match) throw this.#problem('a quoted text does not end', from);
    const inside = match[0].slice(1, -1);
    return quote === '`' ? inside.replaceAll('\r', '') : this.#unescaped(inside, from);
  }

  #unescaped(inside: string, from: number): string {
    const bytes: (string | number)[] = [];
    for (const [part, code] of inside.matchAll(ESCAPE_OR_CHARS)) {
      bytes.push(code === undefined ? part : (escapeOf(code) ?? this.#refuse(`\\${code} is no escape`, from)));
    }
    return joinBytes(bytes);
  }

  #character(): bigint {
    const from = this.#at;
    const match = this.#match(/'((?:[^'\\\n]|\\[^\n])(?:[^'\n])*)'/y);
    if (!match) throw this.#problem('a character in quotes does not end', from);
    const chars = match[1] === "\\'" ? ["'"] : [...this.#unescaped(match[1]!, from)];
    if (chars.length !== 1) throw this.#problem(`'${match[1]}' is not one character`, from);
    return BigInt(chars[0]!.codePointAt(0)!);
  }

  #stranger(): never {
    const char = String.fromCodePoint(this.#source.codePointAt(this.#at)!);
    throw this.#problem(`unexpected ${JSON.stringify(char)}`, this.#at);
  }

  #refuse(message: string, at = this.#at): never {
    throw this.#problem(message, at);
  }

  #problem(message: string, at: number): TemplateProblem {
    return new TemplateProblem(`Line ${lineOf(this.#source, at)}: ${message}.`);
  }
}

/** One regular expression over all blanks of a long text would try every run of them. */
function withoutBlanksAtEnd(content: string): string {
  let end = content.length;
  while (end > 0 && BLANK.test(content[end - 1]!)) end -= 1;
  return content.slice(0, end);
}

function lineOf(source: string, at: number): number {
  let line = 1;
  for (let found = source.indexOf('\n'); found !== -1 && found < at; found = source.indexOf('\n', found + 1)) line += 1;
  return line;
}

const NUMBER =
  /[+-]?(?:0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)/y;

const INT_RANGE = 2n ** 63n;

function readNumber(word: string): Token | undefined {
  const plain = word.replaceAll('_', '');
  const negative = plain.startsWith('-');
  const size = plain.replace(/^[+-]/, '');
  if (/^(?:0[xXbBoO][\da-fA-F]+|\d+)$/.test(size)) {
    // A leading zero means base eight.
    const octal = /^0\d+$/.test(size);
    if (octal && /[89]/.test(size)) return undefined;
    const integer = BigInt(octal ? `0o${size.slice(1)}` : size) * (negative ? -1n : 1n);
    return integer >= -INT_RANGE && integer < INT_RANGE ? { kind: 'int', integer } : undefined;
  }
  const number = Number(plain);
  return Number.isFinite(number) ? { kind: 'float', number } : undefined;
}

const ESCAPE_OR_CHARS = /\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{3}|[\s\S])|[^\\]+/g;

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/** A text, or a byte. */
function escapeOf(code: string): string | number | undefined {
  const simple = SIMPLE[code];
  if (simple !== undefined) return simple;
  if (code.length === 3 && code.startsWith('x')) return Number.parseInt(code.slice(1), 16);
  if (/^[0-3][0-7]{2}$/.test(code)) return Number.parseInt(code, 8);
  if (code.length < 5) return undefined;
  const point = Number.parseInt(code.slice(1), 16);
  return point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? undefined : String.fromCodePoint(point);
}

function joinBytes(parts: readonly (string | number)[]): string {
  if (parts.every((part) => typeof part === 'string')) return parts.join('');
  const encoder = new TextEncoder();
  const bytes = parts.flatMap((part) => (typeof part === 'number' ? [part] : [...encoder.encode(part)]));
  return new TextDecoder().decode(new Uint8Array(bytes));
}
