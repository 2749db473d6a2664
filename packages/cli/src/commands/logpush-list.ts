/** `obsiac logpush list`: the jobs of a zone or an account. */
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import { jobsShown } from '../logpush/show-job.ts';
import type { Command } from './command.ts';

export const logpushList: Command = {
  name: 'logpush list',
  summary: 'List the jobs of a zone or an account',
  usage: ['logpush list --zone ID [options]', 'logpush list --account ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Lists the Logpush jobs with their dataset, state and last delivery. A failing job is one whose last delivery Cloudflare could not make; "logpush get" says why. Credentials in destinations are not shown.',
  ],
  options: [
    ...SCOPE_OPTIONS,
    { name: 'dataset', value: 'NAME', summary: 'Only jobs of this dataset.' },
    ...API_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'Of a zone', command: 'obsiac logpush list --zone 023e105f4ecef8ad9ca31a8372d0c353' },
    {
      about: 'Of an account, for a program',
      command: 'obsiac logpush list --account 699d98642c564d2e855e9661899b7252 --json',
    },
  ],
  run: async (args, context) => {
    const scope = scopeOf(args, context);
    const dataset = args.text('dataset');
    const client = await openLogpush(args, context, scope);
    const jobs = (await client.list()).filter((job) => dataset === undefined || job.dataset === dataset);
    context.view.say(jobsShown(jobs, 'zone_id' in scope ? `zone ${scope.zone_id}` : `account ${scope.account_id}`));
    return EXIT.ok;
  },
};
