/** Starts the real service as a process of its own, on a free port, with a fresh data directory. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const program = path.join(import.meta.dirname, '../packages/service/bin/obsiac-service.js');

type Scope = 'read' | 'write' | 'delete';

/** The three tokens of a config. */
type Tokens = Readonly<Record<Scope, string>>;

export interface RealService {
  /** `http://127.0.0.1:PORT/api/v4` */
  readonly apiBaseUrl: string;
  readonly org: string;
  readonly tokens: Tokens;
  /** Makes another refresh token and gives it. */
  createToken(scope: Scope, name: string): string;
  revokeToken(name: string): void;
  /** A request with the write token, for what a model cannot declare. Throws when it is refused. */
  send(method: string, resource: string, body?: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

interface ConfigFile {
  readonly api_config: Record<Scope, { refresh_token: string; api_base_url: string; org: string }>;
}

/** Resolves when the service answers; throws with what it printed when it ends instead. */
export async function startRealService(): Promise<RealService> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'obsiac-service-'));
  const child = spawn(process.execPath, [program, 'serve', '--data-dir', dataDir, '--port', '0', '--no-logs'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: withoutSettings(),
  });
  await untilListening(child);
  const config = JSON.parse(readFileSync(path.join(dataDir, 'config.json'), 'utf8')) as ConfigFile;
  const { read, write, delete: remove } = config.api_config;
  const token = (args: readonly string[]) =>
    execFileSync(process.execPath, [program, 'token', ...args, '--data-dir', dataDir], {
      encoding: 'utf8',
      env: withoutSettings(),
    }).trim();
  const send = sender(write);
  return {
    apiBaseUrl: read.api_base_url,
    org: read.org,
    tokens: { read: read.refresh_token, write: write.refresh_token, delete: remove.refresh_token },
    createToken: (scope, name) => token(['create', '--scope', scope, '--name', name]),
    revokeToken: (name) => {
      token(['revoke', name]);
    },
    send,
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(dataDir, { recursive: true });
    },
  };
}

/** The developer's own settings must not reach the service under test. */
function withoutSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(OBSIAC_|DATABASE_URL|CLICKHOUSE_URL)/.test(name)),
  );
}

function untilListening(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = '';
    const onText = (chunk: Buffer) => {
      printed += chunk.toString();
      if (/"msg":"listening on /.test(printed)) resolve();
    };
    child.stdout?.on('data', onText);
    child.stderr?.on('data', onText);
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}:\n${printed}`)));
  });
}

/** Sends with an access token that is exchanged once. */
function sender(credential: { refresh_token: string; api_base_url: string; org: string }): RealService['send'] {
  let access: Promise<string> | undefined;
  const exchange = async () => {
    const answer = await fetch(`${credential.api_base_url}/oauth/access_token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: credential.refresh_token }),
    });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  return async (method, resource, body) => {
    access ??= exchange();
    const url = `${credential.api_base_url}/organizations/${credential.org}${resource}`;
    const answer = await fetch(url, {
      method,
      headers: { 'content-type': 'application/json', 'X-LAST9-API-TOKEN': `Bearer ${await access}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${resource}: ${answer.status} ${text}`);
    return text === '' ? null : (JSON.parse(text) as unknown);
  };
}
