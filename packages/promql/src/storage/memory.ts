/** Series held in memory, in columns that grow: for rule tests, previews and files. */
import { type Labels, labelsOf, labelValue } from '../series/labels.ts';
import { METRIC_NAME } from '../syntax/ast.ts';
import { labelsTest } from './match.ts';
import { between, type LabelMatcher, type SeriesData, type Storage } from './storage.ts';

/** A sample came that is not after the last one of its series. */
export class OutOfOrderError extends Error {
  readonly code = 'out_of_order';

  constructor(message: string) {
    super(message);
    this.name = 'OutOfOrderError';
  }
}

/** The columns of one series with room to grow. */
class Growing {
  readonly labels: Labels;
  #times = new Float64Array(16);
  #values = new Float64Array(16);
  #stale: Uint8Array | undefined;
  #size = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  append(time: number, value: number, stale: boolean): void {
    const last = this.#size === 0 ? Number.NEGATIVE_INFINITY : this.#times[this.#size - 1]!;
    if (!(time > last)) throw new OutOfOrderError(`a sample at ${time} came after one at ${last}`);
    if (this.#size === this.#times.length) this.#grow();
    this.#times[this.#size] = time;
    this.#values[this.#size] = stale ? Number.NaN : value;
    if (stale) {
      this.#stale ??= new Uint8Array(this.#times.length);
      this.#stale[this.#size] = 1;
    }
    this.#size++;
  }

  data(): SeriesData {
    return {
      labels: this.labels,
      times: this.#times.subarray(0, this.#size),
      values: this.#values.subarray(0, this.#size),
      stale: this.#stale?.subarray(0, this.#size),
    };
  }

  #grow(): void {
    const wider = <T extends Float64Array | Uint8Array>(column: T, empty: T): T => {
      empty.set(column);
      return empty;
    };
    const size = this.#times.length * 2;
    this.#times = wider(this.#times, new Float64Array(size));
    this.#values = wider(this.#values, new Float64Array(size));
    if (this.#stale) this.#stale = wider(this.#stale, new Uint8Array(size));
  }
}

/** A storage in memory. Samples of a series must be appended in order of time. */
export class MemoryStorage implements Storage {
  readonly #series = new Map<string, Growing | SeriesData>();
  readonly #byName = new Map<string, (Growing | SeriesData)[]>();

  /** Adds whole series; their columns are used as they are. A series that is there already is refused. */
  add(series: Iterable<SeriesData>): this {
    for (const each of series) {
      if (this.#series.has(each.labels.key)) throw new OutOfOrderError('the series is there already');
      for (let i = 1; i < each.times.length; i++) {
        if (!(each.times[i]! > each.times[i - 1]!)) throw new OutOfOrderError(`times do not rise at ${each.times[i]}`);
      }
      this.#insert(each);
    }
    return this;
  }

  /** Appends one sample; `stale` makes it a staleness marker. Throws `OutOfOrderError`. */
  append(labels: Labels | Readonly<Record<string, string>>, time: number, value: number, stale = false): void {
    const set = isLabels(labels) ? labels : labelsOf(labels);
    let series = this.#series.get(set.key);
    if (!series) {
      series = new Growing(set);
      this.#insert(series);
    }
    if (!(series instanceof Growing)) throw new OutOfOrderError('a series that was added whole cannot grow');
    series.append(time, value, stale);
  }

  select(matchers: readonly LabelMatcher[], from: number, to: number): readonly SeriesData[] {
    const test = labelsTest(matchers);
    const named = matchers.find(({ label, op }) => label === METRIC_NAME && op === '=');
    const candidates = named ? (this.#byName.get(named.value) ?? []) : this.#series.values();
    const found: SeriesData[] = [];
    for (const series of candidates) {
      if (!test(series.labels)) continue;
      const data = between(series instanceof Growing ? series.data() : series, from, to);
      if (data.times.length > 0) found.push(data);
    }
    return found;
  }

  /** Every series with all its samples. */
  all(): readonly SeriesData[] {
    return [...this.#series.values()].map((series) => (series instanceof Growing ? series.data() : series));
  }

  #insert(series: Growing | SeriesData): void {
    this.#series.set(series.labels.key, series);
    const name = labelValue(series.labels, METRIC_NAME);
    const named = this.#byName.get(name);
    if (named) named.push(series);
    else this.#byName.set(name, [series]);
  }
}

function isLabels(labels: Labels | Readonly<Record<string, string>>): labels is Labels {
  return Array.isArray((labels as Labels).names);
}
