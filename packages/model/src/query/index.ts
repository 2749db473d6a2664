/** The log query language: one parser for the service, the command and the browser, and the definition of what it means. */
export * from './ast.ts';
export {
  createMatcher,
  type FieldReader,
  globPattern,
  type RecordMatcher,
  TOKEN_CLASS,
  tokenPattern,
} from './match.ts';
export { type ParsedQuery, parseQuery, QUERY_LIMITS } from './parse.ts';
export { printAggregate, printFilter, printQuery } from './print.ts';
export { type Row, runQuery } from './run.ts';
export {
  compareText,
  type FieldValue,
  foldCase,
  type Scalar,
  scalarsOf,
  toJson,
  toNumber,
  toText,
  toWholeNumber,
} from './value.ts';
