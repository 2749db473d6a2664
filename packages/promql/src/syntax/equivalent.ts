/** When two queries mean the same: white space, order of labels, parentheses and spelling do not count. */
import type { Expr, Matcher, VectorMatching, VectorSelector } from './ast.ts';
import { METRIC_NAME } from './ast.ts';
import { type ParseOptions, parse } from './parser.ts';
import { print, printMatcher } from './print.ts';
import { transform } from './walk.ts';

/**
 * True when two trees differ only in ways that cannot change a result: redundant parentheses and plus signs, order of
 * matchers and labels, spelling of numbers, durations, strings and the metric name. Operands are not reordered.
 */
export function equivalent(a: Expr, b: Expr): boolean {
  return canonicalText(a) === canonicalText(b);
}

/** The same for query texts; a text that does not parse is equivalent only to itself. */
export function equivalentQueries(a: string, b: string, options: ParseOptions = {}): boolean {
  if (a === b) return true;
  const left = parse(a, options);
  const right = parse(b, options);
  return left.ok && right.ok && equivalent(left.expr, right.expr);
}

/** A text that is the same for all equivalent trees; a key for finding equal queries. */
export function canonicalText(expr: Expr): string {
  return print(transform(expr, canonicalNode));
}

function canonicalNode(node: Expr): Expr {
  switch (node.kind) {
    case 'numberLiteral':
      return node.duration ? { ...node, duration: false } : node;
    case 'paren':
      return node.expr;
    case 'unary':
      if (node.op === '+') return node.expr;
      return node.expr.kind === 'numberLiteral' ? { ...node.expr, value: -node.expr.value } : node;
    case 'vectorSelector':
      return canonicalSelector(node);
    case 'aggregate':
      return { ...node, grouping: sortedOnce(node.grouping) };
    case 'binary':
      return node.matching === undefined ? node : { ...node, matching: canonicalMatching(node.matching) };
    default:
      return node;
  }
}

function canonicalMatching(matching: VectorMatching): VectorMatching {
  return { ...matching, labels: sortedOnce(matching.labels), include: sortedOnce(matching.include) };
}

function canonicalSelector(selector: VectorSelector): VectorSelector {
  let { name, matchers } = selector;
  const named = matchers.filter((matcher) => matcher.label === METRIC_NAME);
  if (name === undefined && named.length === 1 && named[0]!.op === '=') {
    name = named[0]!.value;
    matchers = matchers.filter((matcher) => matcher.label !== METRIC_NAME);
  }
  const byText = new Map<string, Matcher>(matchers.map((matcher) => [printMatcher(matcher), matcher]));
  const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, matcher]) => matcher);
  return { ...selector, name, matchers: sorted };
}

function sortedOnce(labels: readonly string[]): string[] {
  return [...new Set(labels)].sort();
}
