import { defineConfig } from 'vitest/config';

/** Unit, property and integration tests stand beside the source; end-to-end tests in e2e/. */
export default defineConfig({
  test: {
    globals: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    // Vitest would leave one processor idle; most of a test's time here is spent waiting for real programs.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'unit', include: ['packages/*/{src,test}/**/*.test.ts', 'tasks/**/*.test.ts'] } },
      { extends: true, test: { name: 'e2e', include: ['e2e/**/*.test.ts'] } },
    ],
  },
});
