/** Static thresholds: which values are bad. */
import type { ThresholdOperator } from '../model.ts';
import { type AlertingRule, BAD, GOOD, MISSING, type SeriesMinutes } from './episode.ts';

/** Whether a value is bad. NaN is no value: VictoriaMetrics leaves it out of its answers, and no comparison with it is true. */
export function isBad(operator: ThresholdOperator, threshold: number, value: number): boolean {
  switch (operator) {
    case 'greater_than':
      return value > threshold;
    case 'greater_than_eq':
      return value >= threshold;
    case 'less_than':
      return value < threshold;
    case 'less_than_eq':
      return value <= threshold;
    case 'equal_to':
      return value === threshold;
    case 'not_equal':
      return value !== threshold && !Number.isNaN(value);
  }
}

/** Which value is the worst of many, for the message. */
export function worstOf(operator: ThresholdOperator): AlertingRule['worst'] {
  if (operator.startsWith('greater')) return 'greatest';
  return operator.startsWith('less') ? 'least' : 'last';
}

/** Judges every minute of a series by a threshold. */
export function judge(
  series: Omit<SeriesMinutes, 'quality'>,
  operator: ThresholdOperator,
  threshold: number,
): SeriesMinutes {
  const { values } = series;
  const quality = new Uint8Array(values.length);
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    quality[index] = Number.isNaN(value) ? MISSING : isBad(operator, threshold, value) ? BAD : GOOD;
  }
  return { ...series, quality };
}
