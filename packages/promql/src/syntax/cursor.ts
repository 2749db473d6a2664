/** What the parts of the parser share: the lexer, the problems found so far, the depth, the type of the last expression. */
import type { Expr, ValueType } from './ast.ts';
import { MAX_NESTING } from './ast.ts';
import { Lexer, type TokenKind } from './lexer.ts';
import { unescapeString } from './literals.ts';
import { clip, problemAt, type QueryProblem } from './problem.ts';

export class Cursor extends Lexer {
  /** Mistakes that do not keep the parser from going on. */
  readonly problems: QueryProblem[] = [];
  /** What only VictoriaMetrics takes; filled by the metricsql dialect. */
  readonly notices: QueryProblem[] = [];
  /** Type of the expression parsed last, so that it need not be worked out again at every operator. */
  type: ValueType = 'vector';
  /** Names that a WITH template defines, in the metricsql dialect. */
  templates: ReadonlySet<string> = new Set();
  private depth = 0;
  private leftNested = 0;
  private readonly parseExpression: (cursor: Cursor, power: number) => Expr;

  constructor(query: string, metricsql: boolean, parseExpression: (cursor: Cursor, power: number) => Expr) {
    super(query, metricsql);
    this.parseExpression = parseExpression;
  }

  /** Parses an expression whose operators bind at least as strongly as `power`. */
  expression(power: number): Expr {
    if (++this.depth > MAX_NESTING) this.tooDeep();
    const expr = this.parseExpression(this, power);
    this.depth--;
    return expr;
  }

  /**
   * Counts an opaque node around the expression to its left. Such nodes nest without `expression` being called, so
   * their number in the whole query is limited instead of their depth.
   */
  nestLeft(): void {
    if (++this.leftNested > MAX_NESTING) this.tooDeep();
  }

  private tooDeep(): never {
    const message = `The query nests deeper than ${MAX_NESTING} levels.`;
    this.fail(this.from, this.to, message, 'Split it, for example with a recording rule.');
  }

  /** True when the current token is of this kind. */
  at(kind: TokenKind): boolean {
    return this.kind === kind;
  }

  /** True when the current token is this keyword, written as a word. */
  atKeyword(keyword: string): boolean {
    return this.keyword === keyword && this.kind === 'word';
  }

  /** Takes the current token if it is of this kind. */
  eat(kind: TokenKind): boolean {
    if (this.kind !== kind) return false;
    this.advance();
    return true;
  }

  /** Takes the current word if it is this keyword. */
  eatKeyword(keyword: string): boolean {
    if (!this.atKeyword(keyword)) return false;
    this.advance();
    return true;
  }

  /** Takes a closing token, or says what was not closed. */
  close(kind: ')' | ']' | '}', openAt: number, allowed: string): void {
    if (this.kind === kind) {
      this.advance();
      return;
    }
    const open = { ')': '(', ']': '[', '}': '{' }[kind];
    if (this.at('eof')) this.fail(openAt, openAt + 1, `The "${open}" is not closed.`, `Add a "${kind}".`);
    this.unexpected(`Expected ${allowed}`);
  }

  /** Stops at the current token, which does not fit. */
  unexpected(expected: string, fix?: string): never {
    this.fail(this.from, Math.max(this.to, this.from), `${expected}, found ${this.shown()}.`, fix);
  }

  /** The current token in words. */
  shown(): string {
    if (this.at('eof')) return 'the end of the query';
    return `"${clip(this.text).replaceAll('"', "'")}"`;
  }

  problem(from: number, to: number, message: string, fix?: string): void {
    this.problems.push(problemAt(from, to, message, fix));
  }

  notice(from: number, to: number, message: string): void {
    this.notices.push(problemAt(from, to, `${message} Only VictoriaMetrics takes this.`));
  }

  /** Reads the current string token and goes on. */
  takeString(): string {
    const quote = this.query[this.from]!;
    const body = this.query.slice(this.from + 1, this.to - 1);
    if (!body.isWellFormed() || body.includes('\ufffd')) {
      this.fail(this.from, this.to, 'The string holds a character that is no valid Unicode.', 'Write it as \\ufffd.');
    }
    let value = body;
    if (quote !== '`') {
      const result = unescapeString(body, quote);
      if ('message' in result) {
        const at = this.from + 1 + result.at;
        this.fail(at, Math.min(at + 2, this.to), result.message, 'Write \\\\ for a backslash.');
      }
      value = result.value;
    }
    this.advance();
    return value;
  }

  /** The labels in parentheses after by, without, on, ignoring, group_left and group_right. */
  labelList(after: string): string[] {
    if (!this.at('(')) this.unexpected(`Expected "(" after ${after}`);
    const openAt = this.from;
    this.advance();
    const labels: string[] = [];
    while (!this.at(')')) {
      labels.push(this.labelName(after));
      if (!this.eat(',')) break;
    }
    this.close(')', openAt, '"," or ")"');
    return labels;
  }

  private labelName(after: string): string {
    const { from, to } = this;
    if (this.at('string')) {
      const name = this.takeString();
      if (name === '') this.fail(from, to, 'A label name cannot be empty.');
      return name;
    }
    if (!this.at('word') || this.keyword === 'without') {
      this.unexpected(`Expected a label name in ${after} (…)`, this.at('eof') ? undefined : 'Quote the name.');
    }
    const name = this.text;
    this.advance();
    return name;
  }
}
