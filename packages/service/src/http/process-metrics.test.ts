import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { collectProcessMetrics } from './process-metrics.ts';

const LONGEST = /^obsiac_event_loop_delay_seconds\{quantile="1"\} (\S+)$/m;

it('tells how long the event loop was held up since the last scrape', async () => {
  const registry = new Registry();
  collectProcessMetrics(registry);
  await sleep(300);
  const until = performance.now() + 400;
  while (performance.now() < until);
  await sleep(200);
  const text = await registry.metrics();
  const longest = Number(LONGEST.exec(text)?.[1]);
  // It looks every tenth of a second, so that up to this much of what it is held up for is unseen.
  expect(longest).toBeGreaterThan(0.25);
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).not.toContain('nodejs_eventloop_lag_p99_seconds');
});
