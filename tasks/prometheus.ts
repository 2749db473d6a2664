/** Starts a real Prometheus for a test or a benchmark, writes samples into it and asks it questions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Availability, debianBinaryOrReason } from './debian.ts';
import { remoteWriteBodies, type WrittenSeries } from './remote-write.ts';

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

/** An answer of the HTTP API, whatever its status. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: {
    readonly status: 'success' | 'error';
    readonly data?: unknown;
    readonly errorType?: string;
    readonly error?: string;
    readonly warnings?: readonly string[];
  };
}

export interface Prometheus {
  /** Base address, without a slash at the end. */
  readonly url: string;
  /** Writes series; times must rise within each. Later calls must not go back behind earlier ones by an hour. */
  write(series: readonly WrittenSeries[]): Promise<void>;
  /** Posts a form to a path such as `/api/v1/query`. */
  ask(path: string, form: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of the loopback address with an empty data folder, and waits until it is ready. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const home = await mkdtemp(join(tmpdir(), 'prometheus-'));
  await writeFile(join(home, 'prometheus.yml'), options.config ?? '');
  const child = spawn(
    options.binary,
    [
      `--config.file=${join(home, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      '--storage.tsdb.retention.time=100y',
      '--web.listen-address=127.0.0.1:0',
      '--web.enable-remote-write-receiver',
      ...(options.flags ?? []),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const stop = () => end(child, home);
  try {
    const url = await readyAddress(child);
    return {
      url,
      write: (series) => write(url, series),
      ask: (path, form) => ask(url, path, form),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const START_TIMEOUT = 60_000;

/** Reads the log until the server says that it is ready and which port it took, in whichever order. */
function readyAddress(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stderr! });
  const tail: string[] = [];
  return new Promise((resolve, reject) => {
    let address = '';
    let ready = false;
    const failed = (why: string) => reject(new Error(`Prometheus did not start: ${why}\n${tail.join('\n')}`));
    const timer = setTimeout(() => failed(`not ready after ${START_TIMEOUT} ms`), START_TIMEOUT);
    lines.on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      address ||= /msg="Listening on".* address=(\S+)/.exec(line)?.[1] ?? '';
      ready ||= line.includes('Server is ready to receive web requests');
      if (!ready || !address) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
    child.once('error', (error) => failed(error.message));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      failed(`it ended with ${code ?? signal}`);
    });
  });
}

async function end(child: ChildProcess, home: string): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await gone;
    clearTimeout(timer);
  }
  await rm(home, { recursive: true, force: true });
}

async function write(url: string, series: readonly WrittenSeries[]): Promise<void> {
  for (const body of remoteWriteBodies(series)) {
    const response = await fetch(`${url}/api/v1/write`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-protobuf',
        'content-encoding': 'snappy',
        'x-prometheus-remote-write-version': '0.1.0',
      },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`remote write: ${response.status} ${text}`);
  }
}

async function ask(url: string, path: string, form: Readonly<Record<string, string>>): Promise<ApiAnswer> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as ApiAnswer['body'] };
}
