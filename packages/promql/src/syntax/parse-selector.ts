/** Parses selectors and what may follow an expression: ranges, subqueries, offset and @. */
import type { AtModifier, Expr, Matcher, MatrixSelector, Opaque, Subquery, VectorSelector } from './ast.ts';
import { METRIC_NAME } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { hiddenSelector, opaqueAround, skipToBrace, stepRange } from './metricsql.ts';
import { signedDuration, timestamp } from './parse-literal.ts';

const NOT_A_METRIC = new Set(['bool', 'on', 'ignoring', 'group_left', 'group_right', 'atan2']);

/** Takes the word at hand as a metric name; some keywords cannot be one. */
export function metricName(p: Cursor): string {
  const name = p.text;
  if (NOT_A_METRIC.has(p.keyword)) {
    p.unexpected('Expected an expression', `A metric with this name is written {"${name}"}.`);
  }
  p.advance();
  return name;
}

/** A selector: the name, already taken, and braces, of which at least one is there. */
export function vectorSelector(p: Cursor, from: number, outerName: string | undefined): VectorSelector | Opaque {
  p.type = 'vector';
  if (!p.at('{')) {
    return plainSelector(outerName, [], from, p.lastTo);
  }
  const open = p.from;
  p.advance();
  const matchers: Matcher[] = [];
  let name = outerName;
  while (!p.at('}')) {
    const found = matcher(p);
    if (found === undefined) {
      skipToBrace(p, open);
      return hiddenSelector(p, from);
    }
    if (outerName !== undefined && found.label === METRIC_NAME) {
      p.problem(
        found.span.from,
        found.span.to,
        'The metric name is given twice.',
        `Leave out "${outerName}" before the braces, or this one.`,
      );
    }
    if (found.quotedName && name === undefined) name = found.value;
    else matchers.push({ label: found.label, op: found.op, value: found.value, span: found.span });
    if (!p.eat(',')) break;
  }
  if (p.metricsql && p.at('word')) {
    skipToBrace(p, open);
    return hiddenSelector(p, from);
  }
  p.close('}', open, '"," or "}" after the matcher');
  return plainSelector(name, matchers, from, p.lastTo);
}

function plainSelector(name: string | undefined, matchers: Matcher[], from: number, to: number): VectorSelector {
  return { kind: 'vectorSelector', name, matchers, offset: 0, at: undefined, span: { from, to } };
}

interface FoundMatcher extends Matcher {
  /** True for a bare string, the quoted metric name of `{"my.metric"}`. */
  readonly quotedName: boolean;
}

/** One matcher; undefined for a form that only VictoriaMetrics takes. */
function matcher(p: Cursor): FoundMatcher | undefined {
  const { from } = p;
  let label: string;
  if (p.at('string')) {
    label = p.takeString();
    if (p.at(',') || p.at('}')) {
      return { label: METRIC_NAME, op: '=', value: label, quotedName: true, span: { from, to: p.lastTo } };
    }
  } else {
    label = bareLabel(p);
    if (p.metricsql && (p.at(',') || p.at('}'))) return undefined;
  }
  const op = p.kind;
  if (op !== '=' && op !== '!=' && op !== '=~' && op !== '!~') {
    p.unexpected('Expected =, !=, =~ or !~ after the label name', op === '==' ? 'Write a single "=".' : undefined);
  }
  p.advance();
  if (!p.at('string')) {
    p.unexpected('Expected a quoted label value', p.at('word') ? `Write "${p.text}" in quotes.` : undefined);
  }
  const value = p.takeString();
  return { label, op, value, quotedName: false, span: { from, to: p.lastTo } };
}

function bareLabel(p: Cursor): string {
  const name = p.text;
  const isWord = p.at('word') || (p.at('number') && p.keyword !== '');
  if (!isWord) p.unexpected('Expected a label name or "}"');
  if (name.includes(':')) p.unexpected('Expected a label name', `Quote it: "${name}".`);
  p.advance();
  return name;
}

type Shiftable = VectorSelector | MatrixSelector | Subquery;

/** Applies everything that follows an operand: `[5m]`, `[1h:1m]`, `offset 5m`, `@ start()`. */
export function postfix(p: Cursor, operand: Expr): Expr {
  let expr = operand;
  for (;;) {
    if (p.at('[')) expr = rangeOrSubquery(p, expr);
    else if (p.at('@')) expr = atModifier(p, expr);
    else if (p.atKeyword('offset')) expr = offsetModifier(p, expr);
    else if (p.metricsql && p.atKeyword('keep_metric_names')) {
      p.advance();
      expr = opaqueAround(p, expr, 'This keeps metric names through a function.');
    } else return expr;
  }
}

function rangeOrSubquery(p: Cursor, expr: Expr): Expr {
  const type = p.type;
  const open = p.from;
  p.inBrackets = true;
  p.advance();
  if (p.metricsql && stepRange(p)) return opaqueAround(p, expr, 'The range is not a plain duration.');
  const range = positiveDuration(p, 'in the brackets', 'range');
  let step: number | undefined;
  const isSubquery = p.at(':');
  if (isSubquery) {
    p.advance();
    if (!p.at(']')) step = positiveDuration(p, 'as the step of the subquery', 'step');
  }
  p.inBrackets = false;
  const allowed = isSubquery ? '"]" after the step' : '":" or "]" after the range';
  p.close(']', open, allowed);
  const span = { from: expr.span.from, to: p.lastTo };
  if (!isSubquery) return matrixSelector(p, expr, range, span, open);
  if (type !== 'vector') {
    p.fail(expr.span.from, expr.span.to, `A subquery needs an instant vector, this is ${TYPE_NAMES[type]}.`);
  }
  p.type = 'matrix';
  return { kind: 'subquery', expr, range, step, offset: 0, at: undefined, span };
}

const TYPE_NAMES = { scalar: 'a scalar', string: 'a string', vector: 'an instant vector', matrix: 'a range vector' };

function matrixSelector(p: Cursor, expr: Expr, range: number, span: { from: number; to: number }, open: number): Expr {
  p.type = 'matrix';
  if (expr.kind === 'vectorSelector') {
    if (expr.offset !== 0) p.fail(open, span.to, 'The range must stand before offset.', 'Write foo[5m] offset 1h.');
    if (expr.at?.kind === 'timestamp') p.fail(open, span.to, 'The range must stand before @.', 'Write foo[5m] @ 0.');
    return { kind: 'matrixSelector', selector: expr, range, span };
  }
  if (p.metricsql) return opaqueAround(p, expr, 'A range after an expression that is no selector.');
  p.fail(open, span.to, 'A range can follow only a selector.', 'For an expression write a subquery, (…)[5m:].');
}

function positiveDuration(p: Cursor, where: string, what: string): number {
  const { from } = p;
  const { ms, isZero } = signedDuration(p, where);
  // Below a millisecond Prometheus takes it and cuts it to zero; only a real zero is refused.
  if (ms < 0 || isZero) p.fail(from, p.lastTo, `The ${what} must be longer than zero.`);
  return ms;
}

function offsetModifier(p: Cursor, expr: Expr): Expr {
  p.advance();
  const offset = signedDuration(p, 'after offset').ms;
  const to = p.lastTo;
  if (isShiftable(expr)) {
    if (shiftOf(expr).offset !== 0)
      p.fail(expr.span.from, to, 'The offset is given twice.', 'Add them up in one offset.');
    return shifted(expr, to, { offset });
  }
  if (p.metricsql) return opaqueAround(p, expr, 'An offset after an expression that is no selector.');
  p.fail(
    expr.span.from,
    to,
    'An offset can follow only a selector or a subquery.',
    'Put it directly after the selector.',
  );
}

function atModifier(p: Cursor, expr: Expr): Expr {
  p.advance();
  const at = atTime(p, expr);
  if (at === undefined) return opaqueAround(p, expr, 'The time after @ is an expression.');
  const to = p.lastTo;
  if (isShiftable(expr)) {
    if (shiftOf(expr).at !== undefined) p.fail(expr.span.from, to, 'The @ modifier is given twice.', 'Leave one out.');
    return shifted(expr, to, { at });
  }
  if (p.metricsql) return opaqueAround(p, expr, 'An @ after an expression that is no selector.');
  p.fail(expr.span.from, to, 'The @ modifier can follow only a selector or a subquery.', 'Put it after the selector.');
}

function atTime(p: Cursor, expr: Expr): AtModifier | undefined {
  if (p.atKeyword('start') || p.atKeyword('end')) {
    const kind = p.atKeyword('start') ? 'start' : 'end';
    p.advance();
    const open = p.from;
    if (!p.eat('(')) p.unexpected(`Expected "(" after ${kind}`, `Write ${kind}().`);
    p.close(')', open, '")"');
    return { kind };
  }
  if (p.metricsql && (p.at('(') || p.at('word'))) {
    const type = p.type;
    p.expression(Number.POSITIVE_INFINITY);
    p.type = expr.kind === 'opaque' ? 'vector' : type;
    return undefined;
  }
  return { kind: 'timestamp', timestamp: timestamp(p) };
}

function isShiftable(expr: Expr): expr is Shiftable {
  return expr.kind === 'vectorSelector' || expr.kind === 'matrixSelector' || expr.kind === 'subquery';
}

function shiftOf(expr: Shiftable): { offset: number; at: AtModifier | undefined } {
  return expr.kind === 'matrixSelector' ? expr.selector : expr;
}

function shifted(expr: Shiftable, to: number, change: { offset?: number; at?: AtModifier }): Shiftable {
  const span = { from: expr.span.from, to };
  if (expr.kind === 'matrixSelector') return { ...expr, selector: { ...expr.selector, ...change }, span };
  return { ...expr, ...change, span };
}
