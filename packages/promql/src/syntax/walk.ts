/** Visits and rewrites syntax trees; safe for operator chains of any length. */
import type { Binary, Expr, Matcher, Opaque, ValueType, VectorSelector } from './ast.ts';
import { METRIC_NAME } from './ast.ts';
import { FUNCTIONS } from './functions.ts';

/** The binary nodes down the left side, innermost first: `a + b + c` gives [a + b, (a + b) + c]. */
export function leftSpine(expr: Binary): Binary[] {
  const spine: Binary[] = [];
  for (let node: Expr = expr; node.kind === 'binary'; node = node.left) spine.push(node);
  return spine.reverse();
}

/** The direct children of a node, in the order of the text. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'numberLiteral':
    case 'stringLiteral':
    case 'vectorSelector':
      return [];
    case 'matrixSelector':
      return [expr.selector];
    case 'subquery':
    case 'unary':
    case 'paren':
      return [expr.expr];
    case 'call':
      return expr.args;
    case 'aggregate':
      return expr.param === undefined ? [expr.expr] : [expr.param, expr.expr];
    case 'binary':
      return [expr.left, expr.right];
    case 'opaque':
      return expr.parts.filter((part) => typeof part !== 'string');
  }
}

/** Calls `visit` for every node, parents before children, left before right. */
export function walk(expr: Expr, visit: (node: Expr) => void): void {
  const pending: Expr[] = [expr];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    visit(node);
    const children = childrenOf(node);
    for (let i = children.length - 1; i >= 0; i--) pending.push(children[i]!);
  }
}

/**
 * Rebuilds a tree from the leaves up: `change` gets each node with its children already changed and gives what stands
 * in its place. Untouched parts are shared with the old tree. The selector inside a matrix selector is passed to
 * `change` too and must stay a selector.
 */
export function transform(expr: Expr, change: (node: Expr) => Expr): Expr {
  if (expr.kind !== 'binary') return change(withChildren(expr, (child) => transform(child, change)));
  const spine = leftSpine(expr);
  let left = transform(spine[0]!.left, change);
  for (const node of spine) {
    const right = transform(node.right, change);
    left = change(left === node.left && right === node.right ? node : { ...node, left, right });
  }
  return left;
}

function withChildren(expr: Exclude<Expr, Binary>, map: (child: Expr) => Expr): Expr {
  switch (expr.kind) {
    case 'numberLiteral':
    case 'stringLiteral':
    case 'vectorSelector':
      return expr;
    case 'matrixSelector': {
      const selector = map(expr.selector);
      if (selector.kind !== 'vectorSelector') throw new Error('a matrix selector needs a vector selector inside');
      return selector === expr.selector ? expr : { ...expr, selector };
    }
    case 'subquery':
    case 'unary':
    case 'paren': {
      const inner = map(expr.expr);
      return inner === expr.expr ? expr : { ...expr, expr: inner };
    }
    case 'call': {
      const args = mapAll(expr.args, map);
      return args === expr.args ? expr : { ...expr, args };
    }
    case 'aggregate': {
      const param = expr.param === undefined ? undefined : map(expr.param);
      const inner = map(expr.expr);
      return param === expr.param && inner === expr.expr ? expr : { ...expr, param, expr: inner };
    }
    case 'opaque': {
      const parts = mapAll(expr.parts, (part) => (typeof part === 'string' ? part : map(part)));
      return parts === expr.parts ? expr : ({ ...expr, parts } satisfies Opaque);
    }
  }
}

/** Maps an array; gives the same array back when nothing changed. */
function mapAll<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  const mapped = items.map(map);
  return mapped.every((item, i) => item === items[i]) ? items : mapped;
}

/** Puts `change(selector)` in the place of every vector selector, those of range selectors included. */
export function mapSelectors(expr: Expr, change: (selector: VectorSelector) => VectorSelector): Expr {
  return transform(expr, (node) => (node.kind === 'vectorSelector' ? change(node) : node));
}

/** Every vector selector, in the order of the text. */
export function selectorsOf(expr: Expr): VectorSelector[] {
  const found: VectorSelector[] = [];
  walk(expr, (node) => {
    if (node.kind === 'vectorSelector') found.push(node);
  });
  return found;
}

/** All conditions of a selector, the metric name's own (as a matcher on `__name__`) first. */
export function matchersOf(selector: VectorSelector): readonly Matcher[] {
  if (selector.name === undefined) return selector.matchers;
  return [{ label: METRIC_NAME, op: '=', value: selector.name, span: selector.span }, ...selector.matchers];
}

/** The expression inside any parentheses around it. */
export function unwrap(expr: Expr): Expr {
  let inner = expr;
  while (inner.kind === 'paren') inner = inner.expr;
  return inner;
}

/** The type of a well-typed expression. An opaque node counts as an instant vector. */
export function typeOf(expr: Expr): ValueType {
  let node = expr;
  for (;;) {
    switch (node.kind) {
      case 'numberLiteral':
        return 'scalar';
      case 'stringLiteral':
        return 'string';
      case 'matrixSelector':
      case 'subquery':
        return 'matrix';
      case 'call':
        return FUNCTIONS.get(node.func)?.returns ?? 'vector';
      case 'unary':
      case 'paren':
        node = node.expr;
        break;
      case 'binary':
        // Two scalars give a scalar; the right side first, since the left may be a long chain.
        if (node.matching !== undefined || typeOf(node.right) !== 'scalar') return 'vector';
        node = node.left;
        break;
      default:
        return 'vector';
    }
  }
}
