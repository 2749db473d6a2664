/** The type rules of PromQL, checked over a tree; all violations are collected. */
import type { Aggregate, Binary, Call, Expr, Matcher, Subquery, Unary, ValueType, VectorSelector } from './ast.ts';
import { AGGREGATES, FUNCTIONS } from './functions.ts';
import { problemAt, type QueryProblem } from './problem.ts';
import { compileRegex } from './regex.ts';
import { leftSpine, unwrap } from './walk.ts';

/** `any` is the type of what only VictoriaMetrics understands: it fits everywhere. */
type CheckedType = ValueType | 'any';

const NAMES: Readonly<Record<CheckedType, string>> = {
  scalar: 'a scalar',
  string: 'a string',
  vector: 'an instant vector',
  matrix: 'a range vector',
  any: 'anything',
};

export interface CheckResult {
  readonly type: ValueType;
  readonly problems: readonly QueryProblem[];
  readonly notices: readonly QueryProblem[];
}

/**
 * Checks a tree, parsed or built by hand. `metricsql` turns what VictoriaMetrics takes into notices.
 */
export function checkTypes(expr: Expr, metricsql = false): CheckResult {
  const checker = new Checker(metricsql);
  const type = checker.visit(expr);
  return { type: type === 'any' ? 'vector' : type, problems: checker.problems, notices: checker.notices };
}

class Checker {
  readonly problems: QueryProblem[] = [];
  readonly notices: QueryProblem[] = [];
  private readonly metricsql: boolean;

  constructor(metricsql: boolean) {
    this.metricsql = metricsql;
  }

  visit(expr: Expr): CheckedType {
    switch (expr.kind) {
      case 'numberLiteral':
        return 'scalar';
      case 'stringLiteral':
        return 'string';
      case 'vectorSelector':
        return this.selector(expr);
      case 'matrixSelector':
        this.selector(expr.selector);
        return 'matrix';
      case 'subquery':
        return this.subquery(expr);
      case 'call':
        return this.call(expr);
      case 'aggregate':
        return this.aggregate(expr);
      case 'binary':
        return this.chain(expr);
      case 'unary':
        return this.unary(expr);
      case 'paren':
        return this.visit(expr.expr);
      case 'opaque':
        for (const part of expr.parts) if (typeof part !== 'string') this.visit(part);
        return 'any';
    }
  }

  private problem(at: Expr | Matcher, message: string, fix?: string): void {
    this.problems.push(problemAt(at.span.from, at.span.to, message, fix));
  }

  /** A problem for Prometheus that is none for VictoriaMetrics. */
  private strict(at: Expr, message: string, fix: string): void {
    if (!this.metricsql) this.problem(at, message, fix);
    else this.notices.push(problemAt(at.span.from, at.span.to, `${message} Only VictoriaMetrics takes this.`));
  }

  private selector(selector: VectorSelector): 'vector' {
    let selects = selector.name !== undefined && selector.name !== '';
    for (const matcher of selector.matchers) {
      // An invalid regex is a problem of its own; it need not bring a second one.
      if (this.acceptsEmpty(matcher) !== true) selects = true;
    }
    if (!selects) {
      this.problem(
        selector,
        'The selector would select every series: each of its matchers also matches an empty value.',
        'Give a metric name, or a matcher such as {job!=""}.',
      );
    }
    return 'vector';
  }

  /** Whether the matcher holds for a series without the label; undefined when its regex is invalid. */
  private acceptsEmpty(matcher: Matcher): boolean | undefined {
    if (matcher.op === '=') return matcher.value === '';
    if (matcher.op === '!=') return matcher.value !== '';
    const result = compileRegex(matcher.value);
    if (!result.ok) {
      this.problem(matcher, `The regular expression is invalid: ${result.message}.`);
      return undefined;
    }
    return result.regex.matches('') === (matcher.op === '=~');
  }

  private subquery(expr: Subquery): 'matrix' {
    const type = this.visit(expr.expr);
    if (type !== 'vector' && type !== 'any') {
      this.problem(expr.expr, `A subquery needs an instant vector, this is ${NAMES[type]}.`);
    }
    return 'matrix';
  }

  private unary(expr: Unary): CheckedType {
    const type = this.visit(expr.expr);
    if (type === 'string' || type === 'matrix') {
      this.problem(expr, `A sign needs a scalar or an instant vector, this is ${NAMES[type]}.`, fixFor('vector', type));
    }
    return type;
  }

  private call(expr: Call): CheckedType {
    const signature = FUNCTIONS.get(expr.func);
    if (signature === undefined) {
      this.problem(expr, `There is no function ${expr.func} in Prometheus.`);
      return 'any';
    }
    const { minArgs, maxArgs } = signature;
    const count = expr.args.length;
    if (count < minArgs || count > maxArgs) {
      this.problem(
        expr,
        `${expr.func} takes ${countText(minArgs, maxArgs)}, here ${count === 1 ? 'is' : 'are'} ${count}.`,
      );
    }
    expr.args.forEach((arg, i) => {
      const type = this.visit(arg);
      // Arguments too many have no type of their own unless the last one repeats.
      const wanted =
        maxArgs === signature.args.length ? signature.args[i] : signature.args[Math.min(i, signature.args.length - 1)];
      if (wanted !== undefined) this.expect(arg, type, wanted, `${expr.func} needs`);
    });
    if (expr.func === 'label_replace') this.replacePattern(expr);
    return signature.returns;
  }

  /** The server finds an invalid regex of label_replace only when it evaluates: a notice, not an error. */
  private replacePattern(expr: Call): void {
    const pattern = expr.args[4];
    const literal = pattern === undefined ? undefined : unwrap(pattern);
    if (literal?.kind !== 'stringLiteral') return;
    const result = compileRegex(literal.value);
    if (result.ok) return;
    const { from, to } = literal.span;
    this.notices.push(
      problemAt(from, to, `label_replace will fail: its regular expression is invalid: ${result.message}.`),
    );
  }

  private aggregate(expr: Aggregate): 'vector' {
    const wanted = AGGREGATES.get(expr.op)!.param;
    if (expr.param !== undefined && wanted !== undefined) {
      this.expect(expr.param, this.visit(expr.param), wanted, `The first argument of ${expr.op} must be`);
    }
    this.expect(expr.expr, this.visit(expr.expr), 'vector', `${expr.op} needs`);
    const twice = expr.grouping.find((label, i) => expr.grouping.indexOf(label) < i);
    if (twice !== undefined) {
      const { from, to } = expr.span;
      const word = expr.without ? 'without' : 'by';
      this.notices.push(problemAt(from, to, `The label ${twice} stands twice in ${word} (…).`, 'Leave one out.'));
    }
    return 'vector';
  }

  private expect(arg: Expr, type: CheckedType, wanted: ValueType, start: string): void {
    if (type === wanted || type === 'any') return;
    this.problem(arg, `${start} ${NAMES[wanted]}, this is ${NAMES[type]}.`, fixFor(wanted, type, arg));
  }

  /** A chain of binary operators, from the innermost on the left outwards. */
  private chain(expr: Binary): CheckedType {
    const spine = leftSpine(expr);
    let left = this.visit(spine[0]!.left);
    for (const node of spine) left = this.binary(node, left, this.visit(node.right));
    return left;
  }

  private binary(expr: Binary, left: CheckedType, right: CheckedType): CheckedType {
    const isComparison = ['==', '!=', '<', '<=', '>', '>='].includes(expr.op);
    const isSet = expr.op === 'and' || expr.op === 'or' || expr.op === 'unless';
    for (const [side, type] of [
      [expr.left, left],
      [expr.right, right],
    ] as const) {
      if (type === 'string' || type === 'matrix') {
        const message = `The operator ${expr.op} works on scalars and instant vectors, this is ${NAMES[type]}.`;
        this.problem(side, message, fixFor('vector', type, side));
      }
    }
    if (expr.bool && !isComparison) {
      this.problem(expr, `bool is allowed only with a comparison, not with ${expr.op}.`, 'Leave out bool.');
    }
    if (isComparison && !expr.bool && left === 'scalar' && right === 'scalar') {
      this.strict(expr, 'A comparison of two scalars needs bool.', `Write ${expr.op} bool.`);
    }
    if (isSet && (left === 'scalar' || right === 'scalar')) {
      this.strict(expr, `${expr.op} works only between two instant vectors.`, 'Wrap the scalar: vector(…).');
    }
    this.matching(expr, isSet);
    if (left === 'any' || right === 'any') return 'any';
    return left === 'scalar' && right === 'scalar' ? 'scalar' : 'vector';
  }

  private matching(expr: Binary, isSet: boolean): void {
    const { matching } = expr;
    if (matching === undefined) return;
    if (isSet && matching.card !== 'many-to-many') {
      this.problem(expr, `group_left and group_right are not allowed with ${expr.op}.`, 'Leave it out.');
    }
    const twice = matching.on ? matching.labels.find((label) => matching.include.includes(label)) : undefined;
    if (twice !== undefined) {
      const group = matching.card === 'one-to-many' ? 'group_right' : 'group_left';
      this.problem(expr, `The label ${twice} stands both in on and in ${group}.`, `Leave it out of ${group}.`);
    }
  }
}

function countText(min: number, max: number): string {
  if (min === max) return min === 0 ? 'no arguments' : `${min} argument${min === 1 ? '' : 's'}`;
  if (max === Number.POSITIVE_INFINITY) return `at least ${min} arguments`;
  return `${min} to ${max} arguments`;
}

/** How an expression of one type is made into another. */
function fixFor(wanted: ValueType, got: CheckedType, arg?: Expr): string | undefined {
  if (wanted === 'matrix' && got === 'vector') {
    if (arg?.kind !== 'vectorSelector') return 'Write a subquery, such as (…)[5m:].';
    return `Add a range, such as ${arg.name ?? '{…}'}[5m].`;
  }
  if (wanted === 'vector' && got === 'matrix') return 'Apply a function such as rate or last_over_time to it.';
  if (wanted === 'vector' && got === 'scalar') return 'Wrap it: vector(…).';
  if (wanted === 'scalar' && got === 'vector') return 'Wrap it: scalar(…).';
  if (wanted === 'string') return 'Write it in quotes.';
  return undefined;
}
