/** The log query language as a tree: a filter, then pipes. The grammar is in docs/query-language.md. */

/** Offsets into the query's text, in UTF-16 units; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const COMPARISONS = ['>', '>=', '<', '<='] as const;
export type Comparison = (typeof COMPARISONS)[number];

/**
 * What a field (or, without a field, the body) is held against.
 * - `word`: the body has it as whole tokens; a field equals it. ASCII letters match in either case.
 * - `phrase`: like `word`, written in quotes, so that it may hold anything.
 * - `glob`: text with `*` for any run of characters. `parts` are the texts between the stars, two or more.
 * - `compare`, `range`: by number when both sides are numbers, else by text. A bound that is null is open.
 * - `regex`: RE2 syntax, found anywhere in the value, case as written.
 * - `exists`: the field is there and not empty.
 */
export type Matcher =
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'phrase'; readonly text: string }
  | { readonly kind: 'glob'; readonly parts: readonly string[] }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly text: string }
  | { readonly kind: 'range'; readonly low: string | null; readonly high: string | null }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'exists' };

export interface MatchNode {
  readonly kind: 'match';
  /** Null: the body. */
  readonly field: string | null;
  readonly matcher: Matcher;
  readonly span: Span;
}

export type Filter =
  | { readonly kind: 'all' }
  | { readonly kind: 'and'; readonly items: readonly Filter[] }
  | { readonly kind: 'or'; readonly items: readonly Filter[] }
  | { readonly kind: 'not'; readonly item: Filter }
  | MatchNode;

export const AGGREGATES = ['count', 'uniq', 'sum', 'avg', 'min', 'max'] as const;
export type AggregateName = (typeof AGGREGATES)[number] | 'quantile';

export interface Aggregate {
  readonly name: AggregateName;
  /** Null for `count()`. */
  readonly field: string | null;
  /** In (0, 1), for `quantile` only: `p95(f)` is 0.95. */
  readonly quantile?: number;
  /** Name of the result column: what follows `as`, else the aggregate as it is printed. */
  readonly as: string;
}

export type Pipe =
  | { readonly kind: 'stats'; readonly aggregates: readonly Aggregate[]; readonly by: readonly string[] }
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'sort'; readonly field: string; readonly descending: boolean }
  | { readonly kind: 'limit'; readonly count: number };

export interface Query {
  readonly filter: Filter;
  readonly pipes: readonly Pipe[];
}

/** Why a query is not one, and where. */
export interface QueryProblem extends Span {
  readonly message: string;
  /** What to write instead, when there is something sure to say. */
  readonly fix?: string;
}
