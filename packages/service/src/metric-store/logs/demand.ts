/** Finds what a query needs of each selector over the logs: by which labels its records must be told apart, and how closely in time. */
import {
  type Aggregate,
  type Call,
  type Expr,
  type LabelMatcher,
  leftSpine,
  METRIC_NAME,
  matchersOf,
  type VectorSelector,
  walk,
} from '@obsiac/promql';

/**
 * Which labels the series of a selector must have.
 * - `by`: a sum over the selector keeps these alone; records may be counted together by them.
 * - `without`: a sum drops these alone.
 * - `all`: anything may depend on every label.
 */
export type Grouping =
  | { readonly kind: 'by' | 'without'; readonly labels: ReadonlySet<string> }
  | { readonly kind: 'all' };

export interface Demand {
  readonly grouping: Grouping;
  /** Milliseconds between samples: steps and windows of the query are multiples of it. */
  readonly interval: number;
}

export interface Demands {
  of(matchers: readonly LabelMatcher[]): Demand;
  /** Every label that the query names. */
  readonly named: ReadonlySet<string>;
}

/** Samples are at most this far apart. */
const MINUTE = 60_000;
/** Samples are not closer than this for the sake of windows that do not fit the steps. */
const CLOSEST = 1_000;
const ALL: Grouping = { kind: 'all' };

/** @param step milliseconds; undefined for an instant query */
export function demandsOf(expr: Expr, step: number | undefined): Demands {
  const found = new Map<string, Demand>();
  new Visitor(found).visit(expr, ALL, step);
  return {
    of: (matchers) => found.get(keyOf(matchers)) ?? { grouping: ALL, interval: MINUTE },
    named: namedLabels(expr),
  };
}

function keyOf(matchers: readonly LabelMatcher[]): string {
  return JSON.stringify(matchers.map(({ label, op, value }) => [label, op, value]));
}

/**
 * Functions whose sum over series is the function of the summed series, given that all have samples at the same times: then it makes no
 * difference whether records are counted together before or after. The counters here begin at zero together and are never reset.
 */
const ADDITIVE: ReadonlySet<string> = new Set([
  'rate',
  'increase',
  'delta',
  'irate',
  'idelta',
  'deriv',
  'predict_linear',
  'sum_over_time',
  'avg_over_time',
  'last_over_time',
]);

class Visitor {
  readonly #found: Map<string, Demand>;

  constructor(found: Map<string, Demand>) {
    this.#found = found;
  }

  /** @param grouping what is asked of the series of this expression, where each step up to a sum is additive; else `all` */
  visit(expr: Expr, grouping: Grouping, step: number | undefined): void {
    switch (expr.kind) {
      case 'numberLiteral':
      case 'stringLiteral':
        return;
      case 'vectorSelector':
        this.#note(expr, grouping, [step]);
        return;
      case 'matrixSelector':
        this.#note(expr.selector, grouping, [step, expr.range]);
        return;
      case 'subquery':
        // The steps of a subquery lie on multiples of its own step.
        this.visit(expr.expr, grouping, expr.step ?? MINUTE);
        return;
      case 'paren':
      case 'unary':
        this.visit(expr.expr, grouping, step);
        return;
      case 'call':
        this.#call(expr, grouping, step);
        return;
      case 'aggregate':
        if (expr.param) this.visit(expr.param, ALL, step);
        this.visit(expr.expr, groupingOf(expr), step);
        return;
      case 'binary': {
        const spine = leftSpine(expr);
        this.visit(spine[0]!.left, ALL, step);
        for (const node of spine) this.visit(node.right, ALL, step);
        return;
      }
      case 'opaque':
        for (const part of expr.parts) if (typeof part !== 'string') this.visit(part, ALL, step);
    }
  }

  #call({ func, args }: Call, grouping: Grouping, step: number | undefined): void {
    const inner = ADDITIVE.has(func) ? grouping : ALL;
    for (const arg of args) this.visit(arg, inner, step);
  }

  /** The same selector may stand in a query several times; what is read for it serves all. */
  #note(selector: VectorSelector, grouping: Grouping, spans: readonly (number | undefined)[]): void {
    const key = keyOf(matchersOf(selector));
    const known = this.#found.get(key);
    const interval = commonInterval([MINUTE, ...spans, known?.interval]);
    this.#found.set(key, { grouping: known === undefined ? grouping : union(known.grouping, grouping), interval });
  }
}

function groupingOf({ op, without, grouping }: Aggregate): Grouping {
  if (op !== 'sum') return ALL;
  return { kind: without ? 'without' : 'by', labels: new Set(grouping) };
}

function union(a: Grouping, b: Grouping): Grouping {
  if (a.kind === 'by' && b.kind === 'by') return { kind: 'by', labels: new Set([...a.labels, ...b.labels]) };
  if (a.kind === 'without' && b.kind === 'without') {
    return { kind: 'without', labels: new Set([...a.labels].filter((label) => b.labels.has(label))) };
  }
  return ALL;
}

/** The largest span of which all are multiples. Where that is tiny, the smallest of them. */
function commonInterval(spans: readonly (number | undefined)[]): number {
  const given = spans.filter((span) => span !== undefined && span > 0) as number[];
  const common = given.reduce(greatestDivisor);
  return common >= CLOSEST ? common : Math.min(...given);
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}

function namedLabels(expr: Expr): Set<string> {
  const named = new Set<string>();
  const add = (labels: readonly string[]) => {
    for (const label of labels) named.add(label);
  };
  walk(expr, (node) => {
    if (node.kind === 'vectorSelector') add(matchersOf(node).map(({ label }) => label));
    else if (node.kind === 'aggregate') add(node.grouping);
    else if (node.kind === 'binary' && node.matching) add([...node.matching.labels, ...node.matching.include]);
    else if (node.kind === 'call' && node.func.startsWith('label_')) {
      // The texts among the arguments: labels that are read, and some others that are no labels here.
      add(node.args.filter((arg) => arg.kind === 'stringLiteral').map((arg) => arg.value));
    } else if (node.kind === 'call' && node.func.startsWith('sort_by_label')) {
      add(node.args.filter((arg) => arg.kind === 'stringLiteral').map((arg) => arg.value));
    }
  });
  named.delete(METRIC_NAME);
  return named;
}
