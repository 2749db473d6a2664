/** `npm test`: everything that has to hold before a change lands, in one command, with what is missing named and counted. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { prepareDebianPackages } from './debian-packages.ts';

const root = path.dirname(import.meta.dirname);
const resultFile = path.join(root, '.cache', 'test-result.json');

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const checks: readonly Step[] = [
  { name: 'type check', command: ['node_modules/typescript-native/bin/tsc', '-p', '.'] },
  { name: 'lint and format', command: ['biome', 'check', '--error-on-warnings', '.'] },
  {
    name: 'architecture',
    command: ['depcruise', 'packages', 'e2e', 'bench', 'tasks', '--config', '.dependency-cruiser.cjs'],
  },
  { name: 'unused code', command: ['knip', '--no-progress'] },
];

function run(step: Step): boolean {
  const started = performance.now();
  const [command, ...args] = step.command;
  const result = spawnSync(command as string, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...(!process.stdout.isTTY && { NO_COLOR: '1' }) },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${result.status === 0 ? 'ok  ' : 'FAIL'}  ${step.name} (${seconds} s)`);
  return result.status === 0;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function readCounts(): Counts {
  try {
    const report = JSON.parse(readFileSync(resultFile, 'utf8')) as Record<string, number>;
    const skipped = (report['numPendingTests'] ?? 0) + (report['numTodoTests'] ?? 0);
    return { passed: report['numPassedTests'] ?? 0, failed: report['numFailedTests'] ?? 0, skipped };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

mkdirSync(path.dirname(resultFile), { recursive: true });
const missing = prepareDebianPackages();
const filters = process.argv.slice(2);
const failedChecks = filters.length > 0 ? [] : checks.filter((step) => !run(step));
const tests = run({
  name: 'tests',
  command: ['vitest', 'run', '--reporter=dot', '--reporter=json', `--outputFile.json=${resultFile}`, ...filters],
});
const counts = readCounts();
for (const item of missing) console.log(`missing: ${item}; the tests that need it were skipped`);
const skipFails = process.env['CI'] === 'true' && counts.skipped > 0;
if (skipFails) console.log('CI=true: a skipped test is a failure.');
console.log(`checks: ${checks.length - failedChecks.length} of ${checks.length} ok`);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = failedChecks.length === 0 && tests && counts.failed === 0 && !skipFails ? 0 : 1;
