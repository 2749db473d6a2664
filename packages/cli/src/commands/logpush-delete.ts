/** `obsiac logpush delete ID`: deletes a job; what was delivered stays. */
import { COMMON_OPTIONS, YES } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { API_OPTIONS, openLogpush, SCOPE_OPTIONS, scopeOf } from '../logpush/access.ts';
import { jobIdOf } from '../logpush/job-options.ts';
import { jobShown } from '../logpush/show-job.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';
import { confirm } from './confirm.ts';
import { commandLine } from './shell-words.ts';

export const logpushDelete: Command = {
  name: 'logpush delete',
  summary: 'Delete a job',
  usage: ['logpush delete ID --zone ID [options]', 'logpush delete ID --account ID [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled', 'confirm'],
  about: [
    'Shows the job and asks. Without a terminal it needs --yes. Records that were delivered stay in the service; what is logged from now on is not delivered and cannot be had later.',
  ],
  options: [...SCOPE_OPTIONS, YES, ...API_OPTIONS, ...COMMON_OPTIONS],
  positionals: [{ name: 'ID', required: true, summary: 'The number of the job' }],
  examples: [
    {
      about: 'Look first, then answer "yes"',
      command: 'obsiac logpush delete 146 --zone 023e105f4ecef8ad9ca31a8372d0c353',
    },
    { about: 'In a script', command: 'obsiac logpush delete 146 --zone 023e105f4ecef8ad9ca31a8372d0c353 --yes' },
  ],
  run: async (args, context) => {
    const id = jobIdOf(args);
    const client = await openLogpush(args, context, scopeOf(args, context));
    if (!args.has('yes')) {
      context.view.say(jobShown(await client.get(id)));
      if (!context.terminal.canAsk || args.has('json')) {
        throw new Failure(EXIT.confirm, {
          code: 'confirmation_required',
          summary: 'Confirmation is needed',
          detail: 'There is nobody to ask. Nothing was deleted. To delete this job:',
          commands: [commandLine([...context.argv, '--yes'])],
        });
      }
      await confirm(context, 'Obsiac will delete this job at Cloudflare.');
    }
    await client.delete(id);
    context.view.say(
      result({ type: 'logpush_deleted', message: `Deleted job ${id}`, id }, () => `Deleted job ${id}.\n`),
    );
    return EXIT.ok;
  },
};
