/** The service's own metrics as the rest of the service sees them. */
export { type IncomingMetrics, UndecodableMetrics } from './incoming.ts';
export { createMetricStore, type MetricStore, type MetricStoreCounts, type Written } from './metric-store.ts';
export { type Converted, convertMetrics } from './otlp/convert.ts';
export { DeltaSums } from './otlp/delta-sums.ts';
export { decodeMetricsRequestJson } from './otlp/json.ts';
export { decodeMetricsRequest } from './otlp/protobuf.ts';
export type { MetricReader, SeriesScope } from './reader.ts';
export { createEmbeddedSource, createLogsSource } from './source.ts';
export { decodeWriteRequest, decodeWriteRequestV2 } from './wire/remote-write.ts';
export { decompressSnappy, snappyLength } from './wire/snappy.ts';
