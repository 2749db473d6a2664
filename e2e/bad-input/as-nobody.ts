/** Runs the command as a user without rights, since the superuser may read every file. */
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import path from 'node:path';
import type { RunResult } from '../../packages/cli/test/run-cli.ts';

const launcher = path.join(import.meta.dirname, '../../packages/cli/bin/obsiac.js');

/** The user `nobody` of Linux systems. */
const NOBODY = 65534;

export function runAsNobody(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<RunResult> {
  chmodSync(cwd, 0o755);
  const isSuperuser = process.getuid?.() === 0;
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd,
    env: { ...env, PATH: process.env['PATH'], NODE_DISABLE_COMPILE_CACHE: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(isSuperuser && { uid: NOBODY, gid: NOBODY }),
  });
  const kept = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    kept.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    kept.stderr += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code: code ?? -1, ...kept })));
}
