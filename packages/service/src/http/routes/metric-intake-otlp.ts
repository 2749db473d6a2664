/** `/v1/metrics`: OTLP/HTTP metrics. */
import type { Api, MetricContext } from '../api.ts';
import type { IntakeAuthentication } from '../intake-authentication.ts';

export function otlpMetricsRoute(_app: Api, _authenticate: IntakeAuthentication, _open: () => MetricContext): void {}
