/** The syntax tree of a PromQL expression: what the parser makes, the printer writes and the evaluator walks. */

/** A stretch of the query text: UTF-16 offsets, `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What an expression yields; the words of Prometheus' own parse tree. */
export type ValueType = 'scalar' | 'string' | 'vector' | 'matrix';

export type MatchOp = '=' | '!=' | '=~' | '!~';

/** One label matcher of a selector, for example `job=~"api.*"`. `value` is unescaped. */
export interface Matcher {
  readonly label: string;
  readonly op: MatchOp;
  readonly value: string;
  readonly span: Span;
}

/** The `@` modifier: a fixed time (`timestamp` in milliseconds since 1970) or an end of the outermost query range. */
export type AtModifier =
  | { readonly kind: 'timestamp'; readonly timestamp: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' };

export interface NumberLiteral {
  readonly kind: 'numberLiteral';
  readonly value: number;
  /** Written as a duration (`5m` is the number 300). Printing keeps the form; `equivalent` does not look at it. */
  readonly duration: boolean;
  readonly span: Span;
}

export interface StringLiteral {
  readonly kind: 'stringLiteral';
  readonly value: string;
  readonly span: Span;
}

/** An instant vector selector. */
export interface VectorSelector {
  readonly kind: 'vectorSelector';
  /** The metric name, when written before the braces or quoted inside them. `{__name__="x"}` stays a matcher. */
  readonly name: string | undefined;
  /** The matchers in braces, in source order, without the metric name. */
  readonly matchers: readonly Matcher[];
  /** Milliseconds to look back; negative looks ahead. */
  readonly offset: number;
  readonly at: AtModifier | undefined;
  readonly span: Span;
}

/** A range vector selector, `selector[range]`. Offset and `@` stand in the inner selector. */
export interface MatrixSelector {
  readonly kind: 'matrixSelector';
  readonly selector: VectorSelector;
  /** Milliseconds. */
  readonly range: number;
  readonly span: Span;
}

/** `expr[range:step]`. */
export interface Subquery {
  readonly kind: 'subquery';
  readonly expr: Expr;
  /** Milliseconds. */
  readonly range: number;
  /** Milliseconds; undefined means the default evaluation interval. */
  readonly step: number | undefined;
  readonly offset: number;
  readonly at: AtModifier | undefined;
  readonly span: Span;
}

/** A function call. `func` is a key of `FUNCTIONS`. */
export interface Call {
  readonly kind: 'call';
  readonly func: string;
  readonly args: readonly Expr[];
  readonly span: Span;
}

export type AggregateOp =
  | 'sum'
  | 'min'
  | 'max'
  | 'avg'
  | 'group'
  | 'stddev'
  | 'stdvar'
  | 'count'
  | 'count_values'
  | 'bottomk'
  | 'topk'
  | 'quantile'
  | 'limitk'
  | 'limit_ratio';

export interface Aggregate {
  readonly kind: 'aggregate';
  readonly op: AggregateOp;
  /** The first argument of count_values (string), bottomk, topk, quantile, limitk and limit_ratio (scalar). */
  readonly param: Expr | undefined;
  readonly expr: Expr;
  /** The labels of `by (…)` or `without (…)`, in source order. */
  readonly grouping: readonly string[];
  readonly without: boolean;
  readonly span: Span;
}

export type ArithmeticOp = '+' | '-' | '*' | '/' | '%' | '^' | 'atan2';
export type ComparisonOp = '==' | '!=' | '>' | '<' | '>=' | '<=';
export type SetOp = 'and' | 'or' | 'unless';
export type BinaryOp = ArithmeticOp | ComparisonOp | SetOp;

export type Cardinality = 'one-to-one' | 'many-to-one' | 'one-to-many' | 'many-to-many';

/** How the series of the two sides find each other. */
export interface VectorMatching {
  /** `many-to-one` is group_left, `one-to-many` group_right, `many-to-many` every set operator. */
  readonly card: Cardinality;
  /** True for `on (labels)`, false for `ignoring (labels)` and for neither. */
  readonly on: boolean;
  readonly labels: readonly string[];
  /** The labels of group_left or group_right. */
  readonly include: readonly string[];
}

/**
 * A binary expression. A chain such as `a + b + c + …` is a deep left spine (thousands of nodes are legal), so
 * whoever walks the tree must go down `left` in a loop: see `leftSpine` in walk.ts. Every other nesting is limited
 * to `MAX_NESTING` by the parser.
 */
export interface Binary {
  readonly kind: 'binary';
  readonly op: BinaryOp;
  readonly left: Expr;
  readonly right: Expr;
  /** The `bool` modifier of a comparison. */
  readonly bool: boolean;
  /** Defined exactly when both sides are vectors. */
  readonly matching: VectorMatching | undefined;
  readonly span: Span;
}

export interface Unary {
  readonly kind: 'unary';
  readonly op: '+' | '-';
  readonly expr: Expr;
  readonly span: Span;
}

export interface Paren {
  readonly kind: 'paren';
  readonly expr: Expr;
  readonly span: Span;
}

/**
 * Something only VictoriaMetrics takes; made by the `metricsql` dialect alone. `parts` gives the text with the
 * expressions inside it, so that selectors can still be found and rewritten and the whole printed again.
 */
export interface Opaque {
  readonly kind: 'opaque';
  readonly parts: readonly (string | Expr)[];
  /** True when selectors stand in the text where a rewrite cannot reach them. */
  readonly hidesSelectors: boolean;
  readonly span: Span;
}

export type Expr =
  | NumberLiteral
  | StringLiteral
  | VectorSelector
  | MatrixSelector
  | Subquery
  | Call
  | Aggregate
  | Binary
  | Unary
  | Paren
  | Opaque;

/** The deepest nesting the parser takes (parentheses, calls, signs, right-hand sides). */
export const MAX_NESTING = 400;

/** The label that holds a metric's name. */
export const METRIC_NAME = '__name__';
