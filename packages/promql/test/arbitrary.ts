/** Generators of well-typed expressions for property tests; everything comes from fast-check's seed. */
import fc from 'fast-check';
import type {
  Aggregate,
  AggregateOp,
  ArithmeticOp,
  Binary,
  Call,
  ComparisonOp,
  Expr,
  SetOp,
  VectorMatching,
  VectorSelector,
} from '../src/syntax/ast.ts';
import { withParens } from '../src/syntax/print.ts';
import { transform } from '../src/syntax/walk.ts';
import {
  type ArbitraryOptions,
  DEFAULT_OPTIONS,
  labels,
  literal,
  matrixSelector,
  numberLiteral,
  SPAN,
  selector,
  stringLiteral,
  subquery,
} from './arbitrary-leaves.ts';

export type { ArbitraryOptions };

const OVER_TIME =
  'avg_over_time count_over_time last_over_time max_over_time min_over_time present_over_time stddev_over_time ' +
  'stdvar_over_time sum_over_time changes delta deriv idelta increase irate rate resets absent_over_time';
const VECTOR_FUNCTIONS =
  'abs absent ceil exp floor ln log10 log2 sgn sort sort_desc sqrt timestamp acos acosh asin asinh atan atanh cos cosh ' +
  'deg rad sin sinh tan tanh day_of_month day_of_week day_of_year days_in_month hour minute month year round';
const AGGREGATIONS: readonly AggregateOp[] = ['sum', 'min', 'max', 'avg', 'group', 'stddev', 'stdvar', 'count'];
const ARITHMETIC: readonly ArithmeticOp[] = ['+', '-', '*', '/', '%', '^', 'atan2'];
const COMPARISON: readonly ComparisonOp[] = ['==', '!=', '>', '<', '>=', '<='];
const SETS: readonly SetOp[] = ['and', 'or', 'unless'];

export interface ExpressionArbitraries {
  readonly scalar: fc.Arbitrary<Expr>;
  readonly vector: fc.Arbitrary<Expr>;
  readonly matrix: fc.Arbitrary<Expr>;
  /** Any of them, strings included; vectors most often. */
  readonly any: fc.Arbitrary<Expr>;
}

/** Generators for expressions of each type. The trees are such as the parser makes them, apart from their spans. */
export function expressions(overrides: Partial<ArbitraryOptions> = {}): ExpressionArbitraries {
  const options = { ...DEFAULT_OPTIONS, ...overrides };
  let level: Level = leaves(options);
  for (let i = 0; i < options.depth; i++) level = deeper(level, options);
  const finish = (arbitrary: fc.Arbitrary<Expr>): fc.Arbitrary<Expr> => arbitrary.map(parserShape);
  const any = fc.oneof(
    { arbitrary: level.vector, weight: 8 },
    { arbitrary: level.scalar, weight: 2 },
    { arbitrary: level.matrix, weight: 1 },
    { arbitrary: stringLiteral(options), weight: options.odd ? 1 : 0 },
  );
  return { scalar: finish(level.scalar), vector: finish(level.vector), matrix: finish(level.matrix), any: finish(any) };
}

/** The tree with every span zeroed, for comparing trees. */
export function withoutSpans(expr: Expr): Expr {
  return transform(expr, (node) => {
    const bare = { ...node, span: SPAN };
    if (bare.kind !== 'vectorSelector') return bare;
    return { ...bare, matchers: bare.matchers.map((matcher) => ({ ...matcher, span: SPAN })) };
  });
}

/** Adds the parentheses the text needs, and folds signs into numbers as the parser does. */
function parserShape(expr: Expr): Expr {
  const folded = transform(expr, (node) => {
    if (node.kind !== 'unary' || node.expr.kind !== 'numberLiteral') return node;
    return node.op === '-' ? { ...node.expr, value: -node.expr.value } : node.expr;
  });
  return withParens(folded);
}

interface Level {
  readonly scalar: fc.Arbitrary<Expr>;
  readonly vector: fc.Arbitrary<Expr>;
  readonly matrix: fc.Arbitrary<Expr>;
}

function leaves(options: ArbitraryOptions): Level {
  return {
    scalar: fc.oneof(
      { arbitrary: numberLiteral(options), weight: 6 },
      { arbitrary: call('time', []), weight: 1 },
      { arbitrary: call('pi', []), weight: 1 },
    ),
    vector: selector(options),
    matrix: matrixSelector(options),
  };
}

function deeper(below: Level, options: ArbitraryOptions): Level {
  const { scalar, vector, matrix } = below;
  return {
    scalar: fc.oneof(
      { arbitrary: scalar, weight: 4 },
      { arbitrary: binary(fc.constantFrom(...ARITHMETIC), scalar, scalar, false), weight: 3 },
      { arbitrary: binary(fc.constantFrom(...COMPARISON), scalar, scalar, true), weight: 1 },
      { arbitrary: unary(scalar), weight: 1 },
      { arbitrary: paren(scalar), weight: 1 },
      { arbitrary: call('scalar', [vector]), weight: 1 },
    ),
    vector: fc.oneof(
      { arbitrary: vector, weight: 4 },
      { arbitrary: aggregation(vector, scalar, options), weight: 6 },
      { arbitrary: matchedBinary(vector, options), weight: 6 },
      { arbitrary: scalarBinary(scalar, vector), weight: 3 },
      { arbitrary: setOperation(vector, options), weight: 3 },
      { arbitrary: overTime(matrix, scalar, options), weight: 7 },
      { arbitrary: vectorFunction(vector, scalar, options), weight: 4 },
      { arbitrary: unary(vector), weight: 1 },
      { arbitrary: paren(vector), weight: 1 },
      { arbitrary: call('vector', [scalar]), weight: 1 },
      { arbitrary: randomBinary(vector, options), weight: options.odd ? 3 : 1 },
    ),
    matrix: fc.oneof({ arbitrary: matrix, weight: 3 }, { arbitrary: subquery(vector, options), weight: 2 }),
  };
}

function call(func: string, args: readonly fc.Arbitrary<Expr>[]): fc.Arbitrary<Call> {
  return fc.tuple(...args).map((each) => ({ kind: 'call', func, args: each, span: SPAN }));
}

function callOf(functions: string, options: ArbitraryOptions, ...args: fc.Arbitrary<Expr>[]): fc.Arbitrary<Call> {
  const allowed = functions.split(' ').filter((name) => !options.without.includes(name));
  return fc.constantFrom(...allowed).chain((name) => call(name, args));
}

function overTime(
  matrix: fc.Arbitrary<Expr>,
  scalar: fc.Arbitrary<Expr>,
  options: ArbitraryOptions,
): fc.Arbitrary<Expr> {
  return fc.oneof(
    { arbitrary: callOf(OVER_TIME, options, matrix), weight: 10 },
    { arbitrary: call('quantile_over_time', [scalar, matrix]), weight: 1 },
    { arbitrary: call('predict_linear', [matrix, scalar]), weight: 1 },
  );
}

function vectorFunction(
  vector: fc.Arbitrary<Expr>,
  scalar: fc.Arbitrary<Expr>,
  options: ArbitraryOptions,
): fc.Arbitrary<Expr> {
  const label = fc.constantFrom(...Object.keys(options.labels)).map(literal);
  const bucket = options.bucketMetric;
  return fc.oneof(
    { arbitrary: callOf(VECTOR_FUNCTIONS, options, vector), weight: 10 },
    { arbitrary: call('round', [vector, scalar]), weight: 1 },
    { arbitrary: call('clamp', [vector, scalar, scalar]), weight: 1 },
    { arbitrary: callOf('clamp_min clamp_max', options, vector, scalar), weight: 1 },
    {
      arbitrary: call('label_replace', [
        vector,
        label,
        fc.constantFrom('$1', 'x-${1}', '', '$0').map(literal),
        label,
        fc.constantFrom('(.*)', 'a(.).*', '.+').map(literal),
      ]),
      weight: 1,
    },
    { arbitrary: call('label_join', [vector, label, fc.constantFrom('-', '').map(literal), label, label]), weight: 1 },
    {
      arbitrary: call('histogram_quantile', [scalar, bucket === undefined ? vector : bucketRate(bucket, options)]),
      weight: 1,
    },
  );
}

/** `sum by (le, …) (rate(bucket[5m]))`, what histogram_quantile is for. */
function bucketRate(metric: string, options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({ grouping: labels(options), range: fc.constantFrom(...options.ranges) })
    .map(({ grouping, range }) => {
      const selected: VectorSelector = {
        kind: 'vectorSelector',
        name: metric,
        matchers: [],
        offset: 0,
        at: undefined,
        span: SPAN,
      };
      const rate: Call = {
        kind: 'call',
        func: 'rate',
        args: [{ kind: 'matrixSelector', selector: selected, range, span: SPAN }],
        span: SPAN,
      };
      return {
        kind: 'aggregate',
        op: 'sum',
        param: undefined,
        expr: rate,
        grouping: ['le', ...grouping],
        without: false,
        span: SPAN,
      };
    });
}

function aggregation(
  vector: fc.Arbitrary<Expr>,
  scalar: fc.Arbitrary<Expr>,
  options: ArbitraryOptions,
): fc.Arbitrary<Aggregate> {
  const ops = AGGREGATIONS.filter((op) => !options.without.includes(op));
  const plain = fc.record({ op: fc.constantFrom(...ops), param: fc.constant(undefined) });
  const ranked = fc.record({
    op: fc.constantFrom<AggregateOp>('topk', 'bottomk', 'quantile'),
    param: options.odd
      ? scalar
      : fc
          .constantFrom(0, 0.5, 1, 2, 3)
          .map((value): Expr => ({ kind: 'numberLiteral', value, duration: false, span: SPAN })),
  });
  const counted = fc.record({
    op: fc.constant<AggregateOp>('count_values'),
    param: fc.constant<Expr>(literal('value')),
  });
  return fc
    .record({
      head: fc.oneof(
        { arbitrary: plain, weight: 8 },
        { arbitrary: ranked, weight: 2 },
        { arbitrary: counted, weight: 1 },
      ),
      expr: vector,
      group: fc.oneof(
        { arbitrary: fc.constant({ grouping: [] as string[], without: false }), weight: 2 },
        { arbitrary: fc.record({ grouping: labels(options), without: fc.boolean() }), weight: 5 },
      ),
    })
    .map(({ head, expr, group }) => ({ kind: 'aggregate', ...head, expr, ...group, span: SPAN }));
}

function unary(inner: fc.Arbitrary<Expr>): fc.Arbitrary<Expr> {
  return fc
    .record({ op: fc.constantFrom('-' as const, '+' as const), expr: inner })
    .map((parts) => ({ kind: 'unary', ...parts, span: SPAN }));
}

function paren(inner: fc.Arbitrary<Expr>): fc.Arbitrary<Expr> {
  return inner.map((expr) => ({ kind: 'paren', expr, span: SPAN }));
}

function binary(
  op: fc.Arbitrary<Binary['op']>,
  left: fc.Arbitrary<Expr>,
  right: fc.Arbitrary<Expr>,
  bool: boolean,
): fc.Arbitrary<Expr> {
  return fc
    .record({ op, left, right })
    .map((parts) => ({ kind: 'binary', ...parts, bool, matching: undefined, span: SPAN }));
}

/** A scalar with a vector, on either side. */
function scalarBinary(scalar: fc.Arbitrary<Expr>, vector: fc.Arbitrary<Expr>): fc.Arbitrary<Expr> {
  const pair = fc.oneof(fc.tuple(scalar, vector), fc.tuple(vector, scalar));
  return fc.record({ op: operator(), pair }).map(({ op, pair: [left, right] }) => ({
    kind: 'binary',
    ...op,
    left,
    right,
    matching: undefined,
    span: SPAN,
  }));
}

function operator(): fc.Arbitrary<{ op: ArithmeticOp | ComparisonOp; bool: boolean }> {
  return fc.oneof(
    fc.record({ op: fc.constantFrom(...ARITHMETIC), bool: fc.constant(false) }),
    fc.record({ op: fc.constantFrom(...COMPARISON), bool: fc.boolean() }),
  );
}

/** Two vectors that match when evaluated: both grouped by the same labels, or many to one with group_left or group_right. */
function matchedBinary(vector: fc.Arbitrary<Expr>, options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({
      op: operator(),
      many: vector,
      one: vector,
      grouping: labels(options),
      include: labels(options),
      card: fc.constantFrom(
        'one-to-one' as const,
        'one-to-one' as const,
        'many-to-one' as const,
        'one-to-many' as const,
      ),
      on: fc.boolean(),
      aggregations: fc.tuple(fc.constantFrom(...AGGREGATIONS), fc.constantFrom(...AGGREGATIONS)),
    })
    .map(({ op, many, one, grouping, include, card, on, aggregations }): Expr => {
      const grouped = (expr: Expr, index: 0 | 1): Expr => ({
        kind: 'aggregate',
        op: aggregations[index],
        param: undefined,
        expr,
        grouping,
        without: false,
        span: SPAN,
      });
      const base = { kind: 'binary' as const, ...op, span: SPAN };
      if (card === 'one-to-one') {
        const matching: VectorMatching = { card, on, labels: on ? grouping : [], include: [] };
        return { ...base, left: grouped(many, 0), right: grouped(one, 1), matching };
      }
      const extra = options.odd ? include.filter((label) => !grouping.includes(label)) : [];
      const matching: VectorMatching = { card, on: true, labels: grouping, include: extra };
      if (card === 'many-to-one') return { ...base, left: many, right: grouped(one, 1), matching };
      return { ...base, left: grouped(one, 1), right: many, matching };
    });
}

/** Two vectors with any matching; when evaluated often an error or nothing. */
function randomBinary(vector: fc.Arbitrary<Expr>, options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({ op: operator(), left: vector, right: vector, on: fc.boolean(), labels: labels(options) })
    .map((parts) => {
      const { op, left, right, on, labels: names } = parts;
      return {
        kind: 'binary',
        ...op,
        left,
        right,
        matching: { card: 'one-to-one', on, labels: names, include: [] },
        span: SPAN,
      };
    });
}

function setOperation(vector: fc.Arbitrary<Expr>, options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({ op: fc.constantFrom(...SETS), left: vector, right: vector, on: fc.boolean(), labels: labels(options) })
    .map(({ op, left, right, on, labels: names }) => ({
      kind: 'binary',
      op,
      left,
      right,
      bool: false,
      matching: { card: 'many-to-many', on, labels: names, include: [] },
      span: SPAN,
    }));
}
