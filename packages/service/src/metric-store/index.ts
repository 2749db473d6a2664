/** The service's own metrics as the rest of the service sees them. */
export type { MetricMetadata, MetricReader, QueryScope, SeriesScope } from './reader.ts';
export {
  createEmbeddedSource,
  createLogsSource,
  EMBEDDED_EVALUATION_DELAY,
  LOGS_EVALUATION_DELAY,
  type OwnSourceOptions,
} from './source.ts';
