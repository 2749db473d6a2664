/** Generators of the leaves of expressions: numbers, strings, matchers, selectors, ranges; and what they are made from. */
import fc from 'fast-check';
import type {
  AtModifier,
  Expr,
  Matcher,
  MatchOp,
  NumberLiteral,
  StringLiteral,
  VectorSelector,
} from '../src/syntax/ast.ts';

export const SPAN = { from: 0, to: 0 };

/** What the generated expressions speak of. The defaults fit a printer test; an evaluation test gives its own data. */
export interface ArbitraryOptions {
  readonly metrics: readonly string[];
  /** Label names with the values they take. */
  readonly labels: Readonly<Record<string, readonly string[]>>;
  /** The metric that holds classic histogram buckets (label `le`), for histogram_quantile. */
  readonly bucketMetric: string | undefined;
  /** Milliseconds. */
  readonly ranges: readonly number[];
  readonly steps: readonly number[];
  readonly offsets: readonly number[];
  /** Times for `@`, milliseconds since 1970. */
  readonly timestamps: readonly number[];
  /** Functions and aggregations to leave out. */
  readonly without: readonly string[];
  /** Also odd strings, quoted names, unusual numbers and matching that would fail when evaluated. */
  readonly odd: boolean;
  /** Levels of nesting. */
  readonly depth: number;
}

export const DEFAULT_OPTIONS: ArbitraryOptions = {
  metrics: ['up', 'http_requests_total', 'node:load', 'sum', 'my.metric', 'on', 'offset', 'Zähler'],
  labels: {
    job: ['api', 'web', ''],
    instance: ['a:80', 'b"c\\d', '日本'],
    'a.b': ['x\ny'],
    by: ['1'],
    inf: ['2'],
    without: ['3'],
  },
  bucketMetric: 'latency_bucket',
  ranges: [1, 1000, 60_000, 5_400_000, 86_400_000, 31_536_000_000, 93_784_005],
  steps: [1_000, 30_000, 3_600_000],
  offsets: [0, 1, -1, 60_000, -3_600_000, 604_800_000],
  timestamps: [0, 1, -5_500, 1_609_746_000_123],
  without: [],
  odd: true,
  depth: 4,
};

export function stringLiteral(options: ArbitraryOptions): fc.Arbitrary<StringLiteral> {
  const text = options.odd ? oddString() : fc.constantFrom('a', 'b-c');
  return text.map((value) => ({ kind: 'stringLiteral', value, span: SPAN }));
}

/** Strings that survive UTF-8: no lone surrogates, no U+FFFD as such. */
function oddString(): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('', '\\', '"', '`', "'", '\n\t\r', '\u0007\u0000', '$1', '😀'),
    )
    .filter((text) => text.isWellFormed() && !text.includes('\ufffd'));
}

export function numberLiteral(options: ArbitraryOptions): fc.Arbitrary<NumberLiteral> {
  const plain = fc.constantFrom(0, 1, 2, 0.5, 10, 100, 3600);
  const value = options.odd
    ? fc.oneof(plain, fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -Infinity, 1e21, 5e-324, -0))
    : plain;
  const number = value.map(
    (each): NumberLiteral => ({ kind: 'numberLiteral', value: each, duration: false, span: SPAN }),
  );
  const duration = fc
    .constantFrom(...options.ranges)
    .map((ms): NumberLiteral => ({ kind: 'numberLiteral', value: ms / 1000, duration: true, span: SPAN }));
  return fc.oneof({ arbitrary: number, weight: 9 }, { arbitrary: duration, weight: 1 });
}

function matcher(options: ArbitraryOptions): fc.Arbitrary<Matcher> {
  return fc.constantFrom(...Object.keys(options.labels)).chain((label) => {
    const values = options.labels[label]!;
    const exact = fc.record({ op: fc.constantFrom<MatchOp>('=', '!='), value: fc.constantFrom(...values, 'none') });
    const patterns = [
      ...values.map(escapeRegex),
      values.map(escapeRegex).join('|'),
      '.*',
      '.+',
      `${escapeRegex(values[0]!.slice(0, 1))}.*`,
      '(?i:A).*',
      '[a-z]+',
    ];
    const regex = fc.record({ op: fc.constantFrom<MatchOp>('=~', '!~'), value: fc.constantFrom(...patterns) });
    return fc
      .oneof({ arbitrary: exact, weight: 2 }, { arbitrary: regex, weight: 1 })
      .map((part) => ({ label, ...part, span: SPAN }));
  });
}

function escapeRegex(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}

function at(options: ArbitraryOptions): fc.Arbitrary<AtModifier | undefined> {
  return fc.oneof(
    { arbitrary: fc.constant(undefined), weight: 8 },
    {
      arbitrary: fc
        .constantFrom(...options.timestamps)
        .map((timestamp): AtModifier => ({ kind: 'timestamp', timestamp })),
      weight: 1,
    },
    { arbitrary: fc.constantFrom<AtModifier>({ kind: 'start' }, { kind: 'end' }), weight: 1 },
  );
}

function offset(options: ArbitraryOptions): fc.Arbitrary<number> {
  return fc.oneof(
    { arbitrary: fc.constant(0), weight: 4 },
    { arbitrary: fc.constantFrom(...options.offsets), weight: 1 },
  );
}

export function selector(options: ArbitraryOptions): fc.Arbitrary<VectorSelector> {
  const nameless = fc
    .constantFrom(...options.metrics)
    .map((name): Matcher => ({ label: '__name__', op: '=~', value: `${escapeRegex(name)}|none`, span: SPAN }));
  return fc
    .record({
      name: fc.oneof(
        { arbitrary: fc.constantFrom(...options.metrics), weight: 9 },
        { arbitrary: fc.constant(undefined), weight: options.odd ? 2 : 0 },
      ),
      matchers: fc.oneof(
        { arbitrary: fc.constant<Matcher[]>([]), weight: 2 },
        { arbitrary: fc.array(matcher(options), { minLength: 1, maxLength: 3 }), weight: 2 },
      ),
      own: nameless,
      offset: offset(options),
      at: at(options),
    })
    .map(({ name, matchers, own, ...shift }) => ({
      kind: 'vectorSelector',
      name,
      // Without a name one matcher must refuse the empty value.
      matchers: name === undefined ? [...matchers, own] : matchers,
      ...shift,
      span: SPAN,
    }));
}

export function matrixSelector(options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({ selector: selector(options), range: fc.constantFrom(...options.ranges) })
    .map((parts) => ({ kind: 'matrixSelector', ...parts, span: SPAN }));
}

export function subquery(vector: fc.Arbitrary<Expr>, options: ArbitraryOptions): fc.Arbitrary<Expr> {
  return fc
    .record({
      expr: vector,
      range: fc.constantFrom(...options.ranges),
      step: fc.constantFrom(undefined, ...options.steps),
      offset: offset(options),
      at: at(options),
    })
    .map((parts) => ({ kind: 'subquery', ...parts, span: SPAN }));
}

export function literal(value: string): StringLiteral {
  return { kind: 'stringLiteral', value, span: SPAN };
}

export function labels(options: ArbitraryOptions): fc.Arbitrary<string[]> {
  return fc.subarray(Object.keys(options.labels), { maxLength: 2 });
}
