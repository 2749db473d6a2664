/** One rule in the shape of Prometheus' rules API. */
import type { LiveRule } from './live.ts';
import { renderTexts, textsOf } from './rendered-texts.ts';
import { healthOf, type RuleAlert, worstState } from './rule-alerts.ts';
import type { StoredRule } from './store-reads.ts';

export interface PrometheusAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
  /** RFC 3339: the first bad minute. */
  readonly activeAt: string;
  /** As Go writes it with the format `e`. */
  readonly value: string;
}

export interface PrometheusRule {
  readonly state: 'inactive' | 'pending' | 'firing';
  readonly name: string;
  readonly query: string;
  /** Seconds. */
  readonly duration: number;
  readonly keepFiringFor: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly alerts: readonly PrometheusAlert[];
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
  /** Seconds. */
  readonly evaluationTime: number;
  readonly lastEvaluation: string;
  readonly type: 'alerting';
}

/** Go's zero time: never evaluated. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

const TEXT_NAMES = { description: 'description', runbook: 'runbook_url' } as const;

/** The labels of a rule: those of its alert manager, and its severity. */
export function prometheusLabels({ row, entityLabels }: StoredRule): Record<string, string> {
  return { ...entityLabels, severity: row.severity };
}

/** @param query of a rule that no process has described */
export function alertingRule(given: {
  readonly rule: StoredRule;
  readonly live: LiveRule | undefined;
  readonly query: string | undefined;
  readonly alerts: readonly RuleAlert[];
  readonly excludeAlerts: boolean;
}): PrometheusRule {
  const { rule, live, alerts } = given;
  const { row } = rule;
  const state = worstState(alerts);
  const { health, error } = healthOf(row, live);
  return {
    state: state === 'firing' || state === 'pending' ? state : 'inactive',
    name: row.rule_name,
    query: comparison(live?.query || (given.query ?? ''), row),
    // The first bad minute, and so many more until it fires when all of them are bad.
    duration: (row.bad_minutes - 1) * 60,
    keepFiringFor: (live?.recover_minutes ?? 0) * 60,
    labels: prometheusLabels(rule),
    annotations: textsOf(row, TEXT_NAMES),
    alerts: given.excludeAlerts ? [] : prometheusAlerts(rule, alerts),
    health,
    ...(error === '' ? {} : { lastError: error }),
    evaluationTime: (live?.last?.duration ?? 0) / 1000,
    lastEvaluation: live?.last ? new Date(live.last.at).toISOString() : ZERO_TIME,
    type: 'alerting',
  };
}

/** What is pending or fires. Labels of the rule win over those of the series, as in Prometheus. */
export function prometheusAlerts(rule: StoredRule, alerts: readonly RuleAlert[]): PrometheusAlert[] {
  const texts = textsOf(rule.row, TEXT_NAMES);
  const own = { ...prometheusLabels(rule), alertname: rule.row.rule_name };
  return alerts.flatMap((alert) => {
    if (alert.state === 'resolved') return [];
    return {
      labels: { ...alert.labels, ...own },
      annotations: renderTexts(texts, alert),
      state: alert.state,
      activeAt: new Date(alert.firstBad * 60_000).toISOString(),
      value: goExponent(alert.value ?? alert.worst),
    };
  });
}

/** The expression that is true in a bad minute. A pattern is no PromQL, so of such a rule the query alone. */
function comparison(query: string, row: StoredRule['row']): string {
  const condition = /^expr (\S+) (\S+)$/.exec(row.condition);
  if (query === '' || row.algorithm !== 'static_threshold' || !condition) return query;
  return `${isOnePart(query) ? query : `(${query})`} ${condition[1]} ${Number(condition[2])}`;
}

/** A selector, or one call with its arguments; anything else is put into parentheses to be sure. */
function isOnePart(query: string): boolean {
  const head = /^[a-zA-Z_:][\w:]*/.exec(query)?.[0];
  if (head === undefined) return false;
  if (head.length === query.length) return true;
  const open = query[head.length];
  if (open !== '(' && open !== '{') return false;
  return closingIndex(query, head.length) === query.length - 1;
}

/** Where the bracket at `from` is closed; texts in quotes are passed over. */
function closingIndex(query: string, from: number): number {
  let depth = 0;
  for (let index = from; index < query.length; index++) {
    const letter = query[index]!;
    if (letter === '#') return -1;
    if (letter === '"' || letter === "'" || letter === '`') {
      for (index++; index < query.length && query[index] !== letter; index++)
        if (query[index] === '\\' && letter !== '`') index++;
    } else if ('({['.includes(letter)) depth += 1;
    else if (')}]'.includes(letter)) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return -1;
}

/** `1e+00`, `2.5e-03`: the shortest digits, two of the exponent at least; Prometheus' value of an alert. */
function goExponent(value: number | null): string {
  if (value === null) return 'NaN';
  const [digits, exponent = '+0'] = value.toExponential().split('e') as [string, string?];
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${digits}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}
