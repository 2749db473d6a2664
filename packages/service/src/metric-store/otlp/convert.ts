/** Turns OTLP metrics into series as Prometheus has them (OpenTelemetry specification, compatibility/prometheus_and_openmetrics.md). */
import type { FieldValue } from '@obsiac/model';
import { Breather } from '../breather.ts';
import { type IncomingMetadata, type IncomingMetrics, type IncomingSeries, readLabels } from '../incoming.ts';
import { RefusedCounts } from '../wire/refused-counts.ts';
import { type Attributes, DELTA, type Metric, NO_RECORDED_VALUE, type Point, type ResourceMetrics } from './data.ts';
import type { DeltaSums } from './delta-sums.ts';
import { labelName, metricName, unitName } from './names.ts';

export interface Converted extends IncomingMetrics {
  /** Takes back what was added to sums of differences, when the samples could not be stored. */
  readonly undo: () => void;
}

/** Attributes that say what sends, and are `job` and `instance`. */
const IDENTITY = new Set(['service.name', 'service.namespace', 'service.instance.id']);
const MS = 1_000_000n;

/** @param owner of the sums of differences, such as the id of an organisation */
export async function convertMetrics(
  request: readonly ResourceMetrics[],
  owner: string,
  deltas: DeltaSums,
): Promise<Converted> {
  const conversion = new Conversion(owner, deltas);
  for (const each of request) await conversion.resource(each);
  return conversion.result();
}

class Conversion {
  readonly #owner: string;
  readonly #deltas: DeltaSums;
  readonly #series: IncomingSeries[] = [];
  readonly #metadata = new Map<string, IncomingMetadata>();
  readonly #refused = new RefusedCounts();
  readonly #breather = new Breather();
  readonly #added: (readonly [key: string, time: number, difference: number])[] = [];

  constructor(owner: string, deltas: DeltaSums) {
    this.#owner = owner;
    this.#deltas = deltas;
  }

  result(): Converted {
    return {
      series: this.#series,
      metadata: [...this.#metadata.values()],
      refused: this.#refused.list(),
      undo: () => {
        for (const [key, time, difference] of this.#added) this.#deltas.takeBack(key, time, difference);
      },
    };
  }

  async resource({ resource, scopes }: ResourceMetrics): Promise<void> {
    const target = targetLabels(resource);
    let newest = 0n;
    for (const { scope, metrics } of scopes) {
      const common = new Map(target);
      if (scope.name !== '') common.set('otel_scope_name', scope.name);
      if (scope.version !== '') common.set('otel_scope_version', scope.version);
      for (const metric of metrics) {
        this.#metric(metric, common);
        await this.#breather.pause();
        for (const { time } of metric.points) if (time > newest) newest = time;
      }
    }
    this.#targetInfo(resource, target, newest);
  }

  /** What is known of a sender besides its name: a series of its own, to be joined by job and instance. */
  #targetInfo(resource: Attributes, target: ReadonlyMap<string, string>, time: bigint): void {
    const others = Object.entries(resource).filter(([name]) => !IDENTITY.has(name));
    if (others.length === 0 || target.size === 0 || time === 0n) return;
    const labels = new Map([...labelsOf(others), ...target]);
    this.#tell('target_info', 'gauge', 'Attributes of the resource that sends.', '');
    this.#sample('target_info', labels, Number(time / MS), 1, false);
  }

  #metric(metric: Metric, common: ReadonlyMap<string, string>): void {
    const { kind, unit, description } = metric;
    if (kind === 'exponential_histogram') {
      const reason = 'exponential histograms are not kept here, those with explicit bounds are';
      this.#refused.add(metric.points.length, reason);
      return;
    }
    const counter = kind === 'sum' && metric.monotonic;
    const gauge = kind === 'gauge' || (kind === 'sum' && !metric.monotonic);
    const name = metricName({ name: metric.name, unit, counter, gauge });
    if (name === '') {
      this.#refused.add(metric.points.length, 'a metric has no name');
      return;
    }
    this.#tell(name, counter ? 'counter' : gauge ? 'gauge' : kind, description, unitName(unit));
    for (const point of metric.points) {
      if (point.time === 0n) this.#refused.add(1, 'a data point has no time');
      else this.#point(name, metric, point, new Map([...labelsOf(Object.entries(point.attributes)), ...common]));
    }
  }

  #point(name: string, { kind, temporality }: Metric, point: Point, labels: ReadonlyMap<string, string>): void {
    const time = Number(point.time / MS);
    const stale = (point.flags & NO_RECORDED_VALUE) !== 0;
    const delta = temporality === DELTA && (kind === 'sum' || kind === 'histogram');
    const put = (own: string, value: number, more: readonly [string, string][] = []) =>
      this.#sample(own, new Map([...labels, ...more]), time, value, stale, delta);
    if (kind === 'gauge' || kind === 'sum') {
      put(name, point.value);
      return;
    }
    if (kind === 'histogram') putBuckets(name, point, put);
    for (const { quantile, value } of point.quantiles) put(name, value, [['quantile', number(quantile)]]);
    if (point.sum !== undefined) put(`${name}_sum`, point.sum);
    put(`${name}_count`, point.count);
  }

  #sample(
    name: string,
    labels: ReadonlyMap<string, string>,
    time: number,
    value: number,
    stale: boolean,
    delta = false,
  ): void {
    const read = readLabels([...labels, ['__name__', name]]);
    if ('reason' in read) {
      this.#refused.add(1, read.reason);
      return;
    }
    const total = delta && !stale ? this.#accumulate(read.labels, time, value) : value;
    if (total === undefined) {
      this.#refused.add(1, 'a difference is older than what was added before it');
      return;
    }
    this.#series.push({ labels: read.labels, times: [time], values: [total], stale: stale ? [true] : undefined });
  }

  #accumulate(labels: IncomingSeries['labels'], time: number, difference: number): number | undefined {
    const key = JSON.stringify([this.#owner, labels]);
    const total = this.#deltas.add(key, time, difference);
    if (total !== undefined) this.#added.push([key, time, difference]);
    return total;
  }

  #tell(metric: string, type: string, help: string, unit: string): void {
    this.#metadata.set(metric, { metric, type, help, unit });
  }
}

/** Each bucket counts what is below its bound, so those before it too. */
function putBuckets(
  name: string,
  { bounds, bucketCounts, count }: Point,
  put: (name: string, value: number, more: readonly [string, string][]) => void,
): void {
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    below += bucketCounts[index] ?? 0;
    put(`${name}_bucket`, below, [['le', number(bound)]]);
  }
  put(`${name}_bucket`, count, [['le', '+Inf']]);
}

/** `job` and `instance`, as Prometheus names what it scrapes. */
function targetLabels(resource: Attributes): Map<string, string> {
  const [name, namespace, instance] = ['service.name', 'service.namespace', 'service.instance.id'].map((key) =>
    text(resource[key] ?? null),
  );
  const labels = new Map<string, string>();
  if (name) labels.set('job', namespace ? `${namespace}/${name}` : name);
  if (instance) labels.set('instance', instance);
  return labels;
}

/** Attributes whose names become one label have their values joined, in the order of the attributes' names. */
function labelsOf(attributes: readonly (readonly [string, FieldValue])[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [attribute, value] of attributes.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const name = labelName(attribute);
    const known = labels.get(name);
    labels.set(name, known === undefined ? text(value) : `${known};${text(value)}`);
  }
  return labels;
}

function text(value: FieldValue): string {
  if (value === null) return '';
  if (typeof value === 'object') {
    return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? String(each) : each));
  }
  return String(value);
}

/** A number as Go writes it in labels. */
function number(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
