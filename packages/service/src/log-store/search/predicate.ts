/** Compiles a query's filter to a SQL condition that is never null. Its meaning is that of the matcher in packages/model/src/query/match.ts. */
import {
  type Comparison,
  type Filter,
  foldCase,
  globPattern,
  type Matcher,
  TOKEN_CLASS,
  tokenPattern,
  toNumber,
  toWholeNumber,
} from '@obsiac/model';
import { type FieldSource, fieldSources, scalarAsText, textAsNumber } from './fields.ts';
import type { Parameters } from './parameters.ts';

export function compileFilter(filter: Filter, parameters: Parameters): string {
  switch (filter.kind) {
    case 'all':
      return '1';
    case 'and':
      return joined(filter.items, 'AND', parameters);
    case 'or':
      return joined(filter.items, 'OR', parameters);
    case 'not':
      return `NOT (${compileFilter(filter.item, parameters)})`;
    case 'match': {
      const { field, matcher } = filter;
      if (field === null || field === 'body') return compileBody(matcher, parameters);
      const conditions = fieldSources(field).map((source) => compileSource(source, matcher, parameters));
      return conditions.length === 1 ? (conditions[0] as string) : `(${conditions.join(' OR ')})`;
    }
  }
}

function joined(items: readonly Filter[], operator: 'AND' | 'OR', parameters: Parameters): string {
  return `(${items.map((item) => compileFilter(item, parameters)).join(` ${operator} `)})`;
}

const BODY = 'body';
const FOLDED_BODY = 'lower(body)';
const PLAIN_TOKEN = /^[0-9a-z]+$/;

function compileBody(matcher: Matcher, parameters: Parameters): string {
  switch (matcher.kind) {
    case 'word':
    case 'phrase':
      return bodyTokens([matcher.text], parameters);
    case 'glob':
      return bodyTokens(matcher.parts, parameters);
    default:
      return compileSource({ kind: 'text', sql: BODY }, matcher, parameters);
  }
}

/** Finds whole tokens. A cheap condition that holds wherever the exact one does comes first. */
function bodyTokens(parts: readonly string[], parameters: Parameters): string {
  const folded = parts.map(foldCase);
  const only = folded.length === 1 ? (folded[0] as string) : undefined;
  if (only !== undefined && PLAIN_TOKEN.test(only)) return plainToken(only, parameters);
  const pattern = tokenPattern(parts);
  const needsNoEdge = !pattern.includes(`[^${TOKEN_CLASS}]`);
  const filled = folded.filter((part) => part !== '');
  if (needsNoEdge && filled.length === 1) return contains(BODY, filled[0] as string, parameters);
  const like = `${FOLDED_BODY} LIKE ${parameters.text(`%${folded.map(escapeLike).join('%')}%`)}`;
  if (needsNoEdge) return `(${BODY} != '' AND ${like})`;
  return `(${like} AND match(${FOLDED_BODY}, ${parameters.text(pattern)}))`;
}

/** Searching without regard to case takes a fifth less time than folding all texts first; it folds ASCII letters alone, as the language does. */
function contains(text: string, folded: string, parameters: Parameters): string {
  const needle = parameters.text(folded);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ASCII.
  return /^[\x00-\x7f]+$/.test(folded)
    ? `positionCaseInsensitive(${text}, ${needle}) > 0`
    : `position(lower(${text}), ${needle}) > 0`;
}

/**
 * The engine's own tokens end at underscores and the language's do not: only where the word stands beside an underscore does the pattern
 * have to decide.
 */
function plainToken(word: string, parameters: Parameters): string {
  const token = `hasToken(${FOLDED_BODY}, ${parameters.text(word)})`;
  const beside = [`%\\_${word}%`, `%${word}\\_%`].map((like) => `${FOLDED_BODY} LIKE ${parameters.text(like)}`);
  const exact = `match(${FOLDED_BODY}, ${parameters.text(tokenPattern([word]))})`;
  return `(${token} AND (NOT (${beside.join(' OR ')}) OR ${exact}))`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function compileSource(source: FieldSource, matcher: Matcher, parameters: Parameters): string {
  if (source.kind === 'list') {
    if (matcher.kind === 'exists') return `arrayExists(value -> value != '', ${source.sql})`;
    return `arrayExists(value -> ${compileScalar({ kind: 'text', sql: 'value' }, matcher, parameters)}, ${source.sql})`;
  }
  return compileScalar(source, matcher, parameters);
}

function compileScalar(source: FieldSource, matcher: Matcher, parameters: Parameters): string {
  switch (matcher.kind) {
    case 'word':
    case 'phrase':
      return compileEqual(source, matcher.text, parameters);
    case 'glob':
      return compileGlob(source, matcher.parts, parameters);
    case 'compare':
      return compileCompare(source, matcher.operator, matcher.text, parameters);
    case 'range': {
      const bounds = [
        ...(matcher.low === null ? [] : [compileCompare(source, '>=', matcher.low, parameters)]),
        ...(matcher.high === null ? [] : [compileCompare(source, '<=', matcher.high, parameters)]),
      ];
      return bounds.length === 0 ? exists(source) : `(${bounds.join(' AND ')})`;
    }
    case 'regex':
      // The engine's dot takes line ends too, the language's does not.
      return present(source, `match(${scalarAsText(source)}, ${parameters.text(`(?-s)${matcher.pattern}`)})`);
    case 'exists':
      return exists(source);
  }
}

function exists({ kind, sql }: FieldSource): string {
  return kind === 'text' ? `${sql} != ''` : `isNotNull(${sql})`;
}

/** A condition on the value's text, which absent values must not meet. */
function present(source: FieldSource, condition: string): string {
  return `(${exists(source)} AND ${condition})`;
}

/** Equal as numbers when both are numbers, else as folded text. */
function compileEqual(source: FieldSource, text: string, parameters: Parameters): string {
  const number = toNumber(text);
  const folded = foldCase(text);
  switch (source.kind) {
    case 'integer':
    case 'float':
      return number === undefined ? '0' : compareWithNumber(source, '=', text, parameters);
    case 'boolean':
      return folded === 'true' || folded === 'false' ? `ifNull(${source.sql} = ${folded}, 0)` : '0';
    default: {
      const sameText = `lower(${source.sql}) = ${parameters.text(folded)}`;
      if (number === undefined) return folded === '' ? '0' : sameText;
      return `(${sameText} OR ${compareWithNumber(source, '=', text, parameters)})`;
    }
  }
}

function compileGlob(source: FieldSource, parts: readonly string[], parameters: Parameters): string {
  const folded = `lower(${scalarAsText(source)})`;
  const [first, last] = [parts[0] as string, parts.at(-1) as string];
  if (parts.length === 2 && (first === '' || last === '')) {
    const end = parameters.text(foldCase(first || last));
    return present(source, last === '' ? `startsWith(${folded}, ${end})` : `endsWith(${folded}, ${end})`);
  }
  if (parts.length === 3 && first === '' && last === '') {
    return present(source, contains(scalarAsText(source), foldCase(parts[1] as string), parameters));
  }
  return present(source, `match(${folded}, ${parameters.text(globPattern(parts))})`);
}

/** By number when the query has a number, and then only values that are numbers; else by text. */
function compileCompare(source: FieldSource, operator: Comparison, text: string, parameters: Parameters): string {
  if (toNumber(text) === undefined) {
    return present(source, `lower(${scalarAsText(source)}) ${operator} ${parameters.text(foldCase(text))}`);
  }
  return compareWithNumber(source, operator, text, parameters);
}

/** Whole numbers of 64 bits are compared to their last digit, all others as doubles. @param text a number */
function compareWithNumber(
  { kind, sql }: FieldSource,
  operator: Comparison | '=',
  text: string,
  parameters: Parameters,
): string {
  const number = toNumber(text) as number;
  const whole = toWholeNumber(text);
  switch (kind) {
    case 'boolean':
      return '0';
    case 'integer':
      if (whole !== undefined) return `ifNull(${sql} ${operator} ${parameters.whole(whole)}, 0)`;
      break;
    case 'text': {
      const asDouble = `${textAsNumber(sql)} ${operator} ${parameters.number(number)}`;
      // Below 2^53 doubles tell all whole numbers apart.
      if (whole === undefined || Number.isSafeInteger(number)) return `ifNull(${asDouble}, 0)`;
      return `coalesce(toInt64OrNull(${sql}) ${operator} ${parameters.whole(whole)}, ${asDouble}, 0)`;
    }
    default:
      break;
  }
  return `ifNull(toFloat64(${sql}) ${operator} ${parameters.number(number)}, 0)`;
}
