#!/usr/bin/env node
/** Starts the service on the Node it is made for: this one when it is new enough, else the one installed beside it. */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const OLDEST_MAJOR = 24;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

if (Number(process.versions.node.split('.')[0]) >= OLDEST_MAJOR) {
  const { run } = await import(main);
  await run(process.argv.slice(2));
} else {
  const node = path.join(path.dirname(createRequire(main).resolve('node/package.json')), 'bin', 'node');
  // The channel tells the service when this process is gone, even when it was killed.
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal sends its Ctrl-C to the child by itself; a second one would cut its stop short.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    process.stderr.write(
      `Node ${OLDEST_MAJOR} is needed and could not be started: ${error.message}. Run npm install.\n`,
    );
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else process.exit(code ?? 1);
  });
}
