/** The samples that were sent, as PromQL reads them. */
import {
  type LabelMatcher,
  type Labels,
  QueryError,
  type SelectOptions,
  type SeriesData,
  type Storage,
} from '@obsiac/promql';
import { Breather } from '../breather.ts';
import { ID_BYTES } from '../intake/series-id.ts';
import { metricTable } from '../table.ts';
import { findSeries, type SeriesRange, seriesSource } from './series-table.ts';
import { type Asking, selectBinary, Values } from './statement.ts';

export interface ReadLimits {
  /** Series that one selector may read. */
  readonly series: number;
  /** Samples that all selectors of a query together may read. */
  readonly samples: number;
}

/** So many series are named in the statement; of more, it looks for them itself. */
const MOST_NAMED = 500;

/** The first and the last time that the engine's type of time can hold, milliseconds. */
const FIRST_TIME = 0;
const LAST_TIME = Date.UTC(2149, 5, 6);

/** For one query: its selectors share the limit of samples. */
export class SampleStorage implements Storage {
  readonly #asking: Asking;
  readonly #org: string;
  readonly #limits: ReadLimits;
  #left: number;

  constructor(asking: Asking, org: string, limits: ReadLimits) {
    this.#asking = asking;
    this.#org = org;
    this.#limits = limits;
    this.#left = limits.samples;
  }

  async select(
    matchers: readonly LabelMatcher[],
    from: number,
    to: number,
    { signal }: SelectOptions = {},
  ): Promise<readonly SeriesData[]> {
    const [first, last] = [Math.max(from, FIRST_TIME), Math.min(to, LAST_TIME)];
    if (last < first) return [];
    const range = { org: this.#org, from: first, to: last };
    const labels = await findSeries(this.#asking, range, [matchers], this.#limits.series, signal);
    if (labels.size > this.#limits.series) {
      throw new QueryError(
        'too_many_series',
        `A selector matches more than ${this.#limits.series} series. Name more labels, or ask for a shorter time.`,
      );
    }
    if (labels.size === 0) return [];
    const series = await this.#read(range, matchers, labels, signal, false);
    const settled = await this.#ordered(series, inOrder);
    if (settled !== undefined) return settled;
    // A time came twice with different values, and the rows are not merged yet: once more, with the order in which they were written.
    const versioned = await this.#read(range, matchers, labels, signal, true);
    return (await this.#ordered(versioned, lastWritten))!;
  }

  /** Undefined as soon as `order` gives none. */
  async #ordered(
    series: readonly { readonly labels: Labels; readonly columns: Columns }[],
    order: (labels: Labels, columns: Columns) => SeriesData | undefined,
  ): Promise<SeriesData[] | undefined> {
    const breather = new Breather();
    const found: SeriesData[] = [];
    for (const { labels, columns } of series) {
      const ordered = order(labels, columns);
      if (ordered === undefined) return undefined;
      found.push(ordered);
      await breather.pause();
    }
    return found;
  }

  async #read(
    range: SeriesRange,
    matchers: readonly LabelMatcher[],
    labels: ReadonlyMap<string, Labels>,
    signal: AbortSignal | undefined,
    versions: boolean,
  ): Promise<{ readonly labels: Labels; readonly columns: Columns }[]> {
    const values = new Values();
    const sql = this.#samplesSql(range, matchers, [...labels.keys()], versions, values);
    const rows = await selectBinary(this.#asking, sql, values, signal);
    const found: { readonly labels: Labels; readonly columns: Columns }[] = [];
    let samples = 0;
    const breather = new Breather();
    while (!rows.done) {
      await breather.pause();
      const id = rows.key(ID_BYTES);
      const columns = { times: rows.integers(), values: rows.doubles(), stale: rows.flags(), versions: rows.doubles() };
      samples += columns.times.length;
      const own = labels.get(id);
      // A series may have come between the two statements: the next query has it.
      if (own !== undefined) found.push({ labels: own, columns });
    }
    if (!versions) this.#left -= samples;
    if (this.#left < 0) {
      throw new QueryError(
        'too_many_samples',
        `The query reads more than ${this.#limits.samples} samples. Name more labels, or ask for a shorter time.`,
      );
    }
    return found;
  }

  /** One row for each series. Markers of staleness, and versions, are sent only where they say something. */
  #samplesSql(
    range: SeriesRange,
    matchers: readonly LabelMatcher[],
    ids: readonly string[],
    versions: boolean,
    values: Values,
  ): string {
    const { tables } = this.#asking.engine;
    const among =
      ids.length <= MOST_NAMED
        ? `arrayMap(text -> toUInt128(text), ${values.texts(ids.map(decimal))})`
        : `(SELECT id ${seriesSource(this.#asking, range, [matchers], values)})`;
    const time = (value: number) => `fromUnixTimestamp64Milli(toInt64(${values.integer(value)}), 'UTC')`;
    return `SELECT id, groupArray(toUnixTimestamp64Milli(time)), groupArray(value), if(max(stale) = 0, [], groupArray(stale)),
  ${versions ? 'groupArray(toFloat64(version))' : "CAST([], 'Array(Float64)')"}
FROM (SELECT id, time, value, stale, version FROM ${metricTable(tables, 'metric_samples')}
  WHERE org = ${values.text(range.org)} AND id ${tables.cluster === undefined ? '' : 'GLOBAL '}IN ${among}
    AND time BETWEEN ${time(range.from)} AND ${time(range.to)}
  LIMIT ${versions ? this.#limits.samples : this.#left + 1}) AS samples
GROUP BY id`;
  }
}

/** A number of a series, of its bytes, for the engine. */
function decimal(key: string): string {
  const bytes = Buffer.from(key, 'latin1');
  return String((bytes.readBigUInt64LE(8) << 64n) | bytes.readBigUInt64LE(0));
}

interface Columns {
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Empty: no sample is a marker. */
  readonly stale: Uint8Array;
  /** Empty: not asked for. */
  readonly versions: Float64Array;
}

/** The samples in order of time; undefined when a time has two values. */
function inOrder(labels: Labels, columns: Columns): SeriesData | undefined {
  const { times, values, stale } = columns;
  if (rises(times)) return { labels, times, values, stale: stale.length === 0 ? undefined : stale };
  const order = Array.from(times.keys()).sort((a, b) => times[a]! - times[b]!);
  for (let place = 1; place < order.length; place += 1) {
    const [before, index] = [order[place - 1]!, order[place]!];
    if (times[before] !== times[index]) continue;
    if (!Object.is(values[before], values[index]) || stale[before] !== stale[index]) return undefined;
  }
  return pick(labels, columns, order);
}

/** The samples in order of time; of those of one time, the one written last. */
function lastWritten(labels: Labels, columns: Columns): SeriesData {
  const { times, versions } = columns;
  const order = Array.from(times.keys()).sort((a, b) => times[a]! - times[b]! || versions[a]! - versions[b]!);
  return pick(labels, columns, order);
}

/** The samples at these places; of neighbours with the same time, the later. */
function pick(labels: Labels, { times, values, stale }: Columns, order: readonly number[]): SeriesData {
  const kept = order.filter((index, place) => {
    const next = order[place + 1];
    return next === undefined || times[next] !== times[index];
  });
  return {
    labels,
    times: Float64Array.from(kept, (index) => times[index]!),
    values: Float64Array.from(kept, (index) => values[index]!),
    stale: stale.length === 0 ? undefined : Uint8Array.from(kept, (index) => stale[index]!),
  };
}

function rises(times: Float64Array): boolean {
  for (let index = 1; index < times.length; index += 1) if (times[index]! <= times[index - 1]!) return false;
  return true;
}
