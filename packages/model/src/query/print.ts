/** Prints a query in its one canonical form: `parseQuery(printQuery(q))` gives `q` again. */
import type { Aggregate, Filter, Matcher, Pipe, Query } from './ast.ts';

const PLAIN_WORD = /^[^\s()[\],|":~<>*\\-][^\s()[\],|":*\\]*$/;
const KEYWORDS = new Set(['AND', 'OR', 'NOT', 'TO']);
const PLAIN_FIELD = /^[A-Za-z_@$][\w.@$/-]*$/;

export function printQuery(query: Query): string {
  const pipes = query.pipes.map(printPipe);
  const filter = query.filter.kind === 'all' && pipes.length === 0 ? '' : printFilter(query.filter);
  return [filter, ...pipes].join(' | ');
}

export function printFilter(filter: Filter, within: 'or' | 'and' | 'not' | null = null): string {
  switch (filter.kind) {
    case 'all':
      return '*';
    case 'match':
      return (filter.field === null ? '' : `${printField(filter.field)}:`) + printMatcher(filter.matcher);
    case 'not':
      return `NOT ${printFilter(filter.item, 'not')}`;
    case 'and': {
      const text = filter.items.map((item) => printFilter(item, 'and')).join(' ');
      return within === 'not' || within === 'and' ? `(${text})` : text;
    }
    case 'or': {
      const text = filter.items.map((item) => printFilter(item, 'or')).join(' OR ');
      return within === null ? text : `(${text})`;
    }
  }
}

function printMatcher(matcher: Matcher): string {
  switch (matcher.kind) {
    case 'word':
      return printWord(matcher.text);
    case 'phrase':
      return quote(matcher.text);
    case 'glob':
      return matcher.parts.map(escapePart).join('*');
    case 'compare':
      return matcher.operator + printBound(matcher.text);
    case 'range':
      return `[${matcher.low === null ? '*' : printBound(matcher.low)} TO ${matcher.high === null ? '*' : printBound(matcher.high)}]`;
    case 'regex':
      return `~${quote(matcher.pattern)}`;
    case 'exists':
      return '*';
  }
}

function printWord(text: string): string {
  if (PLAIN_WORD.test(text) && !KEYWORDS.has(text)) return text;
  return KEYWORDS.has(text) ? `\\${text}` : escapePart(text);
}

/** A bound may be quoted: there a word and a quoted text mean the same. */
function printBound(text: string): string {
  return /^-?[\w.]+$/.test(text) && !KEYWORDS.has(text) ? text : quote(text);
}

function escapePart(text: string): string {
  return text.replace(/[\s()[\],|":~<>*\\-]/g, (sign) => `\\${sign}`);
}

function quote(text: string): string {
  const escapes: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };
  return `"${text.replace(/["\\\n\t\r]/g, (sign) => escapes[sign] as string)}"`;
}

export function printField(field: string): string {
  return PLAIN_FIELD.test(field) ? field : quote(field);
}

/** A field in a pipe, where no colon follows: any plain word will do. */
function printPipeField(field: string): string {
  return PLAIN_FIELD.test(field) ? field : quote(field);
}

export function printAggregate(aggregate: Aggregate): string {
  const name =
    aggregate.quantile === undefined ? aggregate.name : `p${Number((aggregate.quantile * 100).toPrecision(6))}`;
  return `${name}(${aggregate.field === null ? '' : printPipeField(aggregate.field)})`;
}

function printPipe(pipe: Pipe): string {
  switch (pipe.kind) {
    case 'stats': {
      const aggregates = pipe.aggregates.map((aggregate) => {
        const text = printAggregate(aggregate);
        return aggregate.as === text ? text : `${text} as ${printPipeField(aggregate.as)}`;
      });
      const by = pipe.by.length > 0 ? ` by (${pipe.by.map(printPipeField).join(', ')})` : '';
      return `stats ${aggregates.join(', ')}${by}`;
    }
    case 'fields':
      return `fields ${pipe.fields.map(printPipeField).join(', ')}`;
    case 'sort':
      return `sort ${printPipeField(pipe.field)}${pipe.descending ? ' desc' : ''}`;
    case 'limit':
      return `limit ${pipe.count}`;
  }
}
