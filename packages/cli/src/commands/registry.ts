/** The command tree. A new command is one file in this folder and one line here; help, completion and the docs follow. */
import type { CommandNode } from './command.ts';

export const COMMANDS: readonly CommandNode[] = [
  {
    name: 'validate',
    summary: 'Check a model and a config without a service',
    load: async () => (await import('./validate.ts')).validate,
  },
  { name: 'plan', summary: 'Show what apply would change', load: async () => (await import('./plan.ts')).planCommand },
  { name: 'apply', summary: 'Make the service match the model', load: async () => (await import('./apply.ts')).apply },
  {
    name: 'destroy',
    summary: 'Delete everything the state manages',
    load: async () => (await import('./destroy.ts')).destroy,
  },
  {
    name: 'import',
    summary: 'Write a model from what the service holds',
    load: async () => (await import('./import.ts')).importModel,
  },
  { name: 'alerts', summary: 'Show what fires now', load: async () => (await import('./alerts.ts')).alerts },
  {
    name: 'explain',
    summary: 'Tell what a rule means and how it stands',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'state',
    summary: 'Look into the state',
    commands: [
      {
        name: 'list',
        summary: 'List what the state manages',
        load: async () => (await import('./state-list.ts')).stateList,
      },
      {
        name: 'show',
        summary: 'Show one object of the state',
        load: async () => (await import('./state-show.ts')).stateShow,
      },
    ],
  },
  {
    name: 'force-unlock',
    summary: 'Remove a lock that a dead run left behind',
    load: async () => (await import('./force-unlock.ts')).forceUnlockState,
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of the model or the config',
    load: async () => (await import('./schema.ts')).schema,
  },
  {
    name: 'promql',
    summary: 'Try the PromQL engine by hand',
    commands: [
      {
        name: 'check',
        summary: 'Check an expression: syntax and types',
        load: async () => (await import('./promql-check.ts')).promqlCheck,
      },
      {
        name: 'format',
        summary: 'Print an expression in its canonical form',
        load: async () => (await import('./promql-format.ts')).promqlFormat,
      },
      {
        name: 'eval',
        summary: 'Evaluate an expression over a file or a server',
        load: async () => (await import('./promql-eval.ts')).promqlEval,
      },
    ],
  },
  {
    name: 'logs',
    summary: 'Search the logs of the service',
    commands: [
      {
        name: 'query',
        summary: 'Find records, or make statistics of them',
        load: async () => (await import('./logs-query.ts')).logsQuery,
      },
      {
        name: 'hits',
        summary: 'Count records over time',
        load: async () => (await import('./logs-hits.ts')).logsHits,
      },
      {
        name: 'facets',
        summary: 'Show the most frequent values of fields',
        load: async () => (await import('./logs-facets.ts')).logsFacets,
      },
      {
        name: 'tail',
        summary: 'Show records as they arrive',
        load: async () => (await import('./logs-tail.ts')).logsTail,
      },
      {
        name: 'export',
        summary: 'Write everything that matches',
        load: async () => (await import('./logs-export.ts')).logsExport,
      },
    ],
  },
  {
    name: 'logpush',
    summary: 'Deliver the logs of a Cloudflare zone here',
    commands: [
      {
        name: 'create',
        summary: 'Create a job that delivers a dataset here',
        load: async () => (await import('./logpush-create.ts')).logpushCreate,
      },
      {
        name: 'list',
        summary: 'List the jobs of a zone or an account',
        load: async () => (await import('./logpush-list.ts')).logpushList,
      },
      {
        name: 'get',
        summary: 'Show one job',
        load: async () => (await import('./logpush-get.ts')).logpushGet,
      },
      {
        name: 'update',
        summary: 'Change a job',
        load: async () => (await import('./logpush-update.ts')).logpushUpdate,
      },
      {
        name: 'delete',
        summary: 'Delete a job',
        load: async () => (await import('./logpush-delete.ts')).logpushDelete,
      },
      {
        name: 'datasets',
        summary: 'List the datasets that can be delivered',
        load: async () => (await import('./logpush-datasets.ts')).logpushDatasets,
      },
      {
        name: 'fields',
        summary: 'List the fields of a dataset',
        load: async () => (await import('./logpush-fields.ts')).logpushFields,
      },
      {
        name: 'check',
        summary: 'Prove a destination from upload to query',
        load: async () => (await import('./logpush-check.ts')).logpushCheck,
      },
      {
        name: 'simulate',
        summary: 'Deliver edge traffic that never happened',
        load: async () => (await import('./logpush-simulate.ts')).logpushSimulate,
      },
    ],
  },
  {
    name: 'completion',
    summary: 'Print a completion script for a shell',
    load: async () => (await import('./completion.ts')).completion,
  },
  { name: 'version', summary: 'Print the version', load: async () => (await import('./version.ts')).version },
  { name: 'help', summary: 'Show help for a command', load: async () => (await import('./help.ts')).help },
];
