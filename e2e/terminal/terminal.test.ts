/** What the command does on a terminal, without one, and when it is interrupted. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunOptions, runCli } from '../../packages/cli/test/run-cli.ts';
import { type RealService, startRealService } from '../real-service.ts';
import { startSlowProxy } from './slow-proxy.ts';

const launcher = path.join(import.meta.dirname, '../../packages/cli/bin/obsiac.js');

let service: RealService;
let directory = '';
beforeAll(async () => {
  service = await startRealService();
});
afterAll(() => service.stop());

function writeConfig(apiBaseUrl: string, tokens: RealService['tokens'] = service.tokens): void {
  const access = (scope: 'read' | 'write' | 'delete') => ({
    refresh_token: tokens[scope],
    api_base_url: apiBaseUrl,
    org: service.org,
  });
  const config = {
    api_config: { read: access('read'), write: access('write'), delete: access('delete') },
    state_lock_file_path: 'state.lock',
  };
  writeFileSync(path.join(directory, 'config.json'), JSON.stringify(config));
}

/** Names, sizes and times of all files: what writing would change. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(path.join(folder, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

function writeModel(count: number): void {
  const entities = Array.from({ length: count }, (_, index) => ({
    name: `Service ${index}`,
    type: 'service',
    external_ref: `service-${index}`,
  }));
  writeFileSync(path.join(directory, 'model.yaml'), JSON.stringify({ entities }));
}

beforeEach(() => {
  directory = mkdtempSync('/tmp/obsiac-terminal-');
  writeConfig(service.apiBaseUrl);
  writeModel(3);
});
afterEach(async () => {
  writeConfig(service.apiBaseUrl);
  await run(['destroy', '--yes']);
  rmSync(directory, { recursive: true });
});

const run = (words: readonly string[], options: Partial<RunOptions> = {}) =>
  runCli(['-mf', 'model.yaml', '-c', 'config.json', ...words], { cwd: directory, ...options });

const TERMINAL = { columns: 80, env: { TERM: 'xterm' } };

/** What a terminal shows in the end, line by line: what is drawn over or erased is gone. */
function visible(text: string): string {
  return text
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r\u001b[2K') + (line.includes('\r\u001b[2K') ? 5 : 0)))
    .join('\n');
}

describe('apply on a terminal', () => {
  it('shows the plan, asks, and applies after "yes"', async () => {
    const { code, stdout, stderr } = await run(['apply'], { ...TERMINAL, stdin: 'yes\n' });
    expect(code).toBe(0);
    expect(stdout).toContain('3 to add');
    expect(stderr).toContain('Only "yes" goes on: ');
    expect(stdout).toContain('Apply complete! Resources: 3 added, 0 changed, 0 destroyed.');
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0);
  });

  it.for(['no\n', '\n', 'y\n', 'YES\n', 'yes please\n', ''])('changes nothing after %j', async (answer) => {
    const { code, stderr } = await run(['apply'], { ...TERMINAL, stdin: answer });
    expect(code).toBe(9);
    expect(stderr).toContain('Nothing was changed.');
    expect(existsSync(path.join(directory, 'state.lock.lock.info'))).toBe(false);
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(2);
  });

  it.for(['-y', '--yes', '--auto-approve', '-auto-approve'])('does not ask with %s', async (flag) => {
    const { code, stderr } = await run(['apply', flag], TERMINAL);
    expect(code).toBe(0);
    expect(stderr).not.toContain('Only "yes"');
  });

  it('does not ask when there is nothing to do', async () => {
    await run(['apply', '-y']);
    expect(await run(['apply'], TERMINAL)).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes.') });
  });

  it('draws one line of progress and takes it away', async () => {
    const { stdout, stderr } = await run(['apply', '-y'], TERMINAL);
    expect(stderr).toMatch(/\d\/3 {2}/);
    expect(stderr).toContain('\r\u001b[2K');
    expect(visible(stderr).trim()).toBe('');
    expect(stdout).not.toContain(': created');
  });

  it('uses colours, and none where they are not wanted', async () => {
    const coloured = '\u001b[32m';
    expect((await run(['plan'], TERMINAL)).stdout).toContain(coloured);
    expect((await run(['plan', '--no-color'], TERMINAL)).stdout).not.toContain('\u001b');
    expect((await run(['plan'], { ...TERMINAL, env: { NO_COLOR: '1' } })).stdout).not.toContain('\u001b');
    const plain = await run(['apply', '-y', '--no-color'], TERMINAL);
    expect(plain.stderr).toMatch(/\d\/3 {2}/);
    expect(`${plain.stdout}${plain.stderr}`).not.toContain('\u001b');
    await run(['destroy', '-y']);
    const dumb = await run(['apply', '-y'], { ...TERMINAL, env: { TERM: 'dumb' } });
    expect(`${dumb.stdout}${dumb.stderr}`).not.toContain('\u001b');
    expect(dumb.stdout).toContain('service-0: created');
    expect((await run(['plan'], { env: { FORCE_COLOR: '1' } })).stdout).toContain('\u001b');
  });

  it('needs -y with --json, since events leave no place for a question', async () => {
    const { code, stdout } = await run(['apply', '--json'], { ...TERMINAL, stdin: 'yes\n' });
    expect(code).toBe(10);
    const last = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(last.at(-1)).toMatchObject({ type: 'result', exit_code: 10 });
    expect(last.at(-2)).toMatchObject({
      diagnostic: { commands: ['obsiac -mf model.yaml -c config.json apply --json --yes'] },
    });
  });

  it('asks on standard error when standard output goes into a pipe', async () => {
    const { code, stdout, stderr } = await run(['apply'], { ...TERMINAL, stdoutIsPipe: true, stdin: 'no\n' });
    expect(code).toBe(9);
    expect(stderr).toContain('Only "yes" goes on: ');
    expect(stdout).not.toContain('\u001b');
  });

  it('asks nobody when there is nowhere to show the question', async () => {
    expect((await run(['apply'], { stdinIsTerminal: true })).code).toBe(0);
  });
});

describe('without a terminal', () => {
  it('applies at once, with a line for each object', async () => {
    const { code, stdout, stderr } = await run(['apply']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(/: created$/gm)).toHaveLength(3);
    expect(stdout).not.toContain('\u001b');
  });

  it('never reads standard input', async () => {
    expect((await run(['apply'], { stdin: 'no\n', stdinIsTerminal: false })).code).toBe(0);
  });
});

describe('destroy on a terminal', () => {
  it('asks, and deletes after "yes" alone', async () => {
    await run(['apply', '-y']);
    expect((await run(['destroy'], { ...TERMINAL, stdin: 'no\n' })).code).toBe(9);
    expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0);
    expect((await run(['destroy'], { ...TERMINAL, stdin: 'yes\n' })).code).toBe(0);
    expect((await run(['state', 'list'])).stdout).toBe('');
  });
});

describe('a plan', () => {
  it('only reads, with the read token alone, and writes no file', async () => {
    const proxy = await startSlowProxy(service.apiBaseUrl, 0);
    try {
      await run(['apply', '-y']);
      writeModel(5);
      writeConfig(proxy.apiBaseUrl, { read: service.tokens.read, write: 'no-such-token', delete: 'no-such-token' });
      rmSync(path.join(directory, 'state.lock'));
      const before = filesIn(directory);
      expect((await run(['plan', '--detailed-exitcode'])).code).toBe(2);
      expect(filesIn(directory)).toEqual(before);
      expect(proxy.requests.length).toBeGreaterThan(3);
      const writes = proxy.requests.filter(
        (one) => !one.startsWith('GET ') && one !== 'POST /api/v4/oauth/access_token',
      );
      expect(writes).toEqual([]);
      expect(proxy.requests.filter((one) => one.startsWith('POST '))).toHaveLength(1);
    } finally {
      await proxy.stop();
      writeConfig(service.apiBaseUrl);
      await run(['apply', '-y']);
    }
  });
});

describe('a held lock', () => {
  it('turns a second apply away, lets a plan through, and can be removed by its ID alone', async () => {
    const proxy = await startSlowProxy(service.apiBaseUrl, 1500);
    try {
      writeConfig(proxy.apiBaseUrl);
      const first = run(['apply', '--concurrency', '1']);
      const lockFile = path.join(directory, 'state.lock.lock.info');
      while (!existsSync(lockFile)) await new Promise((resolve) => setTimeout(resolve, 20));
      const second = await run(['apply']);
      expect(second).toMatchObject({ code: 6, stderr: expect.stringContaining('Another run holds the state lock') });
      expect(second.stderr).toContain(`process ${process.pid}`);
      expect((await run(['plan'])).code).toBe(0);
      expect((await run(['force-unlock', 'not-the-id'])).code).toBe(1);
      const { id } = JSON.parse(readFileSync(lockFile, 'utf8')) as { id: string };
      expect(second.stderr).toContain(id);
      expect(await run(['force-unlock', id])).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
      // It has lost its lock, so it stops; what it did stays known or is found again.
      expect((await first).code).not.toBe(0);
      expect((await run(['apply'])).code).toBe(0);
      expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0);
      expect((await run(['destroy', '--yes'])).code).toBe(0);
    } finally {
      await proxy.stop();
    }
  });
});

describe('an interrupted apply', () => {
  /** Starts an apply that takes a second per write, and interrupts it `times` times once the first object is there. */
  async function interrupt(
    times: number,
    node = process.execPath,
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(
      node,
      [launcher, '-mf', 'model.yaml', '-c', 'config.json', 'apply', '--json', '--concurrency', '1'],
      { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const kept = { stdout: '', stderr: '' };
    let sent = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      kept.stdout += chunk.toString();
      if (sent === 0 && kept.stdout.includes('"apply_complete"')) {
        sent = 1;
        child.kill('SIGINT');
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      kept.stderr += chunk.toString();
      // Signals within a fifth of a second are taken for one; the second comes when the first was answered, and later.
      if (sent < times && kept.stderr.includes('Interrupted')) {
        sent++;
        setTimeout(() => child.kill('SIGINT'), 300);
      }
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, ...kept };
  }

  const countOfType = (stdout: string, type: string) =>
    stdout.split('\n').filter((line) => line.includes(`"type":"${type}"`)).length;

  it('finishes what is under way, saves, and exits with 9; the next apply does the rest', async () => {
    const proxy = await startSlowProxy(service.apiBaseUrl, 400);
    try {
      writeConfig(proxy.apiBaseUrl);
      writeModel(12);
      const { code, stdout, stderr } = await interrupt(1);
      expect(code).toBe(9);
      expect(stderr).toContain('Interrupt again to stop at once.');
      const done = countOfType(stdout, 'apply_complete');
      expect(done).toBeGreaterThan(0);
      expect(done).toBeLessThan(12);
      expect(stdout.trimEnd().split('\n').at(-1)).toContain('"exit_code":9');
      expect((await run(['state', 'list'])).stdout.trimEnd().split('\n')).toHaveLength(done);
      expect(existsSync(path.join(directory, 'state.lock.lock.info'))).toBe(false);
      const rest = await run(['apply']);
      expect(rest.stdout).toContain(`Resources: ${12 - done} added`);
      expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0);
      await run(['destroy', '--yes']);
    } finally {
      await proxy.stop();
    }
  });

  it.runIf(existsSync('/usr/bin/node'))('hears of it through the launcher too', async () => {
    const proxy = await startSlowProxy(service.apiBaseUrl, 300);
    try {
      writeConfig(proxy.apiBaseUrl);
      writeModel(12);
      const { code, stderr } = await interrupt(1, '/usr/bin/node');
      expect(code).toBe(9);
      expect(stderr).not.toContain('stopping at once');
      expect((await run(['destroy', '--yes'])).code).toBe(0);
    } finally {
      await proxy.stop();
    }
  });

  it('stops at once at the second interrupt; the next apply makes nothing twice', async () => {
    const proxy = await startSlowProxy(service.apiBaseUrl, 3000);
    try {
      writeConfig(proxy.apiBaseUrl);
      const { code, stderr, stdout } = await interrupt(2);
      expect(code).toBe(9);
      expect(stderr).toContain('stopping at once');
      expect(countOfType(stdout, 'apply_complete')).toBeLessThan(3);
      expect((await run(['apply'])).code).toBe(0);
      expect((await run(['plan', '--detailed-exitcode'])).code).toBe(0);
      const { entities } = (await service.send('GET', '/entities')) as { entities: { external_ref: string }[] };
      expect(entities.map(({ external_ref }) => external_ref).sort()).toEqual(['service-0', 'service-1', 'service-2']);
      await run(['destroy', '--yes']);
    } finally {
      await proxy.stop();
    }
  });
});
