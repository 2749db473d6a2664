/** What the tree of a query tells about the series that it gives: the ground of the warnings. */
import { type Binary, childrenOf, type Expr, type Span, unwrap, walk } from '@obsiac/promql';

/** A rule looks at a query once a minute. */
const STEP_MS = 60_000;

const NEEDS_TWO_SAMPLES: ReadonlySet<string> = new Set(['rate', 'irate', 'increase', 'delta', 'idelta', 'deriv']);

/** A call such as `rate(x[1m])` whose window is shorter than two samples are apart. */
export interface ShortRange {
  readonly func: string;
  readonly span: Span;
}

export function shortRanges(expr: Expr): readonly ShortRange[] {
  const found: ShortRange[] = [];
  walk(expr, (node) => {
    if (node.kind !== 'call' || !NEEDS_TWO_SAMPLES.has(node.func)) return;
    const arg = node.args[0] && unwrap(node.args[0]);
    if (arg?.kind === 'matrixSelector' && arg.range < 2 * STEP_MS) found.push({ func: node.func, span: arg.span });
    if (arg?.kind === 'subquery' && arg.range < 2 * (arg.step ?? STEP_MS))
      found.push({ func: node.func, span: arg.span });
  });
  return found;
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '>', '<', '>=', '<=']);

/**
 * The comparisons that leave out good minutes: those without `bool` whose series reach the result. `or` gives the
 * missing minutes another value, and the right sides of `and` and `unless` are conditions, so these end the search.
 */
export function droppingComparisons(expr: Expr): readonly Binary[] {
  const found: Binary[] = [];
  const pending = [expr];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.kind === 'binary') {
      if (node.op === 'or') continue;
      if (node.op === 'and' || node.op === 'unless') {
        pending.push(node.left);
        continue;
      }
      // Between two scalars there is nothing to drop, and the parser asks for bool.
      if (COMPARISONS.has(node.op) && !node.bool) found.push(node);
    }
    if (node.kind === 'call' && node.func.startsWith('absent')) continue;
    if (node.kind === 'subquery' || node.kind === 'opaque') continue;
    pending.push(...childrenOf(node));
  }
  return found.toSorted((a, b) => a.span.from - b.span.from);
}

const PICKS_SERIES: ReadonlySet<string> = new Set(['topk', 'bottomk', 'limitk', 'limit_ratio', 'count_values']);

/** The aggregation without `by` that makes the result one series without labels; undefined when there is none. */
export function aggregationToOneSeries(expr: Expr): Expr | undefined {
  let node: Expr | undefined = unwrap(expr);
  while (node) {
    if (node.kind === 'aggregate') {
      return !node.without && node.grouping.length === 0 && !PICKS_SERIES.has(node.op) ? node : undefined;
    }
    node = labelSource(node);
  }
  return undefined;
}

/** The operand whose labels the result has, where that can be told. */
function labelSource(node: Expr): Expr | undefined {
  if (node.kind === 'unary') return unwrap(node.expr);
  if (node.kind === 'call') {
    const arg = node.args.length === 1 && node.args[0] && unwrap(node.args[0]);
    return arg && arg.kind !== 'matrixSelector' ? arg : undefined;
  }
  if (node.kind !== 'binary' || node.op === 'or') return undefined;
  const isGrouped = node.matching?.card === 'many-to-one' || node.matching?.card === 'one-to-many';
  return isGrouped ? undefined : unwrap(isScalar(node.left) ? node.right : node.left);
}

/** The selector whose last value is the value of the query, so that it outlives the series by the lookback. */
export function bareSelector(expr: Expr): Expr | undefined {
  let node = unwrap(expr);
  for (;;) {
    if (node.kind === 'vectorSelector') return node;
    if (node.kind === 'unary') node = unwrap(node.expr);
    else if (node.kind !== 'binary' || node.op === 'or') return undefined;
    else if (isScalar(node.right)) node = unwrap(node.left);
    else if (isScalar(node.left)) node = unwrap(node.right);
    else return undefined;
  }
}

function isScalar(expr: Expr): boolean {
  const node = unwrap(expr);
  return (
    node.kind === 'numberLiteral' ||
    (node.kind === 'unary' && isScalar(node.expr)) ||
    (node.kind === 'call' && node.func === 'scalar')
  );
}
