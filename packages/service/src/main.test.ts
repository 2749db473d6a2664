/** The program as people and process managers start it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entityBody, readTokens } from '../test/service.ts';

const bin = path.join(import.meta.dirname, '../bin/obsiac-service.js');
let dir: string;
let children: ChildProcess[];

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'obsiac-main-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) await kill(child, 'SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const environment = { PATH: process.env['PATH'] };

/** Runs a command to its end. */
async function run(args: readonly string[], env: NodeJS.ProcessEnv = environment, node = process.execPath) {
  const child = spawn(node, [bin, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, stdout, stderr };
}

/** Starts `serve` and waits for the line that tells its address. */
async function serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = environment, node = process.execPath) {
  const child = spawn(node, [bin, 'serve', '--data-dir', dir, '--port', '0', '--no-logs', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const lines: Record<string, unknown>[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const origin = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Record<string, unknown>;
      lines.push(line);
      if (typeof line['origin'] === 'string') resolve(line['origin']);
    });
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${stderr}`)));
  });
  return { child, origin, lines };
}

async function kill(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(signal);
  const [code] = (await gone) as [number | null];
  return code;
}

const configFile = () => path.join(dir, 'config.json');
const config = () => JSON.parse(readFileSync(configFile(), 'utf8'));

async function exchange(origin: string, refreshToken: string) {
  const response = await fetch(`${origin}/api/v4/oauth/access_token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: refreshToken }),
  });
  return { status: response.status, body: (await response.json()) as { access_token: string; code: string } };
}

async function post(origin: string, token: string, where: string, body: unknown): Promise<Response> {
  return fetch(`${origin}/api/v4/organizations/default${where}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function get(origin: string, token: string, where: string) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${origin}/api/v4/organizations/default${where}`, { headers });
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
  return { status: response.status, body: (await response.json()) as any };
}

describe('the command line', () => {
  it('knows its version and teaches its use', async () => {
    const version = await run(['version']);
    expect(version).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^obsiac-service \d+\.\d+\.\d+\n$/),
    });
    expect(await run(['--version'])).toEqual(version);
    for (const args of [[], ['--help'], ['help'], ['-h']]) {
      const help = await run(args);
      expect(help.code).toBe(0);
      expect(help.stdout).toContain('Examples');
    }
    const serveHelp = (await run(['serve', '--help'])).stdout;
    for (const flag of ['--data-dir', '--port', '--host', '--org', '--database-url', 'OBSIAC_SECRET_KEY', '7780']) {
      expect(serveHelp).toContain(flag);
    }
    expect((await run(['token', '--help'])).stdout).toContain('token revoke NAME|ID');
  });

  it.each([
    [['sreve'], 'There is no command "sreve". Did you mean serve?'],
    [['serve', '--prot', '1'], 'There is no flag --prot. Did you mean --port?'],
    [['serve', '--port', 'x'], 'Bad setting: port (from the flag --port): must be a whole number'],
    [['serve', 'now'], 'serve takes no argument, and got "now".'],
    [['serve', '--scope', 'read'], '--scope and --name belong to obsiac-service token.'],
    [['serve', '--port'], "Option '--port"],
    [['token'], 'token needs one of create, list, revoke.'],
    [['token', 'make'], 'not "make"'],
    [['token', 'create'], 'needs --scope, one of read, write, delete'],
    [['token', 'create', '--scope', 'admin', '--name', 'x'], 'needs --scope, one of read, write, delete'],
    [['token', 'create', '--scope', 'read'], 'needs --name'],
    [['token', 'create', 'x', '--scope', 'read'], 'Give the name as --name.'],
    [['token', 'revoke'], 'Say which token to revoke'],
    [['token', 'list', 'a', 'b'], 'token list does not take "b".'],
  ])('%j: exit code 3 and %j', async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('names a bad variable', async () => {
    const { code, stderr } = await run(['serve'], { ...environment, OBSIAC_PORT: '-5' });
    expect([code, stderr]).toEqual([3, 'Bad setting: port (from the variable OBSIAC_PORT): must be a whole number\n']);
  });
});

describe('serve', () => {
  it('makes organisation, tokens and config.json at its first start, and keeps them', async () => {
    const first = await serve();
    expect(statSync(configFile()).mode & 0o777).toBe(0o600);
    const before = config();
    expect(before).toEqual({
      api_config: Object.fromEntries(
        ['read', 'write', 'delete'].map((scope) => [
          scope,
          {
            refresh_token: expect.stringMatching(new RegExp(`^obs_${scope}_`)),
            api_base_url: `${first.origin}/api/v4`,
            org: 'default',
          },
        ]),
      ),
      state_lock_file_path: 'obsiac.state.json',
    });
    expect(await kill(first.child, 'SIGTERM')).toBe(0);
    writeFileSync(configFile(), JSON.stringify({ ...before, mine: true }));
    const second = await serve();
    const after = config();
    expect(second.origin).not.toBe(first.origin);
    expect(after.mine).toBe(true);
    for (const scope of ['read', 'write', 'delete']) {
      const expected = { ...before.api_config[scope], api_base_url: `${second.origin}/api/v4` };
      expect(after.api_config[scope]).toEqual(expected);
      expect((await exchange(second.origin, after.api_config[scope].refresh_token)).status).toBe(200);
    }
    expect(await kill(second.child, 'SIGINT')).toBe(0);
    expect(second.lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  it('writes the public address, and the slug that was asked for', async () => {
    await serve(['--public-url', 'https://obsiac.example.com/', '--org', 'acme']);
    expect(config().api_config.read).toMatchObject({ api_base_url: 'https://obsiac.example.com/api/v4', org: 'acme' });
  });

  it('gives a second organisation a configuration of its own', async () => {
    await kill((await serve()).child, 'SIGTERM');
    const before = config();
    const { origin } = await serve(['--org', 'acme']);
    expect(config()).toEqual(before);
    const own = readTokens(path.join(dir, 'config-acme.json'));
    expect((await exchange(origin, own.read)).status).toBe(200);
    expect((await exchange(origin, before.api_config.read.refresh_token)).status).toBe(200);
  });

  it('says in one sentence that a port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const { code, stderr } = await run(['serve', '--data-dir', dir, '--port', String(port)]);
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toBe(`Port ${port} on 127.0.0.1 is taken by another program. Choose another with --port.\n`);
    // What the first start made is not lost: the next one works with it.
    const { origin } = await serve();
    expect((await exchange(origin, readTokens(configFile()).read)).status).toBe(200);
  });

  it('names the process that holds the data directory', async () => {
    const { child } = await serve();
    const { code, stderr } = await run(['serve', '--data-dir', dir, '--port', '0']);
    expect(code).toBe(1);
    expect(stderr).toContain(`is in use by another obsiac-service (process ${child.pid})`);
    await kill(child, 'SIGKILL');
    await serve();
  });

  it('refuses a key that is not the one of its data', async () => {
    await kill((await serve()).child, 'SIGTERM');
    const OBSIAC_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');
    const { code, stderr } = await run(['serve', '--data-dir', dir, '--port', '0'], {
      ...environment,
      OBSIAC_SECRET_KEY,
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^The secret key is not the one/);
  });

  it('says what is wrong when PostgreSQL is not there', async () => {
    const url = `postgres://user:very-secret@localhost/none?host=${dir}`;
    const { code, stderr } = await run(['serve', '--data-dir', dir, '--port', '0', '--database-url', url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Cannot go on: /);
    expect(stderr).not.toContain('very-secret');
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it('finishes a request that is under way when it is told to stop', async () => {
    const { child, origin } = await serve();
    const { access_token } = (await exchange(origin, readTokens(configFile()).write)).body;
    let send: (() => void) | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const text = new TextEncoder().encode(JSON.stringify(entityBody()));
        controller.enqueue(text.slice(0, 10));
        send = () => {
          controller.enqueue(text.slice(10));
          controller.close();
        };
      },
    });
    const request = fetch(`${origin}/api/v4/organizations/default/entities`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body,
      duplex: 'half',
    } as RequestInit);
    await until(async () => (await fetch(`${origin}/healthz`)).ok);
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await until(() =>
      fetch(`${origin}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    send!();
    expect((await request).status).toBe(200);
    expect(await gone).toEqual([0, null]);
  });

  it('ends at once at the second signal', async () => {
    const { child, origin } = await serve(['--stop-timeout', '3600']);
    const { access_token } = (await exchange(origin, readTokens(configFile()).write)).body;
    const stuck = fetch(`${origin}/api/v4/organizations/default/entities`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) }),
      duplex: 'half',
    } as RequestInit).catch(() => 'cut');
    await until(async () => (await fetch(`${origin}/healthz`)).ok);
    child.kill('SIGTERM');
    await until(() =>
      fetch(`${origin}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    expect(child.exitCode).toBe(null);
    expect(await kill(child, 'SIGTERM')).toBe(1);
    expect(await stuck).toBe('cut');
  });

  it('loses nothing that it acknowledged when it is killed', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { child, origin } = await serve();
      const tokens = readTokens(configFile());
      const { access_token } = (await exchange(origin, tokens.write)).body;
      const enough = acknowledged.length + 40;
      let number = 0;
      const writer = async () => {
        for (;;) {
          const reference = `round-${round}-${number++}`;
          const answer = await post(origin, access_token, '/entities', entityBody({ external_ref: reference })).catch(
            () => null,
          );
          if (answer?.status !== 200) return;
          acknowledged.push(reference);
          if (acknowledged.length === enough) child.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: 8 }, writer));
      await kill(child, 'SIGKILL');
    }
    const { origin } = await serve();
    const { access_token } = (await exchange(origin, readTokens(configFile()).read)).body;
    const { entities } = (await get(origin, access_token, '/entities')).body;
    const kept = new Set(entities.map((entity: { external_ref: string }) => entity.external_ref));
    expect(acknowledged.filter((reference) => !kept.has(reference))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThanOrEqual(120);
    const { revision } = (await get(origin, access_token, '')).body;
    expect(revision).toBe(1 + entities.length);
  });
});

describe('token', () => {
  const token = (...args: string[]) => run(['token', ...args, '--data-dir', dir]);

  it('creates, lists and revokes while the service runs', async () => {
    const { origin } = await serve();
    const made = await token('create', '--scope', 'read', '--name', 'ci plan');
    expect(made).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^obs_read_[\w-]{43}\n$/) });
    const secret = made.stdout.trim();
    const exchanged = await exchange(origin, secret);
    expect(exchanged.status).toBe(200);
    const access = exchanged.body.access_token;
    expect((await get(origin, access, '')).status).toBe(200);

    const again = await token('create', '--scope', 'write', '--name', 'ci plan');
    expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('named "ci plan"') });
    const list = await token('list');
    expect(list.stdout).toMatch(/^NAME +SCOPE +CREATED +LAST USED +STATE +ID\n/);
    expect(list.stdout).toMatch(/^ci plan +read +\S+ \S+ +\S+ \S+ +in force +[0-9a-f-]{36}$/m);
    expect(list.stdout).toMatch(/^first-start-delete +delete +.* never +in force/m);
    for (const each of [secret, ...Object.values(readTokens(configFile()))]) expect(list.stdout).not.toContain(each);

    const revoked = await token('revoke', 'ci plan');
    expect(revoked).toMatchObject({ code: 0, stdout: expect.stringContaining('Revoked the read token "ci plan"') });
    expect(await get(origin, access, '')).toMatchObject({ status: 401, body: { code: 'token_revoked' } });
    expect((await exchange(origin, secret)).body.code).toBe('token_revoked');
    expect(await token('revoke', 'ci plan')).toMatchObject({ code: 1, stderr: expect.stringContaining('"ci plan"') });
    expect((await token('list')).stdout).toMatch(/^ci plan .* revoked \d{4}-\d{2}-\d{2}/m);

    const id = /^first-start-write .* ([0-9a-f-]{36})$/m.exec(list.stdout)![1]!;
    expect((await token('revoke', id)).stdout).toContain('"first-start-write"');
    expect((await token('create', '--scope', 'delete', '--name', 'ci plan')).code).toBe(0);
    const { access_token } = (await exchange(origin, readTokens(configFile()).read)).body;
    const { entries } = (await get(origin, access_token, '/audit_trail?kind=token')).body;
    expect(entries.slice(0, 3).map((entry: { action: string }) => entry.action)).toEqual([
      'create',
      'revoke',
      'revoke',
    ]);
  });

  it('says where there is nothing', async () => {
    expect(await token('list')).toMatchObject({ code: 1, stderr: expect.stringContaining('holds no service data') });
    expect(existsSync(path.join(dir, 'metadata.sqlite'))).toBe(false);
    await kill((await serve()).child, 'SIGTERM');
    const unknown = await token('list', '--org', 'acme');
    expect(unknown).toMatchObject({
      code: 1,
      stderr: 'There is no organisation "acme" here, only: default. Name one with --org.\n',
    });
  });
});

/** A Node on this machine that is older than the service needs, as a newcomer may have. */
const oldNode = (process.env['PATH'] ?? '')
  .split(':')
  .map((folder) => path.join(folder, 'node'))
  .concat('/usr/bin/node', '/usr/local/bin/node')
  .find((node) => {
    const major = Number(/^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]);
    return major >= 20 && major < 24;
  });

describe.skipIf(oldNode === undefined)('an older Node', () => {
  it('starts the service on the right one, passes signals on and gives its exit code back', async () => {
    expect(await run(['version'], environment, oldNode)).toEqual(await run(['version']));
    expect((await run(['sreve'], environment, oldNode)).code).toBe(3);
    const { child, origin } = await serve([], environment, oldNode);
    expect(await fetch(`${origin}/metrics`).then((response) => response.text())).toMatch(/node="24\./);
    expect(await kill(child, 'SIGTERM')).toBe(0);
  });

  it('leaves no service behind when it is killed', async () => {
    const { child, origin } = await serve([], environment, oldNode);
    await kill(child, 'SIGKILL');
    await until(() =>
      fetch(`${origin}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    await serve();
  });
});

/** Waits for something that will come about. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
