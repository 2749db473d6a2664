/** Answers questions about the metrics that were sent. */
import { labelsRecord } from '@obsiac/promql';
import { DAY_MS } from '../intake/batch.ts';
import type { MetricMetadata, MetricReader, SeriesScope } from '../reader.ts';
import { metricTable } from '../table.ts';
import { type ReadLimits, SampleStorage } from './sample-storage.ts';
import { columnOf, findSeries, seriesSource } from './series-table.ts';
import { type Asking, selectBinary, Values } from './statement.ts';

/** Longer than anything is kept. */
const ALL_TIME = 200 * 365 * DAY_MS;

export function createSampleReader(asking: Asking, limits: ReadLimits): MetricReader {
  return {
    limits: { ...limits, timeout: asking.limits.timeout },
    // All there is: series are few beside samples.
    defaultRange: ALL_TIME,
    storage: ({ org }) => new SampleStorage(asking, org, limits),
    series: async (scope) => {
      const found = await findSeries(asking, scope, scope.selectors, scope.limit, scope.signal);
      return [...found.values()].map(labelsRecord);
    },
    labelNames: (scope) => labelNames(asking, scope),
    labelValues: (label, scope) => labelValues(asking, label, scope),
    metadata: (scope) => readMetadata(asking, scope),
  };
}

async function labelNames(asking: Asking, scope: SeriesScope): Promise<string[]> {
  const values = new Values();
  const sql = `SELECT DISTINCT arrayJoin(arrayPushBack(CAST(names, 'Array(String)'), '__name__')) AS label
${seriesSource(asking, scope, scope.selectors, values)} ORDER BY label LIMIT ${scope.limit + 1}`;
  return texts(asking, sql, values, scope);
}

async function labelValues(asking: Asking, label: string, scope: SeriesScope): Promise<string[]> {
  const values = new Values();
  const sql = `SELECT DISTINCT ${columnOf(values)(label)} AS value
${seriesSource(asking, scope, scope.selectors, values)} AND value != '' ORDER BY value LIMIT ${scope.limit + 1}`;
  return texts(asking, sql, values, scope);
}

async function texts(asking: Asking, sql: string, values: Values, { signal }: SeriesScope): Promise<string[]> {
  const rows = await selectBinary(asking, sql, values, signal);
  const found: string[] = [];
  while (!rows.done) found.push(rows.text());
  return found;
}

async function readMetadata(
  asking: Asking,
  { org, metric }: { readonly org: string; readonly metric?: string | undefined },
): Promise<ReadonlyMap<string, readonly MetricMetadata[]>> {
  const values = new Values();
  const own = metric === undefined ? '' : ` AND name = ${values.text(metric)}`;
  const sql = `SELECT name, toString(argMax(type, version)), argMax(help, version), toString(argMax(unit, version))
FROM ${metricTable(asking.engine.tables, 'metric_metadata')} WHERE org = ${values.text(org)}${own} GROUP BY name ORDER BY name`;
  const rows = await selectBinary(asking, sql, values, undefined);
  const found = new Map<string, MetricMetadata[]>();
  while (!rows.done) found.set(rows.text(), [{ type: rows.text(), help: rows.text(), unit: rows.text() }]);
  return found;
}
