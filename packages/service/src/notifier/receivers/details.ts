/** The facts of a message as names and values, for receivers that show a table. */
import type { NotificationMessage } from '@obsiac/api';
import { cut, isHttpUrl, timeText } from './receiver.ts';

/** Series and annotations may be many. */
const LONGEST_VALUE = 8192;
const LONGEST_LIST = 32_768;

/** `CRITICAL`, as people know the severities of a page. */
export const SEVERITIES = { breach: 'critical', threat: 'warning' } as const;

/** Names and values; empty ones are left out. Annotations keep their own names and come last. */
export function detailsOf(message: NotificationMessage): Record<string, string> {
  const { rule, indicator, entity } = message;
  const facts: Record<string, string> = {
    rule_name: rule.name,
    telemetry_type: 'metrics',
    query: indicator.query,
    evaluation_frequency: rule.name === '' ? '' : '1m',
    alert_condition: rule.condition,
    bad_minutes: rule.name === '' ? '' : `${rule.bad_minutes} of ${rule.total_minutes}`,
    metric_name: indicator.name,
    value: message.value,
    severity: message.severity,
    alert_manager: entity.name,
    team: entity.team,
    data_source: message.data_source,
    labels: labelsText(message.labels),
    series: message.series_count > 1 ? cut(seriesText(message), LONGEST_LIST) : '',
    pattern: message.series_count === 1 ? message.series[0]!.explanation : '',
    description: message.description,
    runbook: message.runbook,
    started_at: timeText(message.started_at),
    ended_at: message.ended_at === null ? '' : timeText(message.ended_at),
    reason: message.reason,
    notes: message.notes.join('\n'),
  };
  const shown = Object.entries(facts).filter(([, value]) => value !== '');
  const annotations = Object.entries(message.annotations).map(([name, value]): [string, string] => [
    Object.hasOwn(facts, name) ? `annotation_${name}` : name,
    value,
  ]);
  return Object.fromEntries(
    [...shown, ...annotations].map(([name, value]) => [cut(name, 256), cut(value, LONGEST_VALUE)]),
  );
}

/** `instance=a, job=api` */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

/** A line for each series that the message names, and how many it does not. */
export function seriesText({ series, series_count: count }: NotificationMessage): string {
  const lines = series.map(({ labels, value, explanation }) =>
    [`${labelsText(labels) || 'no labels'}: ${value}`, explanation].filter((part) => part !== '').join(' · '),
  );
  if (count > series.length) lines.push(`and ${count - series.length} more`);
  return lines.join('\n');
}

/** Where to look: the runbook, and the links of the alert manager. */
export function linksOf(message: NotificationMessage): { href: string; text: string }[] {
  const runbook = { name: 'Runbook', url: message.runbook };
  return [runbook, ...message.entity.links]
    .filter(({ url }) => isHttpUrl(url))
    .map(({ name, url }) => ({ href: url, text: name || url }));
}
