/** `obsiac state list`: what the state manages. */
import { childAddress, type State } from '@obsiac/model';
import { COMMON_OPTIONS, CONFIG, MODEL_PLACE } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { openProjectState } from '../project/project-state.ts';
import { notice, result } from '../views/messages.ts';
import type { Command } from './command.ts';

interface Listed {
  readonly address: string;
  readonly id: string;
}

/** Every object of a state, alert manager by alert manager. */
export function listState(state: State): readonly Listed[] {
  return Object.entries(state.entities).flatMap(([ref, entity]) => [
    { address: ref, id: entity.id },
    ...Object.entries(entity.indicators).map(([name, { id }]) => ({
      address: childAddress(ref, 'indicator', name),
      id,
    })),
    ...Object.entries(entity.alert_rules).map(([name, { id }]) => ({
      address: childAddress(ref, 'alert_rule', name),
      id,
    })),
    ...entity.channels.map(({ id, name, severity }) => ({
      address: childAddress(ref, 'channel', `${name}/${severity}`),
      id,
    })),
  ]);
}

export const stateList: Command = {
  name: 'state list',
  summary: 'List what the state manages',
  usage: ['-c PATH state list [options]'],
  exits: ['ok', 'error', 'invalid'],
  about: [
    'Lists the address of every object that the last apply left in the state, one a line. It reads the state file only and asks the service nothing.',
  ],
  options: [CONFIG, MODEL_PLACE, ...COMMON_OPTIONS],
  positionals: [],
  examples: [
    { about: 'Everything', command: 'obsiac -c config.json state list' },
    {
      about: 'The rules of one alert manager',
      command: 'obsiac -c config.json state list | grep "^checkout-api/alert_rules/"',
    },
  ],
  run: async (args, context) => {
    const { state, shownPath } = await openProjectState(args, context);
    if (state === null) {
      context.view.say(notice(`There is no state yet: ${shownPath} does not exist. The first apply writes it.`));
      return EXIT.ok;
    }
    for (const { address, id } of listState(state)) {
      context.view.say(result({ type: 'state_object', message: address, addr: address, id }, () => `${address}\n`));
    }
    return EXIT.ok;
  },
};
