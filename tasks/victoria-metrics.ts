/** Starts a real VictoriaMetrics for a test or a benchmark. */
import { join } from 'node:path';
import { type Availability, debianBinaryOrReason } from './debian.ts';
import { type MetricsServer, startServer } from './metrics-server.ts';

/** The program, or the reason why tests with it are skipped. With `CI=true` it throws instead. */
export function victoriaMetricsBinary(): Promise<Availability> {
  return debianBinaryOrReason({ package: 'victoria-metrics', suite: 'sid', binary: 'victoria-metrics' });
}

export interface VictoriaMetricsOptions {
  /** Path of the program. */
  readonly binary: string;
  /** Further flags, for example `-search.maxQueryLen=1024`. */
  readonly flags?: readonly string[];
}

/**
 * Starts a server on a free port of the loopback address with an empty data folder, and waits until it is ready.
 * What was written can be read at once after `flush`.
 */
export async function startVictoriaMetrics(
  options: VictoriaMetricsOptions,
): Promise<MetricsServer & { flush(): Promise<void> }> {
  const server = await startServer({
    name: 'victoria-metrics',
    binary: options.binary,
    prepare: (home) => [
      `-storageDataPath=${join(home, 'data')}`,
      '-retentionPeriod=100y',
      '-httpListenAddr=127.0.0.1:0',
      // Else the newest 30 seconds are not answered.
      '-search.latencyOffset=0s',
      ...(options.flags ?? []),
    ],
    read(line) {
      const address = /started server at http:\/\/([^/\s]+)\//.exec(line)?.[1];
      return { address, ready: address !== undefined };
    },
  });
  return {
    ...server,
    async flush() {
      const response = await fetch(`${server.url}/internal/force_flush`);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`flush: ${response.status}`);
    },
  };
}
