/** Answers questions about the metrics of the logs: names and labels from the catalogue, values from the records. */
import { type LabelMatcher, METRIC_NAME } from '@obsiac/promql';
import { logsTable } from '../../log-store/table.ts';
import { matcherCondition } from '../query/matchers.ts';
import type { ReadLimits } from '../query/sample-storage.ts';
import { type Asking, selectBinary, Values } from '../query/statement.ts';
import type { MetricReader, SeriesScope } from '../reader.ts';
import { CATALOGUE, type LogDataset, type NamedMetric } from './catalogue.ts';
import { demandsOf } from './demand.ts';
import { recordsBetween } from './log-statement.ts';
import { type LogSource, LogStorage } from './log-storage.ts';
import { LE, labelNames, selectBounds, selectMetrics } from './selection.ts';

/** An hour: longer ranges are read when they are asked for. */
const DEFAULT_RANGE = 3_600_000;

export function createLogReader(asking: Asking, limits: ReadLimits): MetricReader {
  const source: LogSource = { asking, table: logsTable(asking.engine.tables) };
  return {
    limits: { ...limits, timeout: asking.limits.timeout },
    defaultRange: DEFAULT_RANGE,
    storage: ({ org, expr, step }) => new LogStorage(source, org, limits, demandsOf(expr, step)),
    series: (scope) => series(source, scope),
    labelNames: async ({ selectors }) =>
      [...new Set(alternatives(selectors).flatMap(({ metrics }) => metrics.flatMap(labelNames)))].sort(),
    labelValues: (label, scope) => labelValues(source, label, scope),
    metadata: async ({ metric }) =>
      new Map(
        CATALOGUE.filter(({ name }) => metric === undefined || metric === name).map(({ name, kind, help }) => [
          name,
          [{ type: kind, help, unit: /_(bytes|seconds)/.exec(name)?.[1] ?? '' }],
        ]),
      ),
  };
}

interface Alternative {
  readonly matchers: readonly LabelMatcher[];
  readonly metrics: readonly NamedMetric[];
}

function alternatives(selectors: SeriesScope['selectors']): Alternative[] {
  const given = selectors.length === 0 ? [[]] : selectors;
  return given.map((matchers) => ({ matchers, metrics: selectMetrics(matchers) }));
}

/** Series with the labels that all have: further ones are there when a query names them. */
async function series(source: LogSource, scope: SeriesScope): Promise<Record<string, string>[]> {
  const found = new Map<string, Record<string, string>>();
  for (const { matchers, metrics } of alternatives(scope.selectors)) {
    const byDataset = Map.groupBy(metrics, ({ metric }) => metric.dataset);
    for (const [dataset, same] of byDataset) {
      const labels = dataset.labels.filter(
        ({ always, name }) => always || matchers.some((each) => each.label === name),
      );
      const names = labels.map(({ name }) => name);
      const sets = await distinct(
        source,
        scope,
        dataset,
        matchers,
        labels.map(({ sql }) => sql),
      );
      for (const values of sets) {
        const own = Object.fromEntries(
          names.map((name, index) => [name, values[index]!]).filter(([, value]) => value !== ''),
        );
        for (const metric of same) {
          for (const bounds of metric.part === 'bucket' ? selectBounds(matchers) : ['']) {
            const record = { [METRIC_NAME]: metric.name, ...own, ...(bounds !== '' && { [LE]: bounds }) };
            found.set(JSON.stringify(record), record);
            if (found.size > scope.limit) return [...found.values()];
          }
        }
      }
    }
  }
  return [...found.values()];
}

async function labelValues(source: LogSource, label: string, scope: SeriesScope): Promise<string[]> {
  const found = new Set<string>();
  for (const { matchers, metrics } of alternatives(scope.selectors)) {
    if (label === METRIC_NAME) for (const { name } of metrics) found.add(name);
    if (label === LE && metrics.some(({ part }) => part === 'bucket')) {
      for (const bound of selectBounds(matchers)) found.add(bound);
    }
    for (const dataset of new Set(metrics.map(({ metric }) => metric.dataset))) {
      const own = dataset.labels.find(({ name }) => name === label);
      if (own === undefined) continue;
      for (const [value] of await distinct(source, scope, dataset, matchers, [own.sql])) found.add(value!);
    }
  }
  found.delete('');
  return [...found].sort();
}

/** Sets of values that occur among the records of a dataset that the matchers take. */
async function distinct(
  { asking, table }: LogSource,
  { org, from, to, limit, signal }: SeriesScope,
  dataset: LogDataset,
  matchers: readonly LabelMatcher[],
  columns: readonly string[],
): Promise<string[][]> {
  const values = new Values();
  const conditions = matchers.flatMap((matcher) => {
    const label = dataset.labels.find(({ name }) => name === matcher.label);
    return label === undefined ? [] : [matcherCondition(matcher, label.sql, values)];
  });
  const sql = `SELECT DISTINCT ${columns.join(', ')}
${recordsBetween({ table, org, dataset: dataset.name }, { from: from - 1, to }, values)} AND ${[dataset.where, ...conditions].join(' AND ')} LIMIT ${limit + 1}`;
  const rows = await selectBinary(asking, sql, values, signal);
  const found: string[][] = [];
  while (!rows.done) found.push(columns.map(() => rows.text()));
  return found;
}
