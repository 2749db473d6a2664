/** The PromQL parser: operators by precedence, operands, and the one entry `parse`. */
import type { Binary, BinaryOp, Expr, SetOp, Unary, ValueType, VectorMatching } from './ast.ts';
import { checkTypes } from './check.ts';
import { Cursor } from './cursor.ts';
import { opaque } from './metricsql.ts';
import { wordOperand } from './parse-call.ts';
import { numberLiteral, stringLiteral } from './parse-literal.ts';
import { postfix, vectorSelector } from './parse-selector.ts';
import { type QueryProblem, SyntaxStop } from './problem.ts';

export type Dialect = 'prometheus' | 'metricsql';

export interface ParseOptions {
  /** `metricsql` also reads what only VictoriaMetrics takes, with a notice for each. Default `prometheus`. */
  readonly dialect?: Dialect;
}

export interface ParsedQuery {
  readonly ok: true;
  readonly expr: Expr;
  readonly type: ValueType;
  readonly notices: readonly QueryProblem[];
}

export interface RefusedQuery {
  readonly ok: false;
  /** At least one; the first syntax error, or all type errors, in the order of the text. */
  readonly problems: readonly QueryProblem[];
  readonly notices: readonly QueryProblem[];
}

export type ParseResult = ParsedQuery | RefusedQuery;

/** Binding strengths; MetricsQL's own operators bind weakest. */
const POWERS: ReadonlyMap<string, number> = new Map([
  ['or', 3],
  ['and', 4],
  ['unless', 4],
  ['==', 5],
  ['!=', 5],
  ['<', 5],
  ['<=', 5],
  ['>', 5],
  ['>=', 5],
  ['+', 6],
  ['-', 6],
  ['*', 7],
  ['/', 7],
  ['%', 7],
  ['atan2', 7],
  ['^', 8],
]);
const METRICSQL_POWERS: ReadonlyMap<string, number> = new Map([
  ['default', 1],
  ['if', 2],
  ['ifnot', 2],
]);
/** A sign binds as strongly as multiplication, so its operand takes only powers: -1 ^ 2 is -(1 ^ 2). */
const SIGN_POWER = 8;

/**
 * Parses and type-checks one PromQL expression. Mistakes come back as values with positions in UTF-16 offsets; nothing
 * is thrown, whatever the text.
 */
export function parse(query: string, options: ParseOptions = {}): ParseResult {
  const metricsql = options.dialect === 'metricsql';
  const p = new Cursor(query, metricsql, parseExpression);
  try {
    p.advance();
    if (p.at('eof')) p.fail(0, query.length, 'There is no expression.');
    const expr = p.expression(0);
    if (!p.at('eof')) trailing(p);
    if (p.problems.length > 0) return { ok: false, problems: p.problems, notices: p.notices };
    const checked = checkTypes(expr, metricsql);
    const notices = [...p.notices, ...checked.notices];
    if (checked.problems.length > 0) return { ok: false, problems: checked.problems, notices };
    return { ok: true, expr, type: checked.type, notices };
  } catch (error) {
    if (!(error instanceof SyntaxStop)) throw error;
    return { ok: false, problems: [...p.problems, error.problem], notices: p.notices };
  }
}

function trailing(p: Cursor): never {
  if (p.at(')') || p.at(']') || p.at('}')) {
    p.fail(p.from, p.to, `The "${p.kind}" was never opened.`, 'Leave it out.');
  }
  p.unexpected('Expected an operator or the end of the query');
}

function parseExpression(p: Cursor, power: number): Expr {
  let left = operand(p);
  for (;;) {
    const name = p.at('word') ? p.keyword : p.kind;
    let strength = POWERS.get(name);
    if (strength === undefined && p.metricsql) strength = METRICSQL_POWERS.get(name);
    if (strength === undefined || strength < power) return left;
    left = binary(p, left, name, strength);
  }
}

function operand(p: Cursor): Expr {
  switch (p.kind) {
    case 'number':
    case 'duration':
      return postfix(p, numberLiteral(p));
    case 'string':
      return postfix(p, stringLiteral(p));
    case 'word':
      return postfix(p, wordOperand(p));
    case '{':
      return postfix(p, vectorSelector(p, p.from, undefined));
    case '(':
      return postfix(p, parenthesised(p));
    case '+':
    case '-':
      return signed(p, p.kind);
    default:
      return p.unexpected('Expected an expression');
  }
}

function parenthesised(p: Cursor): Expr {
  const from = p.from;
  p.advance();
  const expr = p.expression(0);
  if (p.metricsql && p.at(',')) return unionOf(p, from, expr);
  p.close(')', from, 'an operator or ")"');
  return { kind: 'paren', expr, span: { from, to: p.lastTo } };
}

/** `(a, b)`, which in MetricsQL is union(a, b). */
function unionOf(p: Cursor, from: number, first: Expr): Expr {
  const items = [first];
  while (p.eat(',') && !p.at(')')) items.push(p.expression(0));
  p.close(')', from, '"," or ")"');
  return opaque(p, from, items, 'A list of expressions in parentheses.');
}

/** A sign before an expression; before a number it becomes part of the number. */
function signed(p: Cursor, op: '+' | '-'): Expr {
  const from = p.from;
  p.advance();
  const expr = p.expression(SIGN_POWER);
  const span = { from, to: expr.span.to };
  if (expr.kind === 'numberLiteral') return { ...expr, value: op === '-' ? -expr.value : expr.value, span };
  const unary: Unary = { kind: 'unary', op, expr, span };
  return unary;
}

function binary(p: Cursor, left: Expr, op: string, strength: number): Expr {
  const leftType = p.type;
  p.advance();
  const modifiers = binaryModifiers(p);
  const right = p.expression(op === '^' ? strength : strength + 1);
  const rightType = p.type;
  const span = { from: left.span.from, to: right.span.to };
  if (strength < 3) {
    p.nestLeft();
    return opaque(p, span.from, [left, right], `The operator ${op}.`);
  }
  const bothVectors = leftType === 'vector' && rightType === 'vector';
  p.type = leftType === 'scalar' && rightType === 'scalar' ? 'scalar' : 'vector';
  let matching: VectorMatching | undefined;
  if (bothVectors) matching = isSetOp(op) ? setMatching(modifiers.matching) : modifiers.matching;
  else if (modifiers.matching.labels.length > 0) {
    p.problem(span.from, span.to, 'on and ignoring are allowed only between two instant vectors.');
  }
  const node: Binary = { kind: 'binary', op: op as BinaryOp, left, right, bool: modifiers.bool, matching, span };
  return node;
}

function isSetOp(op: string): op is SetOp {
  return op === 'and' || op === 'or' || op === 'unless';
}

const PLAIN_MATCHING: VectorMatching = { card: 'one-to-one', on: false, labels: [], include: [] };
const PLAIN_SET_MATCHING: VectorMatching = { ...PLAIN_MATCHING, card: 'many-to-many' };

function setMatching(matching: VectorMatching): VectorMatching {
  if (matching === PLAIN_MATCHING) return PLAIN_SET_MATCHING;
  return matching.card === 'one-to-one' ? { ...matching, card: 'many-to-many' } : matching;
}

interface Modifiers {
  readonly bool: boolean;
  readonly matching: VectorMatching;
}

/** `bool`, then `on` or `ignoring`, then `group_left` or `group_right`, each at will. */
function binaryModifiers(p: Cursor): Modifiers {
  const bool = p.eatKeyword('bool');
  if (!p.atKeyword('on') && !p.atKeyword('ignoring')) {
    return { bool, matching: PLAIN_MATCHING };
  }
  const word = p.keyword;
  p.advance();
  const labels = p.labelList(word);
  const isLeft = p.atKeyword('group_left');
  if (!isLeft && !p.atKeyword('group_right')) {
    return { bool, matching: { card: 'one-to-one', on: word === 'on', labels, include: [] } };
  }
  p.advance();
  const include = p.at('(') ? p.labelList(isLeft ? 'group_left' : 'group_right') : [];
  const card = isLeft ? 'many-to-one' : 'one-to-many';
  return { bool, matching: { card, on: word === 'on', labels, include } };
}
