/** The public face of the PromQL package. */

export {
  type ApiData,
  type ApiMatrix,
  type ApiPoint,
  type ApiVector,
  instantToApi,
  rangeToApi,
} from './eval/api-shape.ts';
export { type Annotation, DEFAULT_LIMITS, type EvalOptions, type Limits } from './eval/context.ts';
export { QueryError, type QueryErrorCode } from './eval/errors.ts';
export {
  type InstantData,
  type InstantQuery,
  type InstantResult,
  type Points,
  queryInstant,
  queryRange,
  type RangeQuery,
  type RangeResult,
  type Sample,
} from './eval/query.ts';
export { type ExpositionOptions, readExposition } from './series/exposition.ts';
export {
  compareLabels,
  formatLabels,
  type Labels,
  labelPairs,
  labelsOf,
  labelsRecord,
  labelValue,
  NO_LABELS,
} from './series/labels.ts';
export {
  type NotationTiming,
  parseSequence,
  parseSeriesNotation,
  type ReadSeries,
  readNotation,
  type SequenceValue,
  type SeriesNotation,
  toSeries,
} from './series/notation.ts';
export { formatPlain, formatValue, parseValue } from './series/numbers.ts';
export { labelsTest, valueTest } from './storage/match.ts';
export { MemoryStorage, OutOfOrderError } from './storage/memory.ts';
export type { LabelMatcher, SelectOptions, SeriesData, Storage } from './storage/storage.ts';
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
export { print, printMatcher, withParens } from './syntax/print.ts';
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
