/** `npm run bench -- NAME`: runs one benchmark of bench/ and prints its table; without a name, lists them. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const folder = path.join(path.dirname(import.meta.dirname), 'bench');
const [name, ...args] = process.argv.slice(2);
const file = name ? path.join(folder, `${name}.ts`) : '';
if (!name || !existsSync(file)) {
  const names = readdirSync(folder)
    .filter((entry) => entry.endsWith('.ts'))
    .map((entry) => entry.slice(0, -3));
  console.log(`Usage: npm run bench -- NAME\nBenchmarks: ${names.join(', ') || 'none yet'}`);
  process.exitCode = name ? 3 : 0;
} else {
  process.exitCode = spawnSync(process.execPath, [file, ...args], { stdio: 'inherit' }).status ?? 1;
}
