/** Metrics of the logs, as PromQL reads them: counters made of records at query time. */
import {
  type LabelMatcher,
  type Labels,
  labelsOf,
  QueryError,
  type SelectOptions,
  type SeriesData,
  type Storage,
} from '@obsiac/promql';
import { Breather } from '../breather.ts';
import type { ReadLimits } from '../query/sample-storage.ts';
import { type Asking, selectBinary, Values } from '../query/statement.ts';
import type { LogLabel, NamedMetric } from './catalogue.ts';
import type { Demand, Demands } from './demand.ts';
import { compileLogMetric, type LogGrid } from './log-statement.ts';
import { LE, selectBounds, selectMetrics } from './selection.ts';

/** Metrics that one selector may take: each is read from the records by itself. */
const MOST_METRICS = 6;
/** Edges of a grid. A longer range gets wider intervals. */
const MOST_EDGES = 20_000;

export interface LogSource {
  readonly asking: Asking;
  /** The log table, quoted. */
  readonly table: string;
}

/** For one query: its selectors share the limit of samples. */
export class LogStorage implements Storage {
  readonly #source: LogSource;
  readonly #org: string;
  readonly #limits: ReadLimits;
  readonly #demands: Demands;
  #left: number;

  constructor(source: LogSource, org: string, limits: ReadLimits, demands: Demands) {
    this.#source = source;
    this.#org = org;
    this.#limits = limits;
    this.#demands = demands;
    this.#left = limits.samples;
  }

  async select(
    matchers: readonly LabelMatcher[],
    from: number,
    to: number,
    { signal }: SelectOptions = {},
  ): Promise<readonly SeriesData[]> {
    if (to <= from) return [];
    const metrics = selectMetrics(matchers);
    if (metrics.length > MOST_METRICS) {
      throw new QueryError(
        'too_many_series',
        `A selector takes ${metrics.length} metrics of the logs, at most ${MOST_METRICS} are read at once. Name the metric.`,
      );
    }
    const demand = this.#demands.of(matchers);
    const found: SeriesData[] = [];
    for (const metric of metrics) {
      for (const series of await this.#read(metric, matchers, demand, { from, to }, signal)) found.push(series);
    }
    return found;
  }

  async #read(
    metric: NamedMetric,
    matchers: readonly LabelMatcher[],
    demand: Demand,
    range: { readonly from: number; readonly to: number },
    signal: AbortSignal | undefined,
  ): Promise<SeriesData[]> {
    const bounds = metric.part === 'bucket' ? selectBounds(matchers) : [''];
    if (bounds.length === 0) return [];
    const labels = labelsFor(metric, demand, this.#demands.named);
    const grid = gridOf(range, demand.interval);
    const values = new Values();
    const sql = compileLogMetric(
      { table: this.#source.table, org: this.#org, metric, matchers, labels, bounds, grid, limit: this.#limits.series },
      values,
    );
    const rows = await selectBinary(this.#source.asking, sql, values, signal);
    const found: SeriesData[] = [];
    let groups = 0;
    const breather = new Breather();
    while (!rows.done) {
      await breather.pause();
      groups += 1;
      const pairs = labels.map(({ name }): [string, string] => [name, rows.text()]);
      const places = rows.smallIntegers();
      this.#spend(groups, bounds.length, grid);
      for (const bound of bounds) {
        const own: [string, string][] = [['__name__', metric.name], ...pairs];
        if (bound !== '') own.push([LE, bound]);
        const series = counterOf(labelsOf(own), places, rows.doubles(), grid);
        if (places.length > 0) found.push(series);
      }
    }
    return found;
  }

  /** Counts what the next group's series hold. @throws QueryError */
  #spend(groups: number, bounds: number, grid: LogGrid): void {
    if (groups * bounds > this.#limits.series) {
      throw new QueryError(
        'too_many_series',
        `A selector makes more than ${this.#limits.series} series of the logs. Sum by few labels: sum by (zone) (…).`,
      );
    }
    this.#left -= bounds * (2 * grid.count + 1);
    if (this.#left >= 0) return;
    throw new QueryError(
      'too_many_samples',
      `The query makes more than ${this.#limits.samples} samples of the logs. Sum by fewer labels, or ask for a shorter time.`,
    );
  }
}

/** The labels that series of a metric have in a query, besides its name and `le`. */
function labelsFor({ metric }: NamedMetric, { grouping }: Demand, named: ReadonlySet<string>): readonly LogLabel[] {
  const { labels } = metric.dataset;
  if (grouping.kind === 'by') return labels.filter(({ name }) => grouping.labels.has(name));
  const all = labels.filter(({ name, always }) => always || named.has(name));
  return grouping.kind === 'all' ? all : all.filter(({ name }) => !grouping.labels.has(name));
}

/** Edges that end at `to`, where the last step is, and begin at `from` or before. */
function gridOf({ from, to }: { readonly from: number; readonly to: number }, wanted: number): LogGrid {
  const factor = Math.max(1, Math.ceil((to - from) / wanted / MOST_EDGES));
  const interval = wanted * factor;
  const count = Math.max(1, Math.ceil((to - from) / interval));
  return { first: to - count * interval, interval, count };
}

/**
 * A counter that is 0 at the first edge. At each further edge it has what came up to then, and the same again a millisecond later: a window
 * leaves out its left end, and would otherwise begin with the sample an interval later and miss what came in between. So the increase over
 * a window whose ends lie on edges is the number of records in it, but for an extrapolation over that one millisecond.
 */
function counterOf(labels: Labels, places: Float64Array, amounts: Float64Array, grid: LogGrid): SeriesData {
  const { first, interval, count } = grid;
  const added = new Float64Array(count + 1);
  places.forEach((place, index) => {
    added[place] = (added[place] ?? 0) + amounts[index]!;
  });
  const times = new Float64Array(2 * count + 1);
  const values = new Float64Array(2 * count + 1);
  let total = 0;
  for (let edge = 0; edge <= count; edge += 1) {
    total += added[edge]!;
    times[2 * edge] = first + edge * interval;
    values[2 * edge] = total;
    if (edge === count) break;
    times[2 * edge + 1] = first + edge * interval + 1;
    values[2 * edge + 1] = total;
  }
  return { labels, times, values, stale: undefined };
}
