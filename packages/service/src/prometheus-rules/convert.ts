/** Turns Prometheus alerting rules into a model file: one entity to a group, one indicator and one rule to an alert. */
import { parse, parseDuration } from '@obsiac/promql';
import { stringify } from 'yaml';
import { type PrometheusGroup, type PrometheusRule, readRuleFile } from './rule-file.ts';

/** Longest window of a rule, in minutes. */
const MAX_MINUTES = 1440;

/** Severity labels in use for "look at it, do not wake anyone"; every other one is a breach. */
const THREATS = new Set(['warning', 'warn', 'info', 'information', 'notice', 'low', 'minor', 'threat', 'none']);

const HEAD = `Converted from Prometheus alerting rules. An alert fires there when its expression has any result,
here when a value is above 0 for bad_minutes: "group without ()" makes every result 1.`;

/**
 * @param source a Prometheus rule file
 * @returns a model file in YAML; what could not be carried over is said in comments at its top
 * @throws Refusal `bad_request`
 */
export function convertRules(source: string): string {
  const notes: string[] = [];
  const references = uniqueNames((name, count) => `${name}-${count}`);
  const entities = readRuleFile(source)
    .map((group) => convertGroup(group, references, notes))
    .filter((entity) => entity !== undefined);
  const head = [...HEAD.split('\n'), ...notes].map((line) => `# ${line.replace(/\s+/g, ' ')}\n`).join('');
  return head + stringify({ entities }, { lineWidth: 0 });
}

function convertGroup(group: PrometheusGroup, references: (name: string) => string, notes: string[]) {
  const rules = group.rules ?? [];
  const recording = rules.filter((rule) => rule.alert === undefined).length;
  if (recording > 0) notes.push(`Group "${group.name}": ${recording} recording rule(s) left out.`);
  const alerts = rules.filter((rule) => rule.alert !== undefined);
  if (alerts.length === 0) return undefined;
  const indicators = uniqueNames();
  const names = uniqueNames();
  const descriptions = new Set<string>();
  const converted = alerts.map((rule) => convertRule(rule, { indicators, names, descriptions, notes }));
  return {
    name: group.name,
    type: 'alert-manager',
    entity_class: 'alert-manager',
    external_ref: references(`${slug(group.name)}-alert-manager-alert-manager`),
    indicators: converted.map((pair) => pair.indicator),
    alert_rules: converted.map((pair) => pair.rule),
  };
}

interface Names {
  readonly indicators: (name: string) => string;
  readonly names: (name: string) => string;
  readonly descriptions: Set<string>;
  readonly notes: string[];
}

function convertRule(rule: PrometheusRule, { indicators, names, descriptions, notes }: Names) {
  const alert = rule.alert!;
  const severityLabel = rule.labels?.['severity'] ?? 'breach';
  const indicator = indicators(`EXPR: ${alert} - ${severityLabel}`);
  const minutes = minutesOf(rule, notes);
  const { runbook_url: runbook, description, ...annotations } = rule.annotations ?? {};
  noteLosses(rule, notes);
  // Descriptions are unique within an entity; a repeated one stays as an annotation.
  const repeated = description !== undefined && descriptions.has(description);
  if (description !== undefined) descriptions.add(description);
  return {
    indicator: { name: indicator, query: queryOf(rule, notes), unit: 'count' },
    rule: {
      name: names(alert),
      indicator,
      greater_than: 0,
      bad_minutes: minutes,
      total_minutes: minutes,
      severity: THREATS.has(severityLabel.toLowerCase()) ? 'threat' : 'breach',
      ...(description === undefined || repeated ? {} : { description }),
      ...(runbook === undefined ? {} : { runbook: { link: runbook } }),
      ...annotationsOf(repeated ? { ...annotations, description: description! } : annotations),
    },
  };
}

function annotationsOf(annotations: Record<string, string>) {
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

/** A result of any value fires in Prometheus, so every result becomes 1: `up == 0` has the value 0. */
function queryOf(rule: PrometheusRule, notes: string[]): string {
  const expression = rule.expr.trim();
  const parsed = parse(expression, { dialect: 'metricsql' });
  if (!parsed.ok) {
    notes.push(`Alert "${rule.alert}": its expression cannot be read (${parsed.problems[0]!.message}); kept as it is.`);
    return expression;
  }
  if (parsed.type !== 'vector') return expression;
  // A comment at the end of the expression would swallow the parenthesis.
  return `group without () (${expression}${expression.includes('#') ? '\n' : ''})`;
}

/** `for: 5m` is five bad minutes of five; without `for` one of one. */
function minutesOf(rule: PrometheusRule, notes: string[]): number {
  if (rule.for === undefined || rule.for === '0') return 1;
  const duration = parseDuration(rule.for);
  if (!('ms' in duration)) {
    notes.push(`Alert "${rule.alert}": for: ${rule.for} is not a duration; taken as one minute.`);
    return 1;
  }
  const minutes = Math.max(1, Math.ceil(duration.ms / 60_000));
  if (minutes <= MAX_MINUTES) return minutes;
  notes.push(`Alert "${rule.alert}": for: ${rule.for} is longer than ${MAX_MINUTES} minutes; taken as those.`);
  return MAX_MINUTES;
}

function noteLosses(rule: PrometheusRule, notes: string[]): void {
  const labels = Object.keys(rule.labels ?? {}).filter((label) => label !== 'severity');
  if (labels.length > 0) notes.push(`Alert "${rule.alert}": labels left out: ${labels.join(', ')}.`);
  if (rule.keep_firing_for !== undefined) notes.push(`Alert "${rule.alert}": keep_firing_for left out.`);
}

/** Gives each name once; a second one gets a number. */
function uniqueNames(numbered = (name: string, count: number) => `${name} (${count})`): (name: string) => string {
  const given = new Set<string>();
  return (name) => {
    let unique = name;
    for (let count = 2; given.has(unique); count += 1) unique = numbered(name, count);
    given.add(unique);
    return unique;
  };
}

function slug(name: string): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return plain.replace(/^-|-$/g, '') || 'group';
}
