/** `obsiac logpush get ID`: one job in full. */
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import { jobIdOf } from '../logpush/job-options.ts';
import { jobShown } from '../logpush/show-job.ts';
import type { Command } from './command.ts';

export const logpushGet: Command = {
  name: 'logpush get',
  summary: 'Show one job',
  usage: ['logpush get ID --zone ID [options]', 'logpush get ID --account ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Shows a Logpush job: fields, filter, limits, the last delivery and what failed. The credentials in its destination are not shown.',
  ],
  options: [...SCOPE_OPTIONS, ...API_OPTIONS, ...COMMON_OPTIONS],
  positionals: [{ name: 'ID', required: true, summary: 'The number of the job' }],
  examples: [{ about: 'A job of a zone', command: 'obsiac logpush get 146 --zone 023e105f4ecef8ad9ca31a8372d0c353' }],
  run: async (args, context) => {
    const id = jobIdOf(args);
    const client = await openLogpush(args, context, scopeOf(args, context));
    context.view.say(jobShown(await client.get(id)));
    return EXIT.ok;
  },
};
