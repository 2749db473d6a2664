/** What can go wrong while a query runs: a thrown error with a closed code. */
import type { Span } from '../syntax/ast.ts';

export type QueryErrorCode =
  /** The time range or the step makes no sense, or the expression's type cannot be asked for over a range. */
  | 'bad_range'
  /** A limit: see `Limits`. */
  | 'too_many_steps'
  | 'too_many_series'
  | 'too_many_samples'
  | 'too_deep'
  | 'timeout'
  | 'aborted'
  /** Two series of a result have the same labels at the same time. */
  | 'duplicate_series'
  /** The side of a vector match that must be unique is not. */
  | 'many_to_many'
  /** Several series match one without group_left or group_right, or these give equal labels. */
  | 'multiple_matches'
  /** The value of a parameter is out of range. */
  | 'bad_parameter'
  /** A function's label name or regular expression is invalid. */
  | 'bad_label'
  | 'bad_regex'
  /** Native histograms, experimental functions, MetricsQL: known, but not evaluated. */
  | 'unsupported';

/** A query that cannot be answered. `span` is the part of the query text it is about, where there is one. */
export class QueryError extends Error {
  readonly code: QueryErrorCode;
  readonly span: Span | undefined;

  constructor(code: QueryErrorCode, message: string, span?: Span) {
    super(message);
    this.name = 'QueryError';
    this.code = code;
    this.span = span;
  }
}
