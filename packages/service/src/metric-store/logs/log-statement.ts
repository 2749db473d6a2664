/** Compiles one metric of the logs, over a grid of times, to one SELECT. */
import type { LabelMatcher } from '@obsiac/promql';
import type { Values } from '../query/statement.ts';
import { BUCKETS, type LogLabel, type NamedMetric } from './catalogue.ts';
import { conditionsOf } from './selection.ts';

/** Edges `first`, `first + interval`, …, `first + count * interval`, in milliseconds. */
export interface LogGrid {
  readonly first: number;
  readonly interval: number;
  readonly count: number;
}

export interface LogStatementOptions {
  /** The log table, quoted. */
  readonly table: string;
  readonly org: string;
  readonly metric: NamedMetric;
  readonly matchers: readonly LabelMatcher[];
  /** Labels that the series have, besides `le`. */
  readonly labels: readonly LogLabel[];
  /** Of a `_bucket`: the values of `le`. */
  readonly bounds: readonly string[];
  readonly grid: LogGrid;
  /** Series after which no more are given. */
  readonly limit: number;
}

const instant = (ms: number) => `fromUnixTimestamp64Milli(toInt64(${Math.trunc(ms)}), 'UTC')`;

/** `FROM … WHERE …` of the records of a dataset after `from` and up to `to`, in milliseconds. */
export function recordsBetween(
  { table, org, dataset }: { readonly table: string; readonly org: string; readonly dataset: string },
  { from, to }: { readonly from: number; readonly to: number },
  values: Values,
): string {
  return `FROM ${table}
WHERE org = ${values.text(org)} AND dataset = ${values.text(dataset)} AND timestamp > ${instant(from)} AND timestamp <= ${instant(to)}`;
}

/**
 * One row for each series: the values of its labels, then numbers of intervals (the one that ends with the edge `n` is number n), then for
 * each measure what came in those intervals. An interval without records may be left out.
 */
export function compileLogMetric(options: LogStatementOptions, values: Values): string {
  const { table, org, metric, matchers, labels, grid, limit } = options;
  const { where, counted } = conditionsOf(metric, matchers, labels, values);
  const measures = measuresOf(options, counted);
  const nanos = (ms: number) => `${BigInt(Math.trunc(ms)) * 1_000_000n}`;
  const interval = `toUInt32(intDiv(toUnixTimestamp64Nano(timestamp) - toInt64(${nanos(grid.first)}) - 1, ${nanos(grid.interval)}) + 1)`;
  const keys = labels.map((_, index) => `label${index}`);
  const inner = [
    ...labels.map(({ sql }, index) => `${sql} AS label${index}`),
    `${interval} AS place`,
    ...measures.map((sql, index) => `toFloat64(${sql}) AS measure${index}`),
  ];
  const outer = [...keys, 'groupArray(place)', ...measures.map((_, index) => `groupArray(measure${index})`)];
  const range = { from: grid.first, to: grid.first + grid.count * grid.interval };
  return `SELECT ${outer.join(', ')} FROM (SELECT ${inner.join(', ')}
${recordsBetween({ table, org, dataset: metric.metric.dataset.name }, range, values)} AND ${where} GROUP BY ${[...keys, 'place'].join(', ')}) AS counted
${keys.length === 0 ? '' : `GROUP BY ${keys.join(', ')} `}LIMIT ${Math.trunc(limit) + 1}`;
}

function measuresOf({ metric, bounds }: LogStatementOptions, counted: string): string[] {
  const { value } = metric.metric;
  if (value === undefined) return [`countIf(${counted})`];
  const observed = `(${counted}) AND isNotNull(${value})`;
  switch (metric.part) {
    case 'total':
    case 'sum':
      return [`sumIf(ifNull(${value}, 0), ${observed})`];
    case 'count':
      return [`countIf(${observed})`];
    case 'bucket':
      return bounds.map((bound) => {
        const upper = BUCKETS.find((each) => String(each) === bound);
        return `countIf(${upper === undefined ? observed : `${observed} AND ${value} <= ${upper}`})`;
      });
  }
}
