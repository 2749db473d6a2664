/**
 * Installs what package-lock.json says, once per lock file, and then hands over to the pinned Node.
 * Plain JavaScript on purpose: it runs on whatever Node (20 or later) the machine has.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = path.join(root, 'node_modules', '.bin');
const pinnedNode = path.join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const marker = path.join(root, 'node_modules', '.installed-lock');

/** Runs `npm ci` unless node_modules already is what the lock file says. Ends the process when it cannot. */
export function install() {
  const lock = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  const installed = existsSync(marker) ? readFileSync(marker, 'utf8') : '';
  if (installed !== lock || !existsSync(pinnedNode)) {
    process.stderr.write('Installing dependencies (once; a minute or so) ...\n');
    const npm = process.env.npm_execpath;
    const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
    const result = spawnSync(command, [...first, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: root,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32' && command === 'npm',
    });
    if (result.status !== 0) {
      process.stderr.write('npm ci failed; the lines above say why. Nothing was started.\n');
      process.exit(1);
    }
    if (!existsSync(pinnedNode)) {
      process.stderr.write(
        'The package "node" has not put its binary in place: its install script did not run. Allow it (npm install-scripts approve node) or drop ignore-scripts, then try again.\n',
      );
      process.exit(1);
    }
    writeFileSync(marker, lock);
  }
}

/** Runs a TypeScript file of tasks/ or bench/ on the pinned Node, with the workspace's commands first on the PATH. */
export function runPinned(script, args) {
  const child = spawn(pinnedNode, ['--disable-warning=ExperimentalWarning', path.join(root, script), ...args], {
    stdio: 'inherit',
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` },
  });
  // The terminal sends Ctrl-C to the whole group; the child decides when to end, and this process ends with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
}

const [script, ...args] = process.argv.slice(2);
if (script) {
  install();
  runPinned(script, args);
}
