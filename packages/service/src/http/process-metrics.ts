/** What the process says of itself on `/metrics`. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

/** Milliseconds between two looks at the event loop. Each look wakes the process. */
const LOOK = 100;

/** The library's own look at the event loop comes a hundred times a second, which is half of what an idle service would cost. */
const NEVER = 2 ** 31 - 1;
const REPLACED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
);

/** Adds prom-client's default metrics and the event loop's delay to the registry. Call it once for a registry. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER });
  for (const name of REPLACED) registry.removeSingleMetric(name);
  const delay = monitorEventLoopDelay({ resolution: LOOK });
  delay.enable();
  new Gauge({
    name: 'obsiac_event_loop_delay_seconds',
    help: `How late the event loop came to work that was due, since the last scrape, by quantile; looked at every ${LOOK} ms.`,
    labelNames: ['quantile'],
    registers: [registry],
    collect() {
      for (const [quantile, percentile] of QUANTILES) this.set({ quantile }, secondsLate(delay.percentile(percentile)));
      delay.reset();
    },
  });
}

const QUANTILES = [
  ['0.5', 50],
  ['0.99', 99],
  ['1', 100],
] as const;

/** @param nanoseconds between two looks */
function secondsLate(nanoseconds: number): number {
  return Math.max(nanoseconds / 1e9 - LOOK / 1000, 0);
}
