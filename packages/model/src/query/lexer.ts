/** Cuts a log query into tokens. */
import type { QueryProblem, Span } from './ast.ts';

export type TokenKind = '(' | ')' | '[' | ']' | ',' | '|' | ':' | '-' | '~' | 'comparison' | 'word' | 'quoted' | 'end';

export interface Token extends Span {
  readonly kind: TokenKind;
  /** A word's text with escapes resolved, a quoted text's content, or the sign itself. */
  readonly text: string;
  /** Of a word with stars: the texts between them. */
  readonly parts?: readonly string[];
  /** White space or the query's start stands before it. */
  readonly spaced: boolean;
  /** A word with a backslash in it is never a keyword. */
  readonly escaped: boolean;
}

/** Characters that end a word. `:` ends one only where a field name may stand, which `readWord` is told. */
const STOPS = new Set(['(', ')', '[', ']', ',', '|', '"', ' ', '\t', '\n', '\r']);
const SIGNS = new Set<string>(['(', ')', '[', ']', ',', '|']);
const FIELD_NAME = /^[A-Za-z_@$][\w.@$/-]*$/;

class Lexer {
  readonly tokens: Token[] = [];
  readonly problems: QueryProblem[] = [];
  private readonly text: string;
  private at = 0;
  private spaced = true;
  /** Between the brackets of a range a minus is a sign, not a negation. */
  private inRange = false;

  constructor(text: string) {
    this.text = text;
  }

  run(): void {
    while (this.problems.length === 0 && this.skipSpace()) this.readToken();
    this.push('end', '', this.text.length);
  }

  private skipSpace(): boolean {
    const before = this.at;
    while (this.at < this.text.length && /\s/.test(this.text[this.at] as string)) this.at += 1;
    this.spaced = this.at > before || this.at === 0;
    return this.at < this.text.length;
  }

  private push(kind: TokenKind, text: string, from: number, parts?: readonly string[]): void {
    const escaped = kind === 'word' && this.text.slice(from, this.at).includes('\\');
    this.tokens.push({ kind, text, from, to: this.at, spaced: this.spaced, escaped, ...(parts && { parts }) });
    this.spaced = false;
  }

  private readToken(): void {
    const from = this.at;
    const sign = this.text[this.at] as string;
    const afterColon = this.tokens.at(-1)?.kind === ':' && !this.spaced;
    if (SIGNS.has(sign)) {
      this.at += 1;
      this.inRange = sign === '[' || (this.inRange && sign !== ']');
      this.push(sign as TokenKind, sign, from);
    } else if (sign === '"') {
      this.readQuoted(from);
    } else if (sign === ':') {
      this.at += 1;
      this.push(':', sign, from);
    } else if (sign === '-' && !afterColon && this.startsPrimary()) {
      this.at += 1;
      this.push('-', sign, from);
    } else if (sign === '~' && /["\w(]/.test(this.text[this.at + 1] ?? '')) {
      this.at += 1;
      this.push('~', sign, from);
    } else if ((sign === '>' || sign === '<') && (afterColon || this.tokens.at(-1)?.kind !== 'comparison')) {
      this.at += this.text[this.at + 1] === '=' ? 2 : 1;
      this.push('comparison', this.text.slice(from, this.at), from);
    } else {
      this.readWord(from, afterColon);
    }
  }

  /** A minus negates when it begins a term and something follows it at once. */
  private startsPrimary(): boolean {
    const previous = this.tokens.at(-1)?.kind;
    const opens = previous === undefined || previous === '(' || this.spaced;
    return opens && !this.inRange && previous !== 'comparison' && !/^[\s)]?$/.test(this.text[this.at + 1] ?? '');
  }

  private readQuoted(from: number): void {
    let content = '';
    this.at += 1;
    while (this.at < this.text.length && this.text[this.at] !== '"') {
      content += this.readCharacter(true);
    }
    if (this.at >= this.text.length) {
      this.problems.push({
        message: 'This quote is never closed.',
        from,
        to: this.text.length,
        fix: `${this.text.slice(from)}"`,
      });
      return;
    }
    this.at += 1;
    this.push('quoted', content, from);
  }

  private readCharacter(quoted: boolean): string {
    const sign = this.text[this.at] as string;
    this.at += 1;
    if (sign !== '\\' || this.at >= this.text.length) return sign;
    const escaped = this.text[this.at] as string;
    this.at += 1;
    if (!quoted) return escaped;
    if (escaped === 'n') return '\n';
    if (escaped === 't') return '\t';
    if (escaped === 'r') return '\r';
    return escaped === '"' || escaped === '\\' ? escaped : `\\${escaped}`;
  }

  private readWord(from: number, isValue: boolean): void {
    const parts: string[] = [];
    let part = '';
    while (this.at < this.text.length && !STOPS.has(this.text[this.at] as string)) {
      const sign = this.text[this.at] as string;
      if (sign === ':' && !isValue && FIELD_NAME.test(this.text.slice(from, this.at))) break;
      if (sign === '*') {
        parts.push(part);
        part = '';
        this.at += 1;
      } else {
        part += this.readCharacter(false);
      }
    }
    parts.push(part);
    this.push('word', parts.join('*'), from, parts.length > 1 ? parts : undefined);
  }
}

/** Tokens of `text`, the last of kind `end`; a problem stops the reading. */
export function tokenize(text: string): {
  readonly tokens: readonly Token[];
  readonly problems: readonly QueryProblem[];
} {
  const lexer = new Lexer(text);
  lexer.run();
  return lexer;
}
