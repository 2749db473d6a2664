/** Whether a record matches a filter. This is the definition; the stores' compilers are tested against it. */
import { RE2JS } from 're2js';
import type { Comparison, Filter, Matcher } from './ast.ts';
import {
  compareFolded,
  compareNumbers,
  type FieldValue,
  foldCase,
  type Scalar,
  scalarsOf,
  toNumber,
  toText,
} from './value.ts';

/** Gives the value of a field by its name in the query, after aliases; `body` is the record's text. Undefined: absent. */
export type FieldReader = (field: string) => FieldValue | undefined;

export type RecordMatcher = (read: FieldReader) => boolean;

/** Compiles a filter once, to be asked of many records. The empty text is absent, as an element of an array too. */
export function createMatcher(filter: Filter): RecordMatcher {
  switch (filter.kind) {
    case 'all':
      return () => true;
    case 'and': {
      const items = filter.items.map(createMatcher);
      return (read) => items.every((matches) => matches(read));
    }
    case 'or': {
      const items = filter.items.map(createMatcher);
      return (read) => items.some((matches) => matches(read));
    }
    case 'not': {
      const matches = createMatcher(filter.item);
      return (read) => !matches(read);
    }
    case 'match': {
      const { field } = filter;
      if (field === null || field === 'body') {
        const matches = bodyTest(filter.matcher);
        return (read) => scalarsOf(read('body')).some((value) => value !== '' && matches(toText(value)));
      }
      const matches = valueTest(filter.matcher);
      return (read) => scalarsOf(read(field)).some((value) => value !== '' && matches(value));
    }
  }
}

/** In the body words and phrases are found as whole tokens and globs between token edges; the rest is as for any field. */
function bodyTest(matcher: Matcher): (text: string) => boolean {
  switch (matcher.kind) {
    case 'word':
    case 'phrase':
      return tokenTest([matcher.text]);
    case 'glob':
      return tokenTest(matcher.parts);
    default:
      return valueTest(matcher);
  }
}

/** Letters, digits, underscore and everything beyond ASCII make up tokens. */
export const TOKEN_CLASS = '0-9A-Za-z_\\x{80}-\\x{10FFFF}';

const isTokenCharacter = (text: string): boolean => /^[0-9A-Za-z_\u0080-\u{10ffff}]/u.test(text);

/**
 * RE2 source that finds `parts`, with any run between them, as whole tokens of an already folded text.
 * An end of the term that is no token character itself needs no edge beside it, nor does an end with a star.
 */
export function tokenPattern(parts: readonly string[]): string {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  const before = first !== '' && isTokenCharacter(first) ? `(?:^|[^${TOKEN_CLASS}])` : '';
  const after = last !== '' && isTokenCharacter([...last].at(-1) as string) ? `(?:$|[^${TOKEN_CLASS}])` : '';
  return `(?s)${before}${parts.map((part) => quoteRegex(foldCase(part))).join('.*')}${after}`;
}

/** RE2 source that matches the whole of a folded text: `*` is any run. */
export function globPattern(parts: readonly string[]): string {
  return `(?s)^${parts.map((part) => quoteRegex(foldCase(part))).join('.*')}$`;
}

function quoteRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

function tokenTest(parts: readonly string[]): (text: string) => boolean {
  const pattern = RE2JS.compile(tokenPattern(parts));
  const needle = foldCase(parts.reduce((longest, part) => (part.length > longest.length ? part : longest), ''));
  return (text) => {
    const folded = foldCase(text);
    return folded.includes(needle) && pattern.matcher(folded).find();
  };
}

function valueTest(matcher: Matcher): (value: Scalar) => boolean {
  switch (matcher.kind) {
    case 'word':
    case 'phrase':
      return equalTest(matcher.text);
    case 'glob': {
      const pattern = RE2JS.compile(globPattern(matcher.parts));
      return (value) => pattern.matcher(foldCase(toText(value))).find();
    }
    case 'compare': {
      const { operator, text } = matcher;
      return (value) => holds(operator, compareWithQuery(value, text));
    }
    case 'range': {
      const { low, high } = matcher;
      return (value) =>
        (low === null || holds('>=', compareWithQuery(value, low))) &&
        (high === null || holds('<=', compareWithQuery(value, high)));
    }
    case 'regex': {
      const pattern = RE2JS.compile(matcher.pattern);
      return (value) => pattern.matcher(toText(value)).find();
    }
    case 'exists':
      return () => true;
  }
}

/** Equal as numbers when both are numbers, else as folded text. */
function equalTest(text: string): (value: Scalar) => boolean {
  const isNumber = toNumber(text) !== undefined;
  const folded = foldCase(text);
  return (value) => {
    const order = isNumber ? compareNumbers(value, text) : undefined;
    return order === undefined ? foldCase(toText(value)) === folded : order === 0;
  };
}

/** Undefined: a number is asked for and the value is none, so that no order holds. */
function compareWithQuery(value: Scalar, text: string): number | undefined {
  return toNumber(text) === undefined ? compareFolded(value, text) : compareNumbers(value, text);
}

function holds(operator: Comparison, order: number | undefined): boolean {
  if (order === undefined) return false;
  switch (operator) {
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
  }
}
