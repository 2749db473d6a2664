/** A metrics server as a child process of a test or a benchmark: started, asked, written to and ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { remoteWriteBodies, type WrittenSeries } from './remote-write.ts';

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

export interface MetricsServer {
  /** Base address, without a slash at the end. */
  readonly url: string;
  /** Writes series; times must rise within each. Later calls must not go back behind earlier ones by an hour. */
  write(series: readonly WrittenSeries[]): Promise<void>;
  /** Posts a form to a path such as `/api/v1/query`. */
  ask(path: string, form: Readonly<Record<string, string>>): Promise<ApiAnswer>;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

/** What the lines of a server's log tell so far. */
export interface LogFindings {
  /** Host and port it listens on. */
  address?: string | undefined;
  ready?: boolean | undefined;
}

export interface ServerProgram {
  /** Named in errors. */
  readonly name: string;
  /** Path of the program. */
  readonly binary: string;
  /** Makes what it needs in an empty folder, and gives its arguments. */
  readonly prepare: (home: string) => string[] | Promise<string[]>;
  /** Reads one line of its log. */
  readonly read: (line: string) => LogFindings;
}

const START_TIMEOUT = 60_000;

/** Starts a server in an empty folder and waits until its log says that it is ready, and on which port. */
export async function startServer(program: ServerProgram): Promise<MetricsServer> {
  const home = await mkdtemp(join(tmpdir(), `${program.name}-`));
  const args = await program.prepare(home);
  const child = spawn(program.binary, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const stop = () => end(child, home);
  try {
    const url = await readyAddress(child, program);
    return { url, write: (series) => write(url, series), ask: (path, form) => ask(url, path, form), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Address and readiness may come in either order. */
function readyAddress(child: ChildProcess, program: ServerProgram): Promise<string> {
  const lines = createInterface({ input: child.stderr! });
  const tail: string[] = [];
  return new Promise((resolve, reject) => {
    let address: string | undefined;
    let ready = false;
    const failed = (why: string) => reject(new Error(`${program.name} did not start: ${why}\n${tail.join('\n')}`));
    const timer = setTimeout(() => failed(`not ready after ${START_TIMEOUT} ms`), START_TIMEOUT);
    lines.on('line', (line) => {
      tail.push(line);
      if (tail.length > 20) tail.shift();
      const found = program.read(line);
      address ??= found.address;
      ready ||= found.ready === true;
      if (!ready || address === undefined) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      failed(error.message);
    });
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
