/** PromQL in a model: reading the query of an indicator, comparing queries, and putting filters into them. */
import {
  addMatchers,
  canonicalText,
  type Expr,
  hidesSelectors,
  parse,
  print,
  type QueryProblem,
  substituteVariables,
  type ValueType,
  variablesOf,
} from '@obsiac/promql';
import type { AlertRule, Entity, Indicator } from './model.ts';

export interface ReadQuery {
  readonly ok: true;
  readonly expr: Expr;
  readonly type: ValueType;
  /** False for a query that VictoriaMetrics takes and Prometheus does not. */
  readonly isPrometheus: boolean;
  readonly notices: readonly QueryProblem[];
}

export interface RefusedQueryText {
  readonly ok: false;
  readonly problems: readonly QueryProblem[];
}

/** Parses and type-checks a query of either dialect. */
export function readQuery(text: string): ReadQuery | RefusedQueryText {
  const strict = parse(text);
  if (strict.ok) return { ...strict, isPrometheus: true };
  const wide = parse(text, { dialect: 'metricsql' });
  return wide.ok ? { ...wide, isPrometheus: false } : { ok: false, problems: wide.problems };
}

/**
 * The form in which two queries are compared: equal texts mean the same query. White space, the order of labels and
 * redundant parentheses do not count. A text that is no query stands for itself.
 */
export function canonicalQuery(text: string): string {
  const query = readQuery(text);
  return query.ok ? canonicalText(query.expr) : text.trim();
}

/** Names of the variables (`$name`, `${name}`) in the matchers of a query, each once. */
export function queryVariables(expr: Expr): readonly string[] {
  return [...new Set(variablesOf(expr).map(({ name }) => name))];
}

export interface ExpandedQuery {
  readonly ok: true;
  /** The text to send to the data source. */
  readonly query: string;
  readonly expr: Expr;
}

/** The data source of an indicator by name; empty when neither it nor the entity names one. */
export function dataSourceOf(indicator: Pick<Indicator, 'data_source'>, entity: Pick<Entity, 'data_source'>): string {
  return indicator.data_source === '' ? entity.data_source : indicator.data_source;
}

/**
 * The query of an indicator as a rule evaluates it: the values of `label_filter` in the place of the variables, and the
 * labels of `adhoc_filter` as matchers on every selector when the indicator is on the filter's data source. Without a
 * rule, variables stay. Refused when the query does not parse, or when a value makes an invalid regular expression.
 */
export function expandQuery(
  indicator: Pick<Indicator, 'query' | 'data_source'>,
  entity: Pick<Entity, 'adhoc_filter' | 'data_source'>,
  rule?: Pick<AlertRule, 'label_filter'>,
): ExpandedQuery | RefusedQueryText {
  const read = readQuery(indicator.query);
  if (!read.ok) return read;
  const bound = rule ? substituteVariables(read.expr, rule.label_filter) : read.expr;
  const filter = entity.adhoc_filter;
  const isFiltered = filter !== null && filter.data_source === dataSourceOf(indicator, entity);
  const matchers = Object.entries(isFiltered ? filter.labels : {});
  const expr = addMatchers(
    bound,
    matchers.map(([label, value]) => ({ label, op: '=' as const, value })),
  );
  if (expr === read.expr) return { ok: true, query: indicator.query, expr };
  const query = print(expr);
  const checked = readQuery(query);
  return checked.ok ? { ok: true, query, expr: checked.expr } : checked;
}

/** The first part of a query whose selectors no filter reaches: text that only VictoriaMetrics understands. */
export const unreachableSelectors = hidesSelectors;
