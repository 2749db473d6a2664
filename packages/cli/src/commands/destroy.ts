/** `obsiac destroy`: deletes everything that the state manages. */
import { hasChanges } from '@obsiac/model';
import { carryOut, withLockedState } from '../applying.ts';
import { COMMON_OPTIONS, CONCURRENCY, CONFIG, LOCK_TIMEOUT, MODEL_PLACE, YES } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { makePlan } from '../planning.ts';
import { loadConfig } from '../project/project.ts';
import { withSession } from '../session.ts';
import { confirmationRequired } from '../views/confirmation.ts';
import { planShown } from '../views/plan/message.ts';
import type { Command, Context } from './command.ts';
import { concurrencyOf } from './concurrency.ts';
import { confirm } from './confirm.ts';
import { commandLine } from './shell-words.ts';

export const destroy: Command = {
  name: 'destroy',
  summary: 'Delete everything the state manages',
  usage: ['-c PATH destroy [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'partial', 'locked', 'cancelled', 'confirm'],
  about: [
    'Deletes from the service every object that the state manages, and nothing else. The model is not read; -mf only tells where the state may lie.',
    'It shows what will go and asks. Without a terminal it needs --yes; otherwise it lists what would go, prints the command that confirms, and exits with 10.',
  ],
  options: [CONFIG, MODEL_PLACE, YES, CONCURRENCY, LOCK_TIMEOUT, ...COMMON_OPTIONS],
  positionals: [],
  examples: [
    { about: 'Look first, then answer "yes"', command: 'obsiac -c config.json destroy' },
    { about: 'In a pipeline', command: 'obsiac -c config.json destroy --yes' },
  ],
  run: async (args, context) => {
    const project = await loadConfig(args, context);
    const concurrency = concurrencyOf(args);
    const timeoutMs = args.number('lock-timeout') ?? 0;
    return withSession(project.config, concurrency, (session) =>
      withLockedState({ project, operation: 'destroy', timeoutMs }, context, async (locked) => {
        const desired = { entities: [], moved: [] };
        const made = await makePlan(
          { session, desired, state: locked.state, acceptMoves: false, concurrency },
          context,
        );
        const { plan } = made;
        context.view.say(planShown({ plan, purpose: 'destroy' }));
        if (hasChanges(plan) && !args.has('yes')) {
          await confirmDestroy(
            () => context.view.say(confirmationRequired(plan, confirmCommand(context))),
            args,
            context,
          );
        }
        return carryOut(
          { plan, session, project, locked, concurrency, operation: 'destroy', quiet: !hasChanges(plan) },
          context,
        );
      }),
    );
  },
};

function confirmCommand(context: Context): string {
  return commandLine([...context.argv, '--yes']);
}

async function confirmDestroy(sayWhatGoes: () => void, args: Arguments, context: Context): Promise<void> {
  if (context.terminal.canAsk && !args.has('json')) {
    return confirm(context, 'Obsiac will delete all of the above from the service. There is no way back.');
  }
  sayWhatGoes();
  throw new Failure(EXIT.confirm, {
    code: 'confirmation_required',
    summary: 'Confirmation is needed',
    detail: 'There is nobody to ask. Nothing was deleted. To delete all of the above:',
    commands: [confirmCommand(context)],
  });
}
