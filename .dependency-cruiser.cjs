/**
 * Who may import whom: the table of docs/architecture.md, enforced.
 * A package imports only the packages named for it here; no file is part of a cycle.
 */
const mayImport = {
  promql: [],
  model: ['promql'],
  api: ['model'],
  cli: ['api', 'model', 'promql'],
  service: ['api', 'model', 'promql'],
  web: ['api', 'model', 'promql'],
};

const packageRules = Object.entries(mayImport).map(([name, allowed]) => ({
  name: `${name}-imports-only-${allowed.join('-') || 'nothing-of-ours'}`,
  severity: 'error',
  from: { path: `^packages/${name}/` },
  to: { path: '^packages/', pathNot: [`^packages/${name}/`, ...allowed.map((other) => `^packages/${other}/`)] },
}));

module.exports = {
  forbidden: [
    ...packageRules,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'pure-packages-do-no-input-or-output',
      comment: 'promql and model give the same answer for the same arguments: no I/O, no clock, no randomness.',
      severity: 'error',
      from: { path: '^packages/(promql|model)/src/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'packages-do-not-know-their-tests',
      severity: 'error',
      from: { path: '^packages/', pathNot: '(\\.test\\.ts$|/test/)' },
      to: { path: '(^e2e/|^bench/|^tasks/|\\.test\\.ts$|/test/)' },
    },
    {
      name: 'no-junk-drawers',
      severity: 'error',
      from: {},
      to: { path: '^(packages|e2e|bench|tasks)/.*/(utils|common|helpers|core|lib|shared)/', pathNot: 'node_modules' },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'node_modules|/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types', 'default'] },
  },
};
