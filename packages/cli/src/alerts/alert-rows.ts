/** Alerts as rows of a table, as lines and as events. */
import type { AlertMonitor, MonitoredAlert, MonitoredRule } from '@obsiac/api';
import type { Style } from '../views/style.ts';
import { tableText } from '../views/table.ts';
import type { JsonEvent } from '../views/view.ts';
import { ago, isoSeconds, labelsText, numberText } from './texts.ts';

/** An alert beside its rule. */
export interface AlertRow {
  readonly rule: MonitoredRule;
  readonly alert: MonitoredAlert;
}

const STATES: Readonly<Record<string, number>> = { firing: 0, pending: 1, resolved: 2, normal: 3 };

/** What fires first, `breach` before `threat`, then the oldest. */
export function alertRows({ alert_rules: rules }: AlertMonitor): AlertRow[] {
  const rows = rules.flatMap((rule) => rule.alerts.map((alert) => ({ rule, alert })));
  return rows.sort(
    (a, b) =>
      (STATES[a.alert.state] ?? 4) - (STATES[b.alert.state] ?? 4) ||
      (a.rule.severity < b.rule.severity ? -1 : a.rule.severity > b.rule.severity ? 1 : 0) ||
      a.alert.since - b.alert.since ||
      (keyOf(a) < keyOf(b) ? -1 : 1),
  );
}

/** The same series of the same rule. */
export function keyOf({ rule, alert }: AlertRow): string {
  return `${rule.rule_id} ${alert.label_hash}`;
}

const HEADINGS = ['STATE', 'SEVERITY', 'ALERT MANAGER', 'RULE', 'VALUE', 'BAD', 'SINCE', 'AGE', 'LABELS'];

/** @param now unix seconds of the answer */
export function alertTable(rows: readonly AlertRow[], now: number, style: Style, fit: boolean): string {
  const cells = rows.map((row) => cellsOf(row, now));
  const paintRow = (line: string, index: number) => paint(line, rows[index]!, style);
  return tableText(HEADINGS, cells, style, { fit, paintRow });
}

function cellsOf({ rule, alert }: AlertRow, now: number): string[] {
  return [
    alert.state,
    rule.severity,
    rule.alert_group_name,
    rule.rule_name,
    numberText(alert.current_value ?? alert.worst_value),
    alert.bad_minutes === null ? '-' : `${alert.bad_minutes}/${alert.total_minutes}`,
    isoSeconds(alert.since),
    ago(now - alert.since),
    labelsText(alert.group_labels),
  ];
}

/** One alert on a line, for a stream of changes. @param at unix seconds */
export function alertLine(row: AlertRow, at: number, style: Style): string {
  const { rule, alert } = row;
  const value = numberText(alert.current_value ?? alert.worst_value);
  const words = [
    isoSeconds(at),
    alert.state.padEnd(8),
    rule.severity,
    `${rule.alert_group_name} / ${rule.rule_name}`,
    labelsText(alert.group_labels),
    value === '-' ? '' : `value ${value}`,
    alert.reason === '' || alert.reason === 'recovered' ? '' : `(${alert.reason.replaceAll('_', ' ')})`,
  ];
  return `${paint(words.filter((word) => word !== '').join('  '), row, style)}\n`;
}

function paint(line: string, { rule, alert }: AlertRow, style: Style): string {
  if (alert.state === 'resolved') return style.add(line);
  if (alert.state !== 'firing') return line;
  return rule.severity === 'breach' ? style.remove(line) : style.change(line);
}

export function alertEvent({ rule, alert }: AlertRow): JsonEvent {
  const { alerts: _, rule_properties: __, state: ___, since: ____, last_fired_at: _____, ...about } = rule;
  return {
    type: 'alert',
    message: `${alert.state}: ${rule.alert_group_name} / ${rule.rule_name} ${labelsText(alert.group_labels)}`.trimEnd(),
    alert: { ...about, ...alert },
  };
}
