/** Decodes ExportMetricsServiceRequest in protobuf. Field numbers are those of opentelemetry-proto 1.x, metrics/v1/metrics.proto. */
import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { FieldValue } from '@obsiac/model';
import { keyValueInto } from '../../intake/otlp/protobuf.ts';
import { type Fields, integerInto, message, readBody, readFields, textInto } from '../wire/protobuf-reader.ts';
import {
  emptyMetric,
  emptyPoint,
  type Metric,
  type MetricKind,
  type Point,
  type ResourceMetrics,
  type ScopeMetrics,
} from './data.ts';

type Entry = Fields[number];

/** @throws UndecodableMetrics, OtlpDecodeError */
export async function decodeMetricsRequest(bytes: Uint8Array): Promise<ResourceMetrics[]> {
  const found: ResourceMetrics[] = [];
  await readBody(bytes, 'ExportMetricsServiceRequest', {
    1: message((reader, end) => found.push(readResourceMetrics(reader, end))),
  });
  return found;
}

function attribute(into: Record<string, FieldValue>): Entry {
  return [WireType.LengthDelimited, (reader) => keyValueInto(into)[1](reader, 0)];
}

function readResourceMetrics(reader: BinaryReader, end: number): ResourceMetrics {
  const resource: Record<string, FieldValue> = {};
  const scopes: ScopeMetrics[] = [];
  readFields(reader, end, {
    1: message((of, until) => readFields(of, until, { 1: attribute(resource) })),
    2: message((of, until) => scopes.push(readScopeMetrics(of, until))),
  });
  return { resource, scopes };
}

function readScopeMetrics(reader: BinaryReader, end: number): ScopeMetrics {
  const scope = { name: '', version: '' };
  const metrics: Metric[] = [];
  readFields(reader, end, {
    1: message((of, until) => readFields(of, until, { 1: textInto(scope, 'name'), 2: textInto(scope, 'version') })),
    2: message((of, until) => metrics.push(readMetric(of, until))),
  });
  return { scope, metrics };
}

function readMetric(reader: BinaryReader, end: number): Metric {
  const metric = emptyMetric();
  const monotonic = { value: 0 };
  const data = (kind: MetricKind, point: (of: BinaryReader, until: number) => Point): Entry =>
    message((of, until) => {
      metric.kind = kind;
      readFields(of, until, {
        1: message((inner, last) => metric.points.push(point(inner, last))),
        2: integerInto(metric, 'temporality'),
        3: integerInto(monotonic, 'value'),
      });
    });
  readFields(reader, end, {
    1: textInto(metric, 'name'),
    2: textInto(metric, 'description'),
    3: textInto(metric, 'unit'),
    5: data('gauge', readNumberPoint),
    7: data('sum', readNumberPoint),
    9: data('histogram', readHistogramPoint),
    10: data('exponential_histogram', readNumberPoint),
    11: data('summary', readSummaryPoint),
  });
  metric.monotonic = monotonic.value !== 0;
  return metric;
}

function timeInto(point: Point): Entry {
  return [
    WireType.Bit64,
    (of) => {
      point.time = BigInt(of.fixed64());
    },
  ];
}

function doubleInto<K extends string>(target: Record<K, number | undefined>, key: K): Entry {
  return [
    WireType.Bit64,
    (of) => {
      target[key] = of.double();
    },
  ];
}

function countInto(point: Point): Entry {
  return [
    WireType.Bit64,
    (of) => {
      point.count = Number(of.fixed64());
    },
  ];
}

/** Packed numbers of eight bytes each, one after another. */
function packedInto(target: number[], read: (of: BinaryReader) => number): Entry {
  return message((of, until) => {
    while (of.pos < until) target.push(read(of));
  });
}

function readNumberPoint(reader: BinaryReader, end: number): Point {
  const point = emptyPoint();
  readFields(reader, end, {
    3: timeInto(point),
    4: doubleInto(point, 'value'),
    6: [
      WireType.Bit64,
      (of) => {
        point.value = Number(of.sfixed64());
      },
    ],
    7: attribute(point.attributes),
    8: integerInto(point, 'flags'),
  });
  return point;
}

function readHistogramPoint(reader: BinaryReader, end: number): Point {
  const point = emptyPoint();
  readFields(reader, end, {
    3: timeInto(point),
    4: countInto(point),
    5: doubleInto(point, 'sum'),
    6: packedInto(point.bucketCounts, (of) => Number(of.fixed64())),
    7: packedInto(point.bounds, (of) => of.double()),
    9: attribute(point.attributes),
    10: integerInto(point, 'flags'),
  });
  return point;
}

function readSummaryPoint(reader: BinaryReader, end: number): Point {
  const point = emptyPoint();
  readFields(reader, end, {
    3: timeInto(point),
    4: countInto(point),
    5: doubleInto(point, 'sum'),
    6: message((of, until) => {
      const value = { quantile: 0, value: 0 };
      readFields(of, until, { 1: doubleInto(value, 'quantile'), 2: doubleInto(value, 'value') });
      point.quantiles.push(value);
    }),
    7: attribute(point.attributes),
    8: integerInto(point, 'flags'),
  });
  return point;
}
