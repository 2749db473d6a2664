/** `npm run soak [-- FILTER …]`: the kill, chaos and differential suites at full size; their figures are printed. */
import { spawnSync } from 'node:child_process';
import { prepareDebianPackages } from './debian-packages.ts';

for (const item of prepareDebianPackages()) console.log(`missing: ${item}; the tests that need it are skipped`);
const filters = process.argv.slice(2);
const suites = filters.length > 0 ? filters : ['kill', 'chaos', 'differential', 'fuzz', 'parse-query'];
const result = spawnSync('vitest', ['run', '--reporter=verbose', '--testTimeout=3600000', ...suites], {
  stdio: 'inherit',
  env: { ...process.env, OBSIAC_SOAK: '1' },
});
process.exitCode = result.status ?? 1;
