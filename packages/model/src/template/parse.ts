/** Reads a template: the subset of Go's text/template that speaks of one alert. */
import type { Branch, Command, Node, Operand, Pipeline } from './ast.ts';
import { lex, type Piece, type Token } from './lex.ts';
import { bool, float, int, NIL, TemplateProblem, text } from './value.ts';

/** Blocks in blocks, and parentheses in parentheses. */
const DEEPEST = 50;

/** What an action begins with when it is no pipeline. */
const KEYWORDS: ReadonlySet<string> = new Set(['if', 'else', 'end', 'range', 'with', 'break', 'continue']);
const ABSENT: ReadonlySet<string> = new Set(['define', 'template', 'block']);

export interface Scope {
  /** Variables that are there from the beginning, without their dollar signs. */
  readonly variables: readonly string[];
  readonly isFunction: (name: string) => boolean;
}

/** @throws TemplateProblem */
export function parseTemplate(source: string, scope: Scope): readonly Node[] {
  return new Parser(lex(source), scope).run();
}

type End = { readonly word: 'end' | 'else' | 'nothing'; readonly tokens: readonly Token[]; readonly line: number };

class Parser {
  readonly #pieces: readonly Piece[];
  readonly #scope: Scope;
  #at = 0;
  #depth = 0;
  #ranges = 0;
  /** In order of declaration; a block forgets its own at its end. */
  #variables: string[];

  constructor(pieces: readonly Piece[], scope: Scope) {
    this.#pieces = pieces;
    this.#scope = scope;
    this.#variables = ['', ...scope.variables];
  }

  run(): readonly Node[] {
    const { nodes, end } = this.#list();
    if (end.word !== 'nothing') throw problem(end.line, `{{${end.word}}} without an open block`);
    return nodes;
  }

  #list(): { nodes: readonly Node[]; end: End } {
    const nodes: Node[] = [];
    for (;;) {
      const piece = this.#pieces[this.#at++];
      if (piece === undefined) return { nodes, end: { word: 'nothing', tokens: [], line: 0 } };
      if (piece.kind === 'text') {
        nodes.push(piece);
        continue;
      }
      const { line } = piece;
      const { word, rest } = keywordOf(piece.tokens, line);
      if (word === 'end' || word === 'else') {
        if (word === 'end') requireNothing(rest, line, 'end');
        return { nodes, end: { word, tokens: rest, line } };
      }
      nodes.push(this.#action(word, rest, line));
    }
  }

  #action(word: string | undefined, tokens: readonly Token[], line: number): Node {
    switch (word) {
      case 'if':
      case 'with':
        return this.#branch(word, tokens, line);
      case 'range':
        return this.#range(tokens, line);
      case 'break':
      case 'continue':
        requireNothing(tokens, line, word);
        if (this.#ranges === 0) throw problem(line, `{{${word}}} outside of {{range}}`);
        return { kind: word };
      default:
        return { kind: 'print', pipeline: this.#pipeline(tokens, line, 1), line };
    }
  }

  #branch(kind: Branch['kind'], tokens: readonly Token[], line: number): Branch {
    return this.#block(kind, line, () => {
      const pipeline = this.#pipeline(tokens, line, 1);
      const { nodes: body, end } = this.#list();
      return { kind, pipeline, body, otherwise: this.#otherwise(kind, end, line), line };
    });
  }

  #range(tokens: readonly Token[], line: number): Node {
    return this.#block('range', line, () => {
      const pipeline = this.#pipeline(tokens, line, 2);
      this.#ranges += 1;
      const { nodes: body, end } = this.#list();
      this.#ranges -= 1;
      return { kind: 'range', pipeline, body, otherwise: this.#otherwise('range', end, line), line };
    });
  }

  #block<T>(name: string, line: number, read: () => T): T {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw problem(line, `{{${name}}} is nested more than ${DEEPEST} deep`);
    const known = this.#variables.length;
    const node = read();
    this.#variables.length = known;
    this.#depth -= 1;
    return node;
  }

  /** What stands after `{{else}}`, up to the `{{end}}`. */
  #otherwise(kind: 'if' | 'with' | 'range', end: End, line: number): readonly Node[] {
    if (end.word === 'nothing') throw problem(line, `{{${kind}}} has no {{end}}`);
    if (end.word === 'end') return [];
    const { word, rest } = keywordOf(end.tokens, end.line);
    // `{{else if x}}` is a branch of its own, and shares the end.
    if ((word === 'if' || word === 'with') && word === kind) return [this.#branch(word, rest, end.line)];
    requireNothing(end.tokens, end.line, 'else');
    const list = this.#list();
    if (list.end.word === 'nothing') throw problem(line, `{{${kind}}} has no {{end}}`);
    if (list.end.word === 'else') throw problem(list.end.line, '{{else}} after {{else}}');
    return list.nodes;
  }

  #pipeline(tokens: readonly Token[], line: number, mostVariables: number): Pipeline {
    const reader = new PipelineReader(tokens, line, this.#scope, this.#variables);
    const pipeline = reader.pipeline(mostVariables);
    reader.requireEnd();
    if (!pipeline.assigns) this.#variables.push(...pipeline.variables);
    return pipeline;
  }
}

/** A pipeline in one action. */
class PipelineReader {
  readonly #tokens: readonly Token[];
  readonly #line: number;
  readonly #scope: Scope;
  readonly #variables: readonly string[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], line: number, scope: Scope, variables: readonly string[]) {
    this.#tokens = tokens;
    this.#line = line;
    this.#scope = scope;
    this.#variables = variables;
  }

  requireEnd(): void {
    this.#skipSpace();
    if (this.#at < this.#tokens.length) throw this.#problem(`unexpected ${spelled(this.#tokens[this.#at]!)}`);
  }

  pipeline(mostVariables: number): Pipeline {
    const { variables, assigns } = this.#declaration(mostVariables);
    const commands: Command[] = [];
    for (;;) {
      commands.push(this.#command(commands.length));
      if (!this.#take('|')) return { variables, assigns, commands };
    }
  }

  #declaration(most: number): Pick<Pipeline, 'variables' | 'assigns'> {
    const from = this.#at;
    const variables: string[] = [];
    while (most > 0) {
      this.#skipSpace();
      const token = this.#tokens[this.#at];
      if (token?.kind !== 'variable' || token.name === '') break;
      variables.push(token.name);
      this.#at += 1;
      if (this.#take(':=')) return { variables, assigns: false };
      if (this.#take('=')) {
        for (const name of variables) this.#requireVariable(name);
        return { variables, assigns: true };
      }
      if (variables.length >= most || !this.#take(',')) break;
    }
    this.#at = from;
    return { variables: [], assigns: false };
  }

  #command(index: number): Command {
    const words: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      const word = this.#operand();
      if (word === undefined) break;
      words.push(word);
      const next = this.#tokens[this.#at];
      if (next === undefined || next.kind === 'space') continue;
      if (next.kind === 'symbol' && (next.symbol === '|' || next.symbol === ')')) continue;
      throw this.#problem(`unexpected ${spelled(next)}`);
    }
    const [first, ...rest] = words;
    if (first === undefined) throw this.#problem(index === 0 ? 'a value is missing' : 'nothing stands after |');
    if (first.kind === 'value' && index > 0) throw this.#problem('only a function can stand after |');
    if (first.kind === 'value' && first.value.kind === 'nil') throw this.#problem('nil is no command');
    return { words: [first, ...rest] };
  }

  #operand(): Operand | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined) return undefined;
    if (token.kind === 'symbol' && token.symbol !== '.' && token.symbol !== '(') return undefined;
    this.#at += 1;
    switch (token.kind) {
      case 'string':
        return { kind: 'value', value: text(token.content) };
      case 'int':
        return { kind: 'value', value: int(token.integer) };
      case 'float':
        return { kind: 'value', value: float(token.number) };
      case 'identifier':
        return this.#identifier(token.name);
      case 'field':
        return { kind: 'dot', fields: [token.name, ...this.#fields()] };
      case 'variable':
        this.#requireVariable(token.name);
        return { kind: 'variable', name: token.name, fields: this.#fields() };
      case 'symbol':
        return token.symbol === '.' ? { kind: 'dot', fields: [] } : this.#group();
      case 'space':
        return undefined;
    }
  }

  #identifier(name: string): Operand {
    if (name === 'true' || name === 'false') return { kind: 'value', value: bool(name === 'true') };
    if (name === 'nil') return { kind: 'value', value: NIL };
    if (this.#scope.isFunction(name)) return { kind: 'function', name };
    throw this.#problem(`there is no function ${name}`);
  }

  #group(): Operand {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw this.#problem(`parentheses are nested more than ${DEEPEST} deep`);
    const pipeline = this.pipeline(0);
    if (!this.#take(')')) throw this.#problem('a parenthesis is not closed');
    this.#depth -= 1;
    return { kind: 'group', pipeline, fields: this.#fields() };
  }

  #fields(): string[] {
    const fields: string[] = [];
    for (let token = this.#tokens[this.#at]; token?.kind === 'field'; token = this.#tokens[this.#at]) {
      fields.push(token.name);
      this.#at += 1;
    }
    return fields;
  }

  #requireVariable(name: string): void {
    if (!this.#variables.includes(name)) throw this.#problem(`there is no variable $${name}`);
  }

  #skipSpace(): void {
    while (this.#tokens[this.#at]?.kind === 'space') this.#at += 1;
  }

  #take(symbol: string): boolean {
    const from = this.#at;
    this.#skipSpace();
    const token = this.#tokens[this.#at];
    if (token?.kind === 'symbol' && token.symbol === symbol) {
      this.#at += 1;
      return true;
    }
    this.#at = from;
    return false;
  }

  #problem(message: string): TemplateProblem {
    return problem(this.#line, message);
  }
}

function problem(line: number, message: string): TemplateProblem {
  return new TemplateProblem(`Line ${line}: ${message}.`);
}

function keywordOf(tokens: readonly Token[], line: number): { word: string | undefined; rest: readonly Token[] } {
  const at = tokens.findIndex(({ kind }) => kind !== 'space');
  const first = tokens[at];
  if (first?.kind !== 'identifier') return { word: undefined, rest: tokens };
  if (ABSENT.has(first.name)) throw problem(line, `{{${first.name}}} is not to be had here`);
  return KEYWORDS.has(first.name)
    ? { word: first.name, rest: tokens.slice(at + 1) }
    : { word: undefined, rest: tokens };
}

function requireNothing(tokens: readonly Token[], line: number, after: string): void {
  const token = tokens.find(({ kind }) => kind !== 'space');
  if (token) throw problem(line, `unexpected ${spelled(token)} after ${after}`);
}

function spelled(token: Token): string {
  switch (token.kind) {
    case 'space':
      return 'a blank';
    case 'identifier':
      return token.name;
    case 'field':
      return `.${token.name}`;
    case 'variable':
      return `$${token.name}`;
    case 'string':
      return JSON.stringify(token.content);
    case 'int':
      return String(token.integer);
    case 'float':
      return String(token.number);
    case 'symbol':
      return token.symbol;
  }
}
