/** The public face of the PromQL package. */
export * from './syntax/ast.ts';
export { type CheckResult, checkTypes } from './syntax/check.ts';
export { canonicalText, equivalent, equivalentQueries } from './syntax/equivalent.ts';
export { AGGREGATES, type AggregateSignature, FUNCTIONS, type FunctionSignature } from './syntax/functions.ts';
export {
  formatDuration,
  formatNumber,
  isPlainLabelName,
  isPlainMetricName,
  parseDuration,
  parseNumber,
  quoteString,
} from './syntax/literals.ts';
export {
  type Dialect,
  type ParsedQuery,
  type ParseOptions,
  type ParseResult,
  parse,
  type RefusedQuery,
} from './syntax/parser.ts';
export { print, printMatcher } from './syntax/print.ts';
export { lineColumn, nearest, type QueryProblem } from './syntax/problem.ts';
export { type AnchoredRegex, compileRegex, type RegexResult } from './syntax/regex.ts';
export { addMatchers, hidesSelectors, substituteVariables, type VariableUse, variablesOf } from './syntax/variables.ts';
export {
  childrenOf,
  leftSpine,
  mapSelectors,
  matchersOf,
  selectorsOf,
  transform,
  typeOf,
  unwrap,
  walk,
} from './syntax/walk.ts';
