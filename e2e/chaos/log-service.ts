/** The real service with its log engine as processes of their own, for tests of what load does to them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEngineClient } from '../../packages/service/src/engine/index.ts';

const PROGRAM = path.join(import.meta.dirname, '../../packages/service/bin/obsiac-service.js');
/** Milliseconds after which a request without an answer is a hang. */
const HANG = 60_000;

export interface LogsState {
  readonly state: string;
  readonly spool: { readonly batches: number; readonly records: number; readonly bytes: number };
  readonly loader: { readonly loaded_records: number };
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: number;
  readonly text: string;
}

export interface LogService {
  readonly dataDir: string;
  /** Milliseconds from the start of the process to the first answer of its API. */
  readonly answeredAfter: number;
  /** Milliseconds from the start of the process until logs can be searched. */
  ready(): Promise<number>;
  logs(): Promise<LogsState>;
  /** Waits until all that was accepted can be found. */
  loaded(): Promise<void>;
  /** A batch to `/cloudflare`. Rejects when the connection breaks or hangs. */
  deliver(body: Uint8Array): Promise<Answer>;
  /** A search of the API, such as `hits`. */
  search(kind: string, input: object): Promise<Answer>;
  /** The most memory that both processes have held so far, in MiB (Linux: VmHWM). */
  peaks(): { readonly service: number; readonly engine: number };
  /** Asks the engine itself. */
  rows<T>(query: string): Promise<T[]>;
  stop(): Promise<void>;
}

interface Intake {
  readonly endpoint: string;
  readonly authorization: string;
}

export async function startLogService(flags: readonly string[] = []): Promise<LogService> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-chaos-'));
  const from = performance.now();
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--data-dir', dataDir, '--port', '0', ...flags], {
    stdio: 'ignore',
    env: withoutSettings(),
  });
  const intake = await untilListening(child, path.join(dataDir, 'intake.json'));
  const answeredAfter = performance.now() - from;
  const agent = new Agent({ keepAlive: true });
  const engine = createEngineClient(
    { socketPath: path.join(dataDir, 'logs', 'engine', 'engine.sock') },
    { requestTimeout: 120_000, maxConnections: 1 },
  );
  const logs = async () =>
    ((await (await fetch(`${intake.endpoint}/readyz`)).json()) as { readonly logs: LogsState }).logs;
  const until = async (done: (state: LogsState) => boolean) => {
    while (!done(await logs())) await sleep(20);
  };
  const search = searcher(path.join(dataDir, 'config.json'), agent);
  return {
    dataDir,
    answeredAfter,
    ready: async () => {
      await until(({ state }) => state === 'ready');
      return performance.now() - from;
    },
    logs,
    loaded: () => until(({ state, spool }) => state === 'ready' && spool.batches === 0),
    deliver: (body) =>
      post(`${intake.endpoint}/cloudflare?dataset=http_requests`, { authorization: intake.authorization }, body, agent),
    search,
    peaks: () => ({ service: peakOf(child.pid!), engine: Math.max(0, ...childrenOf(child.pid!).map(peakOf)) }),
    rows: async <T>(query: string) => (await engine.query({ query, format: 'JSONEachRow' })).json<T>(),
    stop: async () => {
      await engine.close();
      agent.destroy();
      const ended = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.kill('SIGTERM')) await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The developer's own settings must not reach the service under test. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(OBSIAC_|DATABASE_URL|CLICKHOUSE_URL)/.test(name)),
  );
}

async function untilListening(child: ChildProcess, file: string): Promise<Intake> {
  for (;;) {
    await sleep(10);
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    if (!existsSync(file)) continue;
    const intake = JSON.parse(readFileSync(file, 'utf8')) as Intake;
    const answer = await fetch(`${intake.endpoint}/healthz`).catch(() => undefined);
    if (answer?.ok) return intake;
  }
}

function searcher(configFile: string, agent: Agent): LogService['search'] {
  let access: Promise<string> | undefined;
  return async (kind, input) => {
    const { read } = (JSON.parse(readFileSync(configFile, 'utf8')) as { api_config: Record<string, Credential> })
      .api_config;
    if (read === undefined) throw new Error('no read token in config.json');
    access ??= exchange(read);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${await access}` };
    const url = `${read.api_base_url}/organizations/${read.org}/logs/${kind}`;
    return post(url, headers, Buffer.from(JSON.stringify(input)), agent);
  };
}

interface Credential {
  readonly refresh_token: string;
  readonly api_base_url: string;
  readonly org: string;
}

async function exchange({ api_base_url, refresh_token }: Credential): Promise<string> {
  const answer = await fetch(`${api_base_url}/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Sends to the end whatever comes meanwhile, as Logpush does; a connection that breaks is an error here, and so is silence. */
function post(url: string, headers: Readonly<Record<string, string>>, body: Uint8Array, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': String(body.length) },
    });
    sent.setTimeout(HANG, () => sent.destroy(new Error(`no answer within ${HANG} ms`)));
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode!, retryAfter: Number(response.headers['retry-after'] ?? 0), text }),
      );
    });
    sent.end(body);
  });
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function peakOf(pid: number): number {
  const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}
