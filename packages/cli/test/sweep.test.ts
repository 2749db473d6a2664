/**
 * Every leaf command as a real process, without arguments, home directory or standard input: it ends by itself, with the
 * right code and no stack trace, and its JSON stream has exactly one terminal event that tells the same code.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isGroup } from '../src/commands/command.ts';
import { COMMANDS } from '../src/commands/registry.ts';

const launcher = path.join(import.meta.dirname, '../bin/obsiac.js');
const TIME_LIMIT_MS = 20_000;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `<&-` closes standard input, which no option of `spawn` does. */
function runClosed(argv: readonly string[], cwd: string): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', 'exec "$@" <&-', 'sh', process.execPath, launcher, ...argv], {
    cwd,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIME_LIMIT_MS,
    killSignal: 'SIGKILL',
  });
  const kept = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    kept.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    kept.stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...kept })));
}

const leaves = COMMANDS.flatMap((node) =>
  isGroup(node) ? node.commands.map(({ name }) => [node.name, name]) : [[node.name]],
);

/** Commands that need nothing; every other one is wrong usage without arguments. */
const SELF_SUFFICIENT = new Set(['version', 'help', 'logpush datasets']);

describe('sweep over every command', () => {
  let cwd = '';
  beforeAll(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'obsiac-sweep-')));
  });
  afterAll(() => rmSync(cwd, { recursive: true }));

  it.for(leaves)('obsiac %s', async (words) => {
    const expected = SELF_SUFFICIENT.has(words.join(' ')) ? 0 : 3;
    const plain = await runClosed(words, cwd);
    expect(plain).toMatchObject({ code: expected, signal: null });
    expect(`${plain.stdout}${plain.stderr}`).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
    expect(plain.stderr === '').toBe(expected === 0);

    const json = await runClosed([...words, '--json'], cwd);
    expect(json).toMatchObject({ code: expected, signal: null, stderr: '' });
    const events = json.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; exit_code?: number });
    expect(events[0]?.type).toBe('version');
    expect(events.filter(({ type }) => type === 'result')).toEqual([expect.objectContaining({ exit_code: expected })]);
    expect(events.at(-1)?.type).toBe('result');
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.for(leaves)('obsiac %s --help', async (words) => {
    const { code, stdout, stderr } = await runClosed([...words, '--help'], cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Usage: obsiac');
    expect(stdout).toContain('Examples:');
  });
});
