/** Parses what starts with a word: function calls, aggregations and named selectors. */
import type { Aggregate, Call, Expr, Opaque, ValueType } from './ast.ts';
import type { Cursor } from './cursor.ts';
import { AGGREGATES, type AggregateSignature, FUNCTIONS, type FunctionSignature } from './functions.ts';
import { isMetricsqlFunction, opaque, opaqueNode, withTemplates } from './metricsql.ts';
import { metricName, vectorSelector } from './parse-selector.ts';
import { nearest } from './problem.ts';

/** An operand that starts with a word. */
export function wordOperand(p: Cursor): Expr {
  const { from, keyword } = p;
  if (p.metricsql && keyword === 'with' && /^\s*\(/.test(p.query.slice(p.to, p.to + 80))) return withTemplates(p);
  const aggregate = AGGREGATES.get(keyword);
  const name = metricName(p);
  if (aggregate !== undefined && startsAggregation(p)) return aggregation(p, aggregate, from);
  if (p.at('(') && (keyword === '' || keyword === 'start' || keyword === 'end' || isPlainWord(keyword))) {
    return functionCall(p, name, from);
  }
  if (p.metricsql && isMetricsqlFunction(name) && startsAggregation(p)) return functionCall(p, name, from);
  if (p.templates.has(name) && !p.at('{')) return opaqueNode(p, from, [], false);
  return vectorSelector(p, from, name);
}

/** Keywords of MetricsQL alone: in PromQL they are words like any other. */
function isPlainWord(keyword: string): boolean {
  return ['default', 'if', 'ifnot', 'keep_metric_names', 'with', 'limit'].includes(keyword);
}

function startsAggregation(p: Cursor): boolean {
  return p.at('(') || p.atKeyword('by') || p.atKeyword('without');
}

interface Grouping {
  readonly labels: readonly string[];
  readonly without: boolean;
}

function grouping(p: Cursor): Grouping | undefined {
  if (!p.atKeyword('by') && !p.atKeyword('without')) return undefined;
  const without = p.keyword === 'without';
  p.advance();
  return { labels: p.labelList(without ? 'without' : 'by'), without };
}

function aggregation(p: Cursor, signature: AggregateSignature, from: number): Aggregate | Opaque {
  const { op } = signature;
  const before = grouping(p);
  if (!p.at('(')) p.unexpected(`Expected "(" with the arguments of ${op}`);
  const { args } = callArguments(p, op);
  const group = before ?? grouping(p) ?? { labels: [], without: false };
  const to = p.lastTo;
  p.type = 'vector';
  const wanted = signature.param === undefined ? 1 : 2;
  if (p.metricsql) {
    const limited = p.eatKeyword('limit');
    if (limited) p.advance();
    if (limited || signature.experimental || args.length > wanted) {
      return opaque(p, from, args, `An aggregation ${limited ? 'with a limit' : 'that stable Prometheus has not'}.`);
    }
  }
  if (signature.experimental) {
    p.problem(from, to, `${op} is experimental in Prometheus and not supported.`);
  }
  if (args.length !== wanted) {
    const form = { scalar: `${op}(number, vector)`, string: `${op}("label", vector)`, none: `${op}(vector)` };
    p.fail(
      from,
      to,
      `${op} takes ${wanted === 1 ? 'one argument' : 'two arguments'}, here are ${args.length}.`,
      `Write ${form[signature.param ?? 'none']}.`,
    );
  }
  return {
    kind: 'aggregate',
    op,
    param: wanted === 2 ? args[0] : undefined,
    expr: args[wanted - 1]!,
    grouping: group.labels,
    without: group.without,
    span: { from, to },
  };
}

interface Arguments {
  readonly args: Expr[];
  readonly types: ValueType[];
}

/** The arguments in parentheses; "(" is at hand. */
function callArguments(p: Cursor, name: string): Arguments {
  const openAt = p.from;
  p.advance();
  const args: Expr[] = [];
  const types: ValueType[] = [];
  while (!p.at(')')) {
    args.push(p.expression(0));
    types.push(p.type);
    if (!p.at(',')) break;
    const comma = p.from;
    p.advance();
    if (p.at(')') && !p.metricsql) p.fail(comma, comma + 1, 'A comma stands before ")".', 'Leave it out.');
  }
  p.close(')', openAt, `"," or ")" in the arguments of ${name}`);
  return { args, types };
}

function functionCall(p: Cursor, name: string, from: number): Call | Opaque {
  const nameTo = from + name.length;
  if (p.metricsql && !p.at('(')) grouping(p);
  const { args, types } = callArguments(p, name);
  const to = p.lastTo;
  const signature = FUNCTIONS.get(name);
  if (p.metricsql) {
    const other = metricsqlCall(p, name, from, signature, args, types);
    if (other !== undefined) return other;
  }
  if (signature === undefined) unknownFunction(p, name, from, nameTo);
  else if (signature.experimental) {
    p.problem(from, nameTo, `${name} is experimental in Prometheus and not supported.`);
  }
  p.type = signature?.returns ?? 'vector';
  return { kind: 'call', func: name, args, span: { from, to } };
}

function unknownFunction(p: Cursor, name: string, from: number, to: number): void {
  const near = nearest(name, [...FUNCTIONS.keys(), ...AGGREGATES.keys()]);
  const fix = near === undefined ? undefined : `Did you mean ${near}?`;
  const extra = isMetricsqlFunction(name) ? ' It is one of VictoriaMetrics.' : '';
  p.problem(from, to, `There is no function ${name} in Prometheus.${extra}`, extra === '' ? fix : undefined);
}

/** A call that VictoriaMetrics takes and Prometheus does not; undefined when it is plain PromQL, or wrong in both. */
function metricsqlCall(
  p: Cursor,
  name: string,
  from: number,
  signature: FunctionSignature | undefined,
  args: readonly Expr[],
  types: readonly ValueType[],
): Opaque | undefined {
  if (isMetricsqlFunction(name)) {
    grouping(p);
    return opaque(p, from, args, `${name} is no stable function of Prometheus.`);
  }
  if (p.templates.has(name)) return opaqueNode(p, from, args, false);
  if (signature === undefined) {
    if (FUNCTIONS.get(name.toLowerCase()) === undefined) return undefined;
    return opaque(p, from, args, `The function ${name.toLowerCase()} is not written in lower case.`);
  }
  const withoutRange = signature.args.findIndex((type, i) => type === 'matrix' && types[i] === 'vector');
  if (withoutRange === -1) return undefined;
  return opaque(p, from, args, `${name} without a range in brackets.`);
}
