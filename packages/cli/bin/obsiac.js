#!/usr/bin/env -S node --max-semi-space-size=8
/**
 * Starts obsiac on a Node.js that can run it: this one when it is new enough, else the one pinned in the `node` package.
 * Plain JavaScript without newer syntax, because it must also run on Node 20.
 * The flag in the first line keeps a large plan's memory a third lower at the same speed: short-lived objects of the parser
 * are collected in a small new space instead of growing it to 32 MB and the heap with it.
 */
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NEEDED_MAJOR = 24;
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGCONT', 'SIGWINCH'];

/** The pinned Node's program, or null when the `node` package is not installed. */
function pinnedNode() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const program = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(program) ? program : null;
  } catch {
    return null;
  }
}

/** Runs this file again with `program`; signals go on to it, its exit code comes back. */
async function runWith(program) {
  const { spawn } = await import('node:child_process');
  const { constants } = await import('node:os');
  const self = fileURLToPath(import.meta.url);
  const child = spawn(program, ['--max-semi-space-size=8', self, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of FORWARDED) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => fail(`obsiac could not start ${program}: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exit(code);
    }
    for (const forwarded of FORWARDED) {
      process.removeAllListeners(forwarded);
    }
    // Dies of the same signal, so that a shell or a CI runner sees what happened; SIGKILL and the like need the number.
    process.exitCode = 128 + (constants.signals[signal] || 0);
    process.kill(process.pid, signal);
  });
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) {
  module.enableCompileCache();
  const { run } = await import('../src/process.ts');
  await run();
} else {
  const program = pinnedNode();
  if (program === null) {
    fail(
      `obsiac needs Node.js ${NEEDED_MAJOR} or newer; this is ${process.version}. Run "npm ci" in its directory to install the one it brings.`,
    );
  }
  await runWith(program);
}
