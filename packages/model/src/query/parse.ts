/** Parses a log query: `filter { "|" pipe }`. */
import { RE2JS } from 're2js';
import type { Aggregate, AggregateName, Comparison, Filter, Matcher, Pipe, Query, QueryProblem, Span } from './ast.ts';
import { AGGREGATES } from './ast.ts';
import { type Token, type TokenKind, tokenize } from './lexer.ts';
import { printAggregate } from './print.ts';

/** Longest query, in UTF-16 units, and deepest nesting that is taken. */
export const QUERY_LIMITS = { length: 16_384, depth: 100, terms: 2_000, limit: 1_000_000 } as const;

export type ParsedQuery =
  | { readonly query: Query; readonly problem?: undefined }
  | { readonly query?: undefined; readonly problem: QueryProblem };

/** Never throws: what is not a query comes back as a problem with its place. An empty text matches every record. */
export function parseQuery(text: string): ParsedQuery {
  if (text.length > QUERY_LIMITS.length) {
    const message = `The query is longer than ${QUERY_LIMITS.length} characters.`;
    return { problem: { message, from: QUERY_LIMITS.length, to: text.length } };
  }
  const { tokens, problems } = tokenize(text);
  const [problem] = problems;
  if (problem) return { problem };
  try {
    return { query: new Parser(tokens).query() };
  } catch (error) {
    if (error instanceof Refusal) return { problem: error.problem };
    throw error;
  }
}

class Refusal extends Error {
  readonly problem: QueryProblem;
  constructor(problem: QueryProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

function refuse(message: string, span: Span, fix?: string): never {
  throw new Refusal({ message, from: span.from, to: Math.max(span.to, span.from), ...(fix !== undefined && { fix }) });
}

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;
  private terms = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  query(): Query {
    const first = this.peek();
    const filter: Filter = first.kind === 'end' || first.kind === '|' ? { kind: 'all' } : this.or();
    const pipes: Pipe[] = [];
    while (this.take('|')) pipes.push(this.pipe());
    const rest = this.peek();
    if (rest.kind === ')') refuse('This parenthesis closes nothing.', rest);
    if (rest.kind !== 'end') refuse(`“${rest.text}” is not expected here.`, rest);
    checkPipes(pipes, first);
    return { filter, pipes };
  }

  private peek(ahead = 0): Token {
    return this.tokens[Math.min(this.at + ahead, this.tokens.length - 1)] as Token;
  }

  private next(): Token {
    const token = this.peek();
    this.at += 1;
    return token;
  }

  private take(kind: TokenKind): Token | undefined {
    return this.peek().kind === kind ? this.next() : undefined;
  }

  private isWord(text: string): boolean {
    const token = this.peek();
    return token.kind === 'word' && token.text === text && !token.escaped && this.peek(1).kind !== ':';
  }

  private takeWord(text: string): boolean {
    if (!this.isWord(text)) return false;
    this.at += 1;
    return true;
  }

  private or(): Filter {
    const items = [this.and()];
    while (this.takeWord('OR')) items.push(this.and());
    return items.length === 1 ? (items[0] as Filter) : { kind: 'or', items };
  }

  private and(): Filter {
    const items = [this.unary()];
    while (this.takeWord('AND') || this.startsTerm()) items.push(this.unary());
    return items.length === 1 ? (items[0] as Filter) : { kind: 'and', items };
  }

  private startsTerm(): boolean {
    const { kind } = this.peek();
    const term =
      kind === '(' || kind === '-' || kind === 'word' || kind === 'quoted' || kind === 'comparison' || kind === '~';
    return term && !this.isWord('OR') && !this.isWord('AND');
  }

  private unary(): Filter {
    if (this.take('-') || this.takeWord('NOT')) return { kind: 'not', item: this.nested(() => this.unary()) };
    return this.primary();
  }

  private nested<Result>(read: () => Result): Result {
    this.depth += 1;
    if (this.depth > QUERY_LIMITS.depth)
      refuse(`The query nests deeper than ${QUERY_LIMITS.depth} levels.`, this.peek());
    const result = read();
    this.depth -= 1;
    return result;
  }

  private primary(): Filter {
    const open = this.take('(');
    if (open) {
      const inner = this.nested(() => this.or());
      if (!this.take(')')) refuse('This parenthesis is never closed.', open);
      return inner;
    }
    const token = this.peek();
    const named =
      (token.kind === 'word' || token.kind === 'quoted') && this.peek(1).kind === ':' && !this.peek(1).spaced;
    if (!named) return this.match(null, token);
    this.at += 2;
    if (token.text === '') refuse('A field name is empty.', token);
    return this.fieldValue(token.text, token);
  }

  private fieldValue(field: string, start: Token): Filter {
    const open = this.take('(');
    if (!open) return this.match(field, start);
    const items: Filter[] = [];
    do {
      items.push(this.fieldTerm(field));
    } while (this.takeWord('OR') || (this.peek().kind !== ')' && this.peek().kind !== 'end'));
    if (!this.take(')')) refuse('This parenthesis is never closed.', open);
    return items.length === 1 ? (items[0] as Filter) : { kind: 'or', items };
  }

  private fieldTerm(field: string): Filter {
    if (this.isWord('AND')) refuse('Inside field:( … ) values are joined by OR only.', this.peek());
    return this.match(field, this.peek());
  }

  private match(field: string | null, start: Token): Filter {
    this.terms += 1;
    if (this.terms > QUERY_LIMITS.terms) refuse(`The query has more than ${QUERY_LIMITS.terms} terms.`, start);
    const matcher = this.matcher(field);
    if (field === null && matcher.kind === 'exists') return { kind: 'all' };
    const end = this.tokens[this.at - 1] as Token;
    return { kind: 'match', field, matcher, span: { from: start.from, to: end.to } };
  }

  private matcher(field: string | null): Matcher {
    const token = this.next();
    switch (token.kind) {
      case 'quoted':
        if (field === null && token.text === '') refuse('An empty phrase finds nothing.', token);
        return { kind: 'phrase', text: token.text };
      case 'word':
        return this.word(token, field);
      case 'comparison':
        return this.comparison(token, field);
      case '[':
        return this.range(token, field);
      case '~':
        return this.regex(token);
      case 'end':
        return refuse(
          field === null ? 'A search term is missing here.' : `A value is missing after “${field}:”.`,
          token,
        );
      case ':':
        return refuse('A field name is missing before this colon.', token);
      default:
        return refuse(`“${token.text}” cannot stand here.`, token, `"${token.text}"`);
    }
  }

  private word(token: Token, field: string | null): Matcher {
    if (field === null && !token.escaped && (token.text === 'OR' || token.text === 'AND')) {
      refuse(
        `${token.text} needs a term on both sides; to search for the word itself, quote it.`,
        token,
        `"${token.text}"`,
      );
    }
    if (!token.parts) {
      if (token.text === '') refuse('A value is missing here.', token);
      return { kind: 'word', text: token.text };
    }
    return token.parts.every((part) => part === '')
      ? { kind: 'exists' }
      : { kind: 'glob', parts: collapseStars(token.parts) };
  }

  private comparison(token: Token, field: string | null): Matcher {
    if (field === null) refuse(`“${token.text}” needs a field before it.`, token, `status:${token.text}500`);
    const value = this.next();
    if ((value.kind !== 'word' && value.kind !== 'quoted') || value.parts) {
      refuse(`A value is missing after “${token.text}”.`, value.kind === 'end' ? token : value);
    }
    return { kind: 'compare', operator: token.text as Comparison, text: value.text };
  }

  private range(open: Token, field: string | null): Matcher {
    if (field === null) refuse('A range needs a field before it.', open, 'status:[500 TO 599]');
    const low = this.bound(open);
    if (!this.takeWord('TO')) refuse('A range is written [low TO high].', this.peek(), '[500 TO 599]');
    const high = this.bound(open);
    if (!this.take(']')) refuse('This bracket is never closed.', open);
    return { kind: 'range', low, high };
  }

  private bound(open: Token): string | null {
    const token = this.next();
    if (token.kind === 'quoted') return token.text;
    if (token.kind !== 'word' || (token.parts && token.text !== '*'))
      return refuse('A range is written [low TO high].', open, '[500 TO 599]');
    return token.text === '*' && token.parts ? null : token.text;
  }

  private regex(sign: Token): Matcher {
    const token = this.next();
    if (token.kind !== 'quoted') refuse('A regular expression stands in quotes.', sign, `~"${token.text}"`);
    const reason = regexProblem(token.text);
    if (reason) refuse(`This is not a regular expression in RE2 syntax: ${reason}.`, token);
    return { kind: 'regex', pattern: token.text };
  }

  private pipe(): Pipe {
    const name = this.next();
    if (name.kind !== 'word') refuse('A pipe needs a name: stats, fields, sort or limit.', name);
    switch (name.text) {
      case 'stats':
        return this.stats();
      case 'fields':
        return { kind: 'fields', fields: this.fieldList() };
      case 'sort':
        return this.sort();
      case 'limit':
        return { kind: 'limit', count: this.count() };
      default:
        return refuse(`There is no pipe “${name.text}”; there are stats, fields, sort and limit.`, name);
    }
  }

  private stats(): Pipe {
    const aggregates = [this.aggregate()];
    while (this.take(',')) aggregates.push(this.aggregate());
    const by = this.takeWord('by') ? this.fieldList() : [];
    const columns = [...by, ...aggregates.map((aggregate) => aggregate.as)];
    const twice = columns.find((column, index) => columns.indexOf(column) !== index);
    if (twice !== undefined)
      refuse(`Two columns of stats are called “${twice}”; give one another name with “as”.`, this.peek());
    return { kind: 'stats', aggregates, by };
  }

  private aggregate(): Aggregate {
    const token = this.next();
    const { name, quantile } = aggregateName(token);
    if (!this.take('('))
      refuse(`${token.text} needs parentheses.`, token, `${token.text}(${name === 'count' ? '' : 'field'})`);
    const field = this.peek().kind === ')' ? null : this.fieldName();
    if (!this.take(')')) refuse('This parenthesis is never closed.', token);
    if (name === 'count' && field !== null && field !== '*')
      refuse('count() takes no field; filter with field:* first.', token, 'count()');
    if (name !== 'count' && field === null) refuse(`${token.text}() needs a field.`, token, `${token.text}(field)`);
    const bare = { name, field: name === 'count' ? null : field, ...(quantile !== undefined && { quantile }) };
    const as = this.takeWord('as') ? this.fieldName() : printAggregate({ ...bare, as: '' });
    return { ...bare, as };
  }

  private sort(): Pipe {
    const by = this.takeWord('by');
    const wrapped = by && this.take('(');
    const field = this.sortField();
    const descending = this.takeWord('desc');
    if (!descending) this.takeWord('asc');
    if (wrapped && !this.take(')')) refuse('This parenthesis is never closed.', wrapped);
    return { kind: 'sort', field, descending: descending || (Boolean(wrapped) && this.takeWord('desc')) };
  }

  /** A field, or an aggregate as it was written in stats: `sort count() desc`. */
  private sortField(): string {
    if (this.peek(1).kind !== '(') return this.fieldName();
    return this.aggregate().as;
  }

  private fieldList(): string[] {
    const open = this.take('(');
    const fields = [this.fieldName()];
    while (this.take(',')) fields.push(this.fieldName());
    if (open && !this.take(')')) refuse('This parenthesis is never closed.', open);
    return fields;
  }

  private fieldName(): string {
    const token = this.next();
    const isName = (token.kind === 'word' && (!token.parts || token.text === '*')) || token.kind === 'quoted';
    if (!isName || token.text === '') return refuse('A field name is missing here.', token);
    return token.text;
  }

  private count(): number {
    const token = this.next();
    const count = Number(token.text);
    if (token.kind !== 'word' || !/^\d+$/.test(token.text) || count < 1 || count > QUERY_LIMITS.limit) {
      refuse(`limit takes a whole number from 1 to ${QUERY_LIMITS.limit}.`, token, 'limit 100');
    }
    return count;
  }
}

/** `a**b` is `a*b`. */
function collapseStars(parts: readonly string[]): readonly string[] {
  return parts.filter((part, index) => part !== '' || index === 0 || index === parts.length - 1);
}

function aggregateName(token: Token): { name: AggregateName; quantile?: number } {
  const known = AGGREGATES.find((name) => name === token.text);
  if (token.kind === 'word' && known) return { name: known };
  const percentile = /^p(\d{1,2}(?:\.\d{1,3})?)$/.exec(token.text);
  const value = Number(percentile?.[1] ?? 0);
  if (token.kind !== 'word' || value <= 0) {
    return refuse(
      `“${token.text}” is not an aggregate; there are ${AGGREGATES.join(', ')} and p1 … p99.`,
      token,
      'count()',
    );
  }
  return { name: 'quantile', quantile: Number((value / 100).toPrecision(12)) };
}

function regexProblem(pattern: string): string | undefined {
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error))
      .replace(/^error parsing regexp: /, '')
      .replace(/\.$/, '');
  }
}

/** Only one stats, and what follows it may name its columns only. */
function checkPipes(pipes: readonly Pipe[], place: Span): void {
  let columns: readonly string[] | undefined;
  for (const pipe of pipes) {
    if (pipe.kind === 'stats') {
      if (columns) refuse('A query has one stats pipe at most.', place);
      columns = [...pipe.by, ...pipe.aggregates.map((aggregate) => aggregate.as)];
    }
    const named = pipe.kind === 'fields' ? pipe.fields : pipe.kind === 'sort' ? [pipe.field] : [];
    const unknown = columns && named.find((field) => !columns?.includes(field));
    if (unknown !== undefined)
      refuse(`After stats there is no column “${unknown}”; there are ${columns?.join(', ')}.`, place);
  }
}
