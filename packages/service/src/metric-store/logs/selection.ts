/** What a selector over the logs selects: which metrics of the catalogue, and which conditions on their records. */
import { type LabelMatcher, METRIC_NAME, valueTest } from '@obsiac/promql';
import { matcherCondition } from '../query/matchers.ts';
import type { Values } from '../query/statement.ts';
import { BOUNDS, type LogLabel, NAMED_METRICS, type NamedMetric } from './catalogue.ts';

export const LE = 'le';

/** The metrics whose names and labels the matchers can take. */
export function selectMetrics(matchers: readonly LabelMatcher[]): NamedMetric[] {
  const names = matchers.filter(({ label }) => label === METRIC_NAME).map(valueTest);
  return NAMED_METRICS.filter((metric) => names.every((test) => test(metric.name)) && canMatch(metric, matchers));
}

/** A matcher on a label that the metric does not have must take the empty text. */
function canMatch(metric: NamedMetric, matchers: readonly LabelMatcher[]): boolean {
  const known = new Set(labelNames(metric));
  return matchers.every((matcher) => known.has(matcher.label) || valueTest(matcher)(''));
}

/** Every label that series of the metric can have. */
export function labelNames({ metric, part }: NamedMetric): string[] {
  const own = metric.dataset.labels.map(({ name }) => name);
  return [METRIC_NAME, ...own, ...(part === 'bucket' ? [LE] : [])];
}

/** The bounds of buckets that the matchers take. */
export function selectBounds(matchers: readonly LabelMatcher[]): string[] {
  const tests = matchers.filter(({ label }) => label === LE).map(valueTest);
  return BOUNDS.filter((bound) => tests.every((test) => test(bound)));
}

export interface Conditions {
  /** On the records that make series. */
  readonly where: string;
  /** On those of them that are counted. */
  readonly counted: string;
}

/**
 * A condition on a label that the series have, or that tells what a record is about, decides which series there are. One on another label
 * only decides what is counted: so a rate of errors is 0, and not absent, while there are records without errors.
 */
export function conditionsOf(
  { metric }: NamedMetric,
  matchers: readonly LabelMatcher[],
  grouped: readonly LogLabel[],
  values: Values,
): Conditions {
  const where = [metric.dataset.where];
  const counted = ['1'];
  for (const matcher of matchers) {
    const label = metric.dataset.labels.find(({ name }) => name === matcher.label);
    if (label === undefined) continue;
    const condition = matcherCondition(matcher, label.sql, values);
    if (label.identity || grouped.includes(label)) where.push(condition);
    else counted.push(condition);
  }
  return { where: where.join(' AND '), counted: counted.join(' AND ') };
}
