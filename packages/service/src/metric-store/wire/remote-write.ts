/**
 * Decodes Prometheus remote write: `prometheus.WriteRequest` (1.0) and `io.prometheus.write.v2.Request` (2.0).
 * Field numbers are those of prometheus/prometheus: prompb/remote.proto, prompb/types.proto, prompb/io/prometheus/write/v2/types.proto.
 */
import { type BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import {
  type IncomingMetadata,
  type IncomingMetrics,
  type IncomingSeries,
  readLabels,
  STALE_HIGH,
  STALE_LOW,
  UndecodableMetrics,
} from '../incoming.ts';
import { type Fields, integerInto, message, readBody, readFields, textInto, toNumber } from './protobuf-reader.ts';
import { RefusedCounts } from './refused-counts.ts';

/** Of one series, while it is read. */
class Samples {
  readonly times: number[] = [];
  readonly values: number[] = [];
  stale: boolean[] | undefined;
  histograms = 0;

  add(value: number, time: number, stale: boolean): void {
    if (stale) this.stale ??= this.times.map(() => false);
    this.times.push(time);
    this.values.push(value);
    this.stale?.push(stale);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** A double by its bits, since JavaScript cannot tell the staleness marker from another NaN. */
function readDouble(reader: BinaryReader): { readonly value: number; readonly stale: boolean } {
  const low = reader.fixed32();
  const high = reader.fixed32();
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  return { value: scratch.getFloat64(0, true), stale: low === STALE_LOW && high === STALE_HIGH };
}

/** Field `number` of a series: a sample, with its value in field 1 and its time in field 2. In both versions. */
function sampleInto(samples: Samples): Fields[number] {
  return message((reader, end) => {
    let value = 0;
    let time = 0;
    let stale = false;
    readFields(reader, end, {
      1: [
        WireType.Bit64,
        (of) => {
          ({ value, stale } = readDouble(of));
        },
      ],
      2: [
        WireType.Varint,
        (of) => {
          time = toNumber(of.int64());
        },
      ],
    });
    samples.add(value, time, stale);
  });
}

function histogramInto(samples: Samples): Fields[number] {
  return message((reader, end) => {
    samples.histograms += 1;
    readFields(reader, end, {});
  });
}

/** Collects what a request brings. */
class Collected {
  readonly series: IncomingSeries[] = [];
  readonly metadata: IncomingMetadata[] = [];
  readonly refused = new RefusedCounts();

  add(pairs: readonly (readonly [string, string])[], samples: Samples): void {
    const read = readLabels(pairs);
    if ('reason' in read) {
      this.refused.add(samples.times.length + samples.histograms, read.reason);
      return;
    }
    const { times, values, stale, histograms } = samples;
    if (histograms > 0) this.refused.add(histograms, 'native histograms are not kept here, classic ones are');
    if (times.length > 0) this.series.push({ labels: read.labels, times, values, stale });
  }

  result(): IncomingMetrics {
    return { series: this.series, metadata: this.metadata, refused: this.refused.list() };
  }
}

/** Types of MetricMetadata in 1.0, and of Metadata in 2.0: they are numbered alike. */
const TYPES = ['unknown', 'counter', 'gauge', 'histogram', 'gaugehistogram', 'summary', 'info', 'stateset'];

function typeName(number: number): string {
  return TYPES[number] ?? 'unknown';
}

/** @throws UndecodableMetrics */
export async function decodeWriteRequest(bytes: Uint8Array): Promise<IncomingMetrics> {
  const collected = new Collected();
  await readBody(bytes, 'prometheus.WriteRequest', {
    1: message((reader, end) => {
      const pairs: [string, string][] = [];
      const samples = new Samples();
      readFields(reader, end, {
        1: message((of, until) => pairs.push(readPair(of, until))),
        2: sampleInto(samples),
        4: histogramInto(samples),
      });
      collected.add(pairs, samples);
    }),
    3: message((reader, end) => collected.metadata.push(readMetadata(reader, end))),
  });
  return collected.result();
}

function readPair(reader: BinaryReader, end: number): [string, string] {
  const pair = { name: '', value: '' };
  readFields(reader, end, {
    1: textInto(pair, 'name'),
    2: textInto(pair, 'value'),
  });
  return [pair.name, pair.value];
}

function readMetadata(reader: BinaryReader, end: number): IncomingMetadata {
  const metadata = { metric: '', type: 0, help: '', unit: '' };
  readFields(reader, end, {
    1: integerInto(metadata, 'type'),
    2: textInto(metadata, 'metric'),
    4: textInto(metadata, 'help'),
    5: textInto(metadata, 'unit'),
  });
  return { ...metadata, type: typeName(metadata.type) };
}

interface BareSeries {
  readonly refs: number[];
  readonly samples: Samples;
  readonly metadata: { readonly type: number; readonly help: number; readonly unit: number };
}

/** Version 2.0: texts stand in one table and are referred to by their place in it. @throws UndecodableMetrics */
export async function decodeWriteRequestV2(bytes: Uint8Array): Promise<IncomingMetrics> {
  const symbols: string[] = [];
  const found: BareSeries[] = [];
  await readBody(bytes, 'io.prometheus.write.v2.Request', {
    4: [WireType.LengthDelimited, (reader) => void symbols.push(reader.string())],
    5: message((reader, end) => found.push(readSeriesV2(reader, end))),
  });
  const symbol = (ref: number): string => {
    const text = symbols[ref];
    if (text === undefined) throw new UndecodableMetrics(`The body refers to symbol ${ref} of ${symbols.length}.`);
    return text;
  };
  const collected = new Collected();
  const told = new Set<string>();
  for (const { refs, samples, metadata } of found) {
    if (refs.length % 2 === 1) throw new UndecodableMetrics('A series has a label without a value.');
    const pairs: [string, string][] = [];
    for (let index = 0; index < refs.length; index += 2) pairs.push([symbol(refs[index]!), symbol(refs[index + 1]!)]);
    collected.add(pairs, samples);
    const metric = pairs.find(([name]) => name === '__name__')?.[1] ?? '';
    const [help, unit] = [symbol(metadata.help), symbol(metadata.unit)];
    if (metric === '' || told.has(metric) || (metadata.type === 0 && help === '' && unit === '')) continue;
    told.add(metric);
    collected.metadata.push({ metric, type: typeName(metadata.type), help, unit });
  }
  return collected.result();
}

function readSeriesV2(reader: BinaryReader, end: number): BareSeries {
  const refs: number[] = [];
  const samples = new Samples();
  const metadata = { type: 0, help: 0, unit: 0 };
  readFields(reader, end, {
    // Packed: the numbers one after another.
    1: message((of, until) => {
      while (of.pos < until) refs.push(of.uint32());
    }),
    2: sampleInto(samples),
    3: histogramInto(samples),
    5: message((of, until) =>
      readFields(of, until, {
        1: integerInto(metadata, 'type'),
        3: integerInto(metadata, 'help'),
        4: integerInto(metadata, 'unit'),
      }),
    ),
  });
  return { refs, samples, metadata };
}
