/** A syntax tree in the JSON form of Prometheus' `/api/v1/parse_query`, for comparing the two parsers. */
import type { Expr, Matcher, VectorMatching } from '../src/syntax/ast.ts';
import { METRIC_NAME } from '../src/syntax/ast.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The tree as the server would give it. Matchers are sorted: the server puts the name's own last. */
export function serverTree(expr: Expr): Json {
  switch (expr.kind) {
    case 'numberLiteral':
      return { type: 'numberLiteral', val: serverNumber(expr.value) };
    case 'stringLiteral':
      return { type: 'stringLiteral', val: expr.value };
    case 'vectorSelector':
      return { type: 'vectorSelector', ...selectorFields(expr) };
    case 'matrixSelector':
      return { type: 'matrixSelector', ...selectorFields(expr.selector), range: expr.range };
    case 'subquery':
      return { type: 'subquery', expr: serverTree(expr.expr), range: expr.range, step: expr.step ?? 0, ...shift(expr) };
    case 'call':
      return { type: 'call', func: expr.func, args: expr.args.map(serverTree) };
    case 'aggregate':
      return {
        type: 'aggregation',
        op: expr.op,
        param: expr.param === undefined ? null : serverTree(expr.param),
        expr: serverTree(expr.expr),
        grouping: expr.grouping,
        without: expr.without,
      };
    case 'binary':
      return {
        type: 'binaryExpr',
        op: expr.op,
        bool: expr.bool,
        lhs: serverTree(expr.left),
        rhs: serverTree(expr.right),
        matching: matching(expr.matching),
      };
    case 'unary':
      return { type: 'unaryExpr', op: expr.op, expr: serverTree(expr.expr) };
    case 'paren':
      return { type: 'parenExpr', expr: serverTree(expr.expr) };
    case 'opaque':
      throw new Error('only the metricsql dialect makes opaque nodes');
  }
}

/** The server's answer in the same form: functions by name alone, matchers sorted, no selector name. */
export function normaliseServerTree(answer: Json): Json {
  if (Array.isArray(answer)) return answer.map(normaliseServerTree);
  if (answer === null || typeof answer !== 'object') return answer;
  const fields = Object.entries(answer).flatMap(([key, value]): [string, Json][] => {
    if (key === 'func') return [[key, (value as { name: string }).name]];
    if (key === 'matchers') return [[key, sortMatchers(value as unknown as ServerMatcher[])]];
    if (key === 'name') return [];
    return [[key, normaliseServerTree(value)]];
  });
  return Object.fromEntries(fields);
}

interface ServerMatcher {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

function sortMatchers(matchers: readonly ServerMatcher[]): Json {
  const texts = matchers.map(({ name, type, value }) => JSON.stringify([name, type, value]));
  return texts.sort().map((text) => JSON.parse(text) as Json);
}

function selectorFields(selector: Expr & { kind: 'vectorSelector' }): Record<string, Json> {
  const own: Matcher[] =
    selector.name === undefined ? [] : [{ label: METRIC_NAME, op: '=', value: selector.name, span: selector.span }];
  const matchers = [...selector.matchers, ...own].map(({ label, op, value }) => ({ name: label, type: op, value }));
  return { matchers: sortMatchers(matchers), ...shift(selector) };
}

function shift(node: { offset: number; at?: (Expr & { kind: 'vectorSelector' })['at'] }): Record<string, Json> {
  const { offset, at } = node;
  return {
    offset,
    timestamp: at?.kind === 'timestamp' ? at.timestamp : null,
    startOrEnd: at === undefined || at.kind === 'timestamp' ? null : at.kind,
  };
}

function matching(value: VectorMatching | undefined): Json {
  if (value === undefined) return null;
  return { card: value.card, on: value.on, labels: value.labels, include: value.include };
}

function serverNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  if (Object.is(value, -0)) return '-0';
  // The server writes every digit and no exponent.
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const sign = digits.startsWith('-') ? '-' : '';
  const bare = digits.replace('-', '').replace('.', '');
  const point = Number(exponent) + 1;
  if (point >= bare.length) return sign + bare.padEnd(point, '0');
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${bare}`;
  return `${sign}${bare.slice(0, point)}.${bare.slice(point)}`;
}
