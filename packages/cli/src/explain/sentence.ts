/** What a rule means, in sentences. */
import { type AlertRule, type Indicator, type Macro, patternLimit, type ThresholdOperator } from '@obsiac/model';

const OPERATORS: Readonly<Record<ThresholdOperator, string>> = {
  greater_than: 'is greater than',
  greater_than_eq: 'is at least',
  less_than: 'is less than',
  less_than_eq: 'is at most',
  equal_to: 'equals',
  not_equal: 'is not',
};

/** Minutes of recovery when a service says nothing else. */
const USUAL_RECOVERY = 10;

/** `k` noise widths. */
const PATTERNS: Readonly<Record<Macro, (k: string) => string>> = {
  high_spike: (k) => `lies more than ${k} noise widths above the median of the hour before it`,
  low_spike: (k) => `lies more than ${k} noise widths below the median of the hour before it`,
  increasing_changepoint: (k) =>
    `has moved to a higher level and stays there: the median of ten minutes lies more than ${k} noise widths above that of the hour that ended half an hour before`,
  decreasing_changepoint: (k) =>
    `has moved to a lower level and stays there: the median of ten minutes lies more than ${k} noise widths below that of the hour that ended half an hour before`,
  increasing_trend: (k) => `has risen steadily for two hours, by more than ${k} noise widths`,
  decreasing_trend: (k) => `has fallen steadily for two hours, by more than ${k} noise widths`,
};

/**
 * When it fires, when it resolves, how it tells, and what keeps it quiet.
 * @param recoverMinutes null: the service was not asked
 */
export function ruleSentences(
  rule: AlertRule,
  indicator: Indicator | undefined,
  recoverMinutes: number | null,
): string[] {
  const recover = `${minutes(recoverMinutes ?? USUAL_RECOVERY)} in a row`;
  const unless = recoverMinutes === null ? ' (unless the service is set otherwise)' : '';
  const sentences = [
    `Fires, for each series by itself, when ${JSON.stringify(rule.indicator)} ${conditionText(rule, indicator)} in ${windowText(rule)}; resolves when that has not been so for ${recover}${unless}.`,
  ];
  if (rule.pattern) sentences.push(patternText(rule.pattern));
  sentences.push(
    rule.group_timeseries_notifications
      ? 'Series that fire together are told in one notification.'
      : 'Each series is told in a notification of its own.',
  );
  if (rule.is_disabled) sentences.push('It is disabled: it is not evaluated.');
  else if (rule.mute) sentences.push('It is muted: it is evaluated, and nobody is told.');
  return sentences;
}

function conditionText({ pattern, threshold }: AlertRule, indicator: Indicator | undefined): string {
  if (pattern) {
    const beyond = isUsual(threshold)
      ? ''
      : ` and its distance from the baseline ${OPERATORS[threshold.operator]} ${threshold.value}`;
    return `${PATTERNS[pattern.macro](limitText(pattern.tolerance))}${beyond}`;
  }
  const unit = indicator?.unit ?? '';
  return `${OPERATORS[threshold.operator]} ${threshold.value}${unit === '' || unit === 'count' ? '' : ` ${unit}`}`;
}

/** The threshold of a pattern that has none of its own. */
const isUsual = ({ operator, value }: AlertRule['threshold']) => operator === 'greater_than' && value === 0;

const limitText = (tolerance: number) => String(Number(patternLimit(tolerance).toFixed(2)));

function patternText({ macro, tolerance }: NonNullable<AlertRule['pattern']>): string {
  return `A noise width is how far the series moves when nothing happens, learnt from the last 24 hours. The tolerance ${tolerance} of ${macro} makes the limit ${limitText(tolerance)} of them (3 + 0.4 × tolerance): a larger one fires less easily. What is usual at this time of the day does not count.`;
}

function windowText({ bad_minutes: bad, total_minutes: total }: AlertRule): string {
  if (total === 1) return 'the last minute';
  if (bad === total) return `each of the last ${total} minutes`;
  return `at least ${bad} of the last ${minutes(total)}`;
}

function minutes(count: number): string {
  return count === 1 ? '1 minute' : `${count} minutes`;
}
