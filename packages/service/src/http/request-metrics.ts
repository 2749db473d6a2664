/** `/metrics` in the Prometheus text format: requests by route and status, their latency, the build, the process. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { VERSION } from '../version.ts';
import type { Api } from './api.ts';
import { collectProcessMetrics } from './process-metrics.ts';

const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts the requests of any number of servers. */
export type MeasureRequests = (app: Api) => void;

export function createRequestMetrics(registry: Registry): MeasureRequests {
  collectProcessMetrics(registry);
  const requests = new Counter({
    name: 'obsiac_http_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'obsiac_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  });
  const build = new Gauge({
    name: 'obsiac_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers: [registry],
  });
  build.set({ version: VERSION, node: process.versions.node }, 1);
  return (app) => {
    app.addHook('onResponse', async (request, reply) => {
      const route = request.routeOptions.url ?? 'unknown';
      requests.inc({ method: request.method, route, status: String(reply.statusCode) });
      duration.observe({ method: request.method, route }, reply.elapsedTime / 1000);
    });
  };
}

export function metricsRoute(app: Api, registry: Registry): void {
  app.addHook('onClose', async () => registry.clear());
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
