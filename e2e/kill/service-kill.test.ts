/** The service killed with SIGKILL under an apply, and started again: the next apply completes it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type Credential, createClient, type Scope } from '@obsiac/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Http, openHttp } from '../../packages/cli/src/remote/http.ts';
import { readStateFile } from '../../packages/cli/src/state/state-file.ts';
import { type FaultyProxy, startProxy } from '../apply/proxy.ts';
import { CHANNELS } from '../apply/service.ts';
import { contents } from '../apply/workspace.ts';
import { createCliDirectory, thirtyObjects } from './cli.ts';

const SERVICE = join(import.meta.dirname, '../../packages/service/bin/obsiac-service.js');
const SOAK = process.env['OBSIAC_SOAK'] === '1';
const REQUESTS = 40;

interface Config {
  readonly api_config: Readonly<Record<Scope, Credential>>;
}

let dataDir: string;
let child: ChildProcess | null = null;
let origin = '';
let proxy: FaultyProxy;
let http: Http;

const configFile = (): string => join(dataDir, 'config.json');
const config = (): Config => JSON.parse(readFileSync(configFile(), 'utf8')) as Config;

/** Resolves when it answers; each start takes a free port, which the config names. */
async function start(): Promise<void> {
  const before = existsSync(configFile()) ? readFileSync(configFile(), 'utf8') : '';
  const started = spawn(
    process.execPath,
    [SERVICE, 'serve', '--data-dir', dataDir, '--port', '0', '--org', 'acme', '--no-logs'],
    {
      stdio: 'ignore',
    },
  );
  child = started;
  for (;;) {
    await sleep(25);
    if (started.exitCode !== null) throw new Error(`the service ended with ${started.exitCode}`);
    const text = existsSync(configFile()) ? readFileSync(configFile(), 'utf8') : '';
    if (text === '' || text === before) continue;
    origin = new URL(config().api_config.read.api_base_url).origin;
    const ready = await fetch(`${origin}/readyz`).catch(() => null);
    if (ready?.ok) return;
  }
}

async function kill(): Promise<void> {
  const dying = child;
  child = null;
  if (dying === null || dying.exitCode !== null) return;
  const gone = new Promise((resolve) => dying.once('exit', resolve));
  dying.kill('SIGKILL');
  await gone;
}

function client(): Client {
  return createClient({
    fetch: http.fetch,
    credential: (scope) => ({ ...config().api_config[scope], api_base_url: `${origin}/api/v4` }),
  });
}

async function token(scope: Scope): Promise<string> {
  const answer = await fetch(`${origin}/api/v4/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: config().api_config[scope].refresh_token }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

async function write(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-last9-api-token': `Bearer ${await token('write')}` };
  const url = `${origin}/api/v4/organizations/acme${path}`;
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

async function clear(): Promise<void> {
  const api = client();
  for (const { id } of (await api.listEntities()).value) await api.deleteEntity(id);
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'obsiac-service-kill-'));
  http = openHttp();
  await start();
  for (const channel of CHANNELS) await write('/notification_settings', channel);
  proxy = await startProxy(() => `${origin}/api/v4`);
});
afterAll(async () => {
  await kill();
  await http.close();
  await proxy.stop();
  rmSync(dataDir, { recursive: true });
});

describe('the service killed under an apply', { timeout: SOAK ? 20 * 60_000 : 300_000 }, () => {
  it('and started again: the next apply ends where an undisturbed one does', async () => {
    const undisturbed = createCliDirectory(thirtyObjects(), proxy.base, config().api_config);
    expect(await undisturbed.start(['apply', '-y']).ended).toMatchObject({ code: 0 });
    undisturbed.remove();
    const reference = await contents(client());
    await clear();

    const points = SOAK ? Array.from({ length: REQUESTS - 8 }, (_, index) => index + 8) : [9, 30];
    for (const point of points) {
      const directory = createCliDirectory(thirtyObjects(), proxy.base, config().api_config);
      proxy.seen.length = 0;
      proxy.fate = async ({ number }) => {
        if (number < point) return 'pass';
        if (number === point) await kill();
        return 'drop';
      };
      const disturbed = await directory.start(['apply', '-y']).ended;
      expect([1, 5], disturbed.output).toContain(disturbed.code);
      expect(disturbed.output).toContain('stopped answering');
      proxy.fate = () => 'pass';
      await start();
      const next = await directory.start(['apply', '-y']).ended;
      expect(next, next.output).toMatchObject({ code: 0 });
      expect(await contents(client())).toEqual(reference);
      expect((await readStateFile(directory.statePath))?.pending).toEqual([]);
      await clear();
      directory.remove();
    }
  });

  it('and started again at once: the apply itself goes on', async () => {
    const directory = createCliDirectory(thirtyObjects(), proxy.base, config().api_config);
    proxy.seen.length = 0;
    let restarted: Promise<void> | null = null;
    proxy.fate = async ({ number }) => {
      if (number < 20) return 'pass';
      if (restarted === null) {
        restarted = kill().then(start);
        return 'drop';
      }
      await restarted;
      return 'pass';
    };
    const ended = await directory.start(['apply', '-y']).ended;
    expect(ended, ended.output).toMatchObject({ code: 0 });
    expect((await client().listEntities()).value).toHaveLength(3);
    expect((await client().listAlertRules()).value).toHaveLength(12);
    await clear();
    directory.remove();
  });
});
