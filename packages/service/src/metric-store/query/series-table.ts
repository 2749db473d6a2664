/** Finds series in the table of series: what queries and questions about labels begin with. */
import { type LabelMatcher, type Labels, labelsOf } from '@obsiac/promql';
import { Breather } from '../breather.ts';
import { DAY_MS } from '../intake/batch.ts';
import { ID_BYTES } from '../intake/series-id.ts';
import { metricTable } from '../table.ts';
import { matcherConditions } from './matchers.ts';
import { type Asking, selectBinary, Values } from './statement.ts';

/** Days that the table has a column value for: from 1970 to 2149. */
const LAST_DAY = 65_535;

function day(time: number): number {
  return Math.max(0, Math.min(LAST_DAY, Math.floor(time / DAY_MS)));
}

/** The column of a label: the metric's name, or the value beside the label's name, empty when it is not there. */
export function columnOf(values: Values): (label: string) => string {
  return (label) => (label === '__name__' ? 'toString(name)' : `values[indexOf(names, ${values.text(label)})]`);
}

export interface SeriesRange {
  readonly org: string;
  /** Milliseconds since 1970, both included. */
  readonly from: number;
  readonly to: number;
}

/** `FROM … WHERE …` of the rows of series that one of the selectors takes; without selectors, of all. */
export function seriesSource(
  { engine }: Asking,
  { org, from, to }: SeriesRange,
  selectors: readonly (readonly LabelMatcher[])[],
  values: Values,
): string {
  const column = columnOf(values);
  const taken = selectors.map((matchers) => `(${matcherConditions(matchers, column, values)})`).join(' OR ');
  // The name's own column, which the table is ordered by, so that the rest of the metrics is not read.
  const names = selectors.map((matchers) => matchers.find(({ label, op }) => label === '__name__' && op === '='));
  const named =
    selectors.length > 0 && names.every((name) => name !== undefined)
      ? ` AND name IN (${names.map((name) => values.text(name!.value)).join(', ')})`
      : '';
  const range = `day BETWEEN toDate(${values.integer(day(from))}) AND toDate(${values.integer(day(to))})`;
  return `FROM ${metricTable(engine.tables, 'metric_series')}
WHERE org = ${values.text(org)} AND ${range}${named}${taken === '' ? '' : ` AND (${taken})`}`;
}

/** Labels of the series by their numbers; at most `limit` + 1 of them. @throws StoreError, QueryError */
export async function findSeries(
  asking: Asking,
  range: SeriesRange,
  selectors: readonly (readonly LabelMatcher[])[],
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Map<string, Labels>> {
  const values = new Values();
  const sql = `SELECT id, toString(any(name)), any(CAST(names, 'Array(String)')), any(values)
${seriesSource(asking, range, selectors, values)} GROUP BY id LIMIT ${Math.trunc(limit) + 1}`;
  const rows = await selectBinary(asking, sql, values, signal);
  const found = new Map<string, Labels>();
  const breather = new Breather();
  while (!rows.done) {
    await breather.pause();
    const id = rows.key(ID_BYTES);
    const pairs: [string, string][] = [['__name__', rows.text()]];
    const names = rows.texts();
    const texts = rows.texts();
    names.forEach((name, index) => {
      pairs.push([name, texts[index]!]);
    });
    found.set(id, labelsOf(pairs));
  }
  return found;
}
