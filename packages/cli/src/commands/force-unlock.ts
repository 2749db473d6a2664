/** `obsiac force-unlock ID`: removes a lock whose holder is gone. */
import { COMMON_OPTIONS, CONFIG, MODEL_PLACE, YES } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { forceUnlock, readLock } from '../lock/lock.ts';
import { loadConfig } from '../project/project.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';
import { confirm } from './confirm.ts';

export const forceUnlockState: Command = {
  name: 'force-unlock',
  summary: 'Remove a lock that a dead run left behind',
  usage: ['-c PATH force-unlock ID [options]'],
  exits: ['ok', 'error', 'invalid', 'cancelled'],
  about: [
    'Removes the lock of the state. Obsiac takes over the lock of a dead or silent run by itself, so this is needed only when it cannot know, for example after a run in another container.',
    'The ID is printed by the run that met the lock. It must be right, so that nobody removes a lock that has changed hands since. Never remove the lock of a run that still works: two runs at once damage the state.',
  ],
  options: [CONFIG, MODEL_PLACE, YES, ...COMMON_OPTIONS],
  positionals: [{ name: 'ID', required: true, summary: 'The ID of the lock, as the refused run printed it' }],
  examples: [
    { about: 'Remove it', command: 'obsiac -c config.json force-unlock 0f0e6c1e-54b6-4d1f-9a53-2f5c4f1f3a10' },
  ],
  run: async (args, context) => {
    const id = args.positional(0) ?? '';
    const { statePath } = await loadConfig(args, context);
    const holder = await readLock(statePath);
    if (holder?.id === id && context.terminal.canAsk && !args.has('yes')) {
      await confirm(
        context,
        `Held by ${holder.who} on ${holder.host} (process ${holder.pid}) for ${holder.operation} since ${holder.created}.`,
      );
    }
    const removed = await forceUnlock(statePath, id);
    context.view.say(
      result(
        { type: 'state_lock_released', message: `Removed the lock ${removed.id}`, lock: removed, forced: true },
        () => `Removed the lock ${removed.id} of ${removed.who} on ${removed.host} (${removed.operation}).\n`,
      ),
    );
    return EXIT.ok;
  },
};
