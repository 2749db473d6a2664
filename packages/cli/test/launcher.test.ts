/** The launcher as a process: old Node, exit codes, signals, broken pipes, terminals that are none. */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const launcher = path.join(import.meta.dirname, '../bin/obsiac.js');
const root = path.join(import.meta.dirname, '../../..');

/** A Node older than the pinned one as a user's machine may have it; where there is none, the pinned one that claims to be. */
function olderNode(): readonly [program: string, ...flags: string[]] {
  const candidates = ['/usr/bin/node', '/usr/local/bin/node'].filter((file) => existsSync(file));
  const found = candidates.find((file) => {
    const major = Number.parseInt(execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10);
    return major >= 20 && major < 24;
  });
  const claim = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })";
  return found ? [found] : [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(claim)}`];
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function ended(child: ReturnType<typeof spawn>): Promise<Ended> {
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, output })));
}

describe('started by an older Node', () => {
  const [node, ...flags] = olderNode();

  it('runs on the pinned one', async () => {
    const { code, output } = await ended(spawn(node, [...flags, launcher, 'version']));
    expect(code).toBe(0);
    expect(output).toMatch(/Node\.js 2[4-9]\./);
  });

  it('hands the exit code on', async () => {
    expect(await ended(spawn(node, [...flags, launcher, 'plan']))).toMatchObject({ code: 3 });
  });

  it('hands arguments on untouched', async () => {
    const { output } = await ended(
      spawn(node, [...flags, launcher, 'state', 'show', "a 'b' $c", '-c', 'no such file.json']),
    );
    expect(output).toContain('no such file.json');
  });
});

describe('output that nobody reads', () => {
  it('is no error', async () => {
    const child = spawn('/bin/sh', [
      '-c',
      `"$0" "$1" help plan | head -1; "$0" "$1" version | true`,
      process.execPath,
      launcher,
    ]);
    const { code, output } = await ended(child);
    expect(code).toBe(0);
    expect(output).not.toMatch(/EPIPE|Error/);
  });
});

describe('start-up', () => {
  it('loads neither model nor API for the version', () => {
    const trace = execFileSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(LIST_MODULES)}`, launcher, 'version'],
      { encoding: 'utf8', cwd: root },
    );
    expect(trace).toContain('packages/cli/src/main.ts');
    expect(trace).not.toMatch(/packages\/(model|api|promql)\//);
    expect(trace).not.toMatch(/node_modules\/(zod|yaml|undici)\//);
  });
});

/** Prints the address of every module as it is loaded. */
const LIST_MODULES = `
import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stdout.write(url + '\\n'); return next(url, context); } });
`;

describe.skipIf(!existsSync('/dev/full'))('standard output on a full disk', () => {
  it.each([
    ['schema', 'model'],
    ['version', '--json'],
  ])('fails, and says so: %s %s', async (...words) => {
    const full = openSync('/dev/full', 'w');
    try {
      const { code, output } = await ended(
        spawn(process.execPath, [launcher, ...words], { stdio: ['ignore', full, 'pipe'] }),
      );
      expect(output).toContain('Standard output could not be written');
      expect(output).toContain('no space left on device');
      expect(code).toBe(1);
    } finally {
      closeSync(full);
    }
  });
});
