/** Starts a real Prometheus for a test or a benchmark. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Availability, debianBinaryOrReason } from './debian.ts';
import { type MetricsServer, startServer } from './metrics-server.ts';

export type { ApiAnswer } from './metrics-server.ts';

/**
 * The suites that the reference versions come from. 3: version 3.5 LTS, which this project compares itself with.
 * 2: version 2.53 LTS, for what changed between the two.
 */
const SUITES = { 3: 'sid', 2: 'trixie' } as const;

/** The program, or the reason why tests with it are skipped. With `CI=true` it throws instead. */
export function prometheusBinary(major: keyof typeof SUITES = 3): Promise<Availability> {
  return debianBinaryOrReason({ package: 'prometheus', suite: SUITES[major], binary: 'prometheus' });
}

export interface PrometheusOptions {
  /** Path of the program. */
  readonly binary: string;
  /** Further flags, for example `--query.lookback-delta=1m`. */
  readonly flags?: readonly string[];
  /** Text of the configuration file; empty unless told. */
  readonly config?: string;
}

export type Prometheus = MetricsServer;

/** Starts a server on a free port of the loopback address with an empty data folder, and waits until it is ready. */
export function startPrometheus({ binary, flags = [], config = '' }: PrometheusOptions): Promise<Prometheus> {
  return startServer({
    name: 'prometheus',
    binary,
    async prepare(home) {
      await writeFile(join(home, 'prometheus.yml'), config);
      return [
        `--config.file=${join(home, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(home, 'data')}`,
        '--storage.tsdb.retention.time=100y',
        '--web.listen-address=127.0.0.1:0',
        '--web.enable-remote-write-receiver',
        ...flags,
      ];
    },
    read: (line) => ({
      address: /msg="Listening on".* address=(\S+)/.exec(line)?.[1],
      ready: line.includes('Server is ready to receive web requests'),
    }),
  });
}
