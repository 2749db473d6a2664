/** The service's own metrics as the rest of the service sees them. */
export { type IncomingMetrics, UndecodableMetrics } from './incoming.ts';
export { createMetricStore, type MetricStore, type MetricStoreCounts, type Written } from './metric-store.ts';
export type { MetricMetadata, MetricReader, QueryScope, SeriesScope } from './reader.ts';
export {
  createEmbeddedSource,
  createLogsSource,
  EMBEDDED_EVALUATION_DELAY,
  LOGS_EVALUATION_DELAY,
  type OwnSourceOptions,
} from './source.ts';
export { decodeWriteRequest, decodeWriteRequestV2 } from './wire/remote-write.ts';
export { decompressSnappy, snappyLength } from './wire/snappy.ts';
