/** Compiles label matchers to SQL. A missing label counts as empty, as Prometheus has it. */
import { compileRegex, type LabelMatcher, QueryError } from '@obsiac/promql';
import type { Values } from './statement.ts';

/** The condition that every matcher takes what `column` gives for its label; `1` without matchers. */
export function matcherConditions(
  matchers: readonly LabelMatcher[],
  column: (label: string) => string,
  values: Values,
): string {
  return ['1', ...matchers.map((matcher) => matcherCondition(matcher, column(matcher.label), values))].join(' AND ');
}

/** @throws QueryError `bad_regex` */
export function matcherCondition({ op, value }: LabelMatcher, column: string, values: Values): string {
  if (op === '=') return `${column} = ${values.text(value)}`;
  if (op === '!=') return `${column} != ${values.text(value)}`;
  const compiled = compileRegex(value);
  if (!compiled.ok) {
    throw new QueryError('bad_regex', `invalid regular expression ${JSON.stringify(value)}: ${compiled.message}`);
  }
  const { literals } = compiled.regex;
  // The engine's expressions are RE2 too. Anchored as a whole; `s`: the dot takes line ends.
  const test =
    literals === undefined
      ? `match(${column}, ${values.text(`^(?s:${value})$`)})`
      : `has(${values.texts(literals)}, ${column})`;
  return op === '=~' ? test : `NOT ${test}`;
}
