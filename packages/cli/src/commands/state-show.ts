/** `obsiac state show ADDRESS`: one object of the state. */
import { didYouMean, parseAddress, type State } from '@obsiac/model';
import { COMMON_OPTIONS, CONFIG, MODEL_PLACE } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { openProjectState } from '../project/project-state.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';
import { listState } from './state-list.ts';

/** What the state holds at an address; undefined when it holds nothing there. */
function findInState(state: State, address: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseAddress(address);
  const entity = parsed === null ? undefined : state.entities[parsed.entity];
  if (parsed === null || entity === undefined) {
    return undefined;
  }
  switch (parsed.kind) {
    case 'entity':
      return {
        id: entity.id,
        digest: entity.digest,
        indicators: Object.keys(entity.indicators).length,
        alert_rules: Object.keys(entity.alert_rules).length,
        notification_channels: entity.channels.length,
      };
    case 'indicator':
      return entity.indicators[parsed.name] && { ...entity.indicators[parsed.name] };
    case 'alert_rule':
      return entity.alert_rules[parsed.name] && { ...entity.alert_rules[parsed.name] };
    case 'channel': {
      const found = entity.channels.find(({ name, severity }) => `${name}/${severity}` === parsed.name);
      return found && { ...found };
    }
  }
}

export const stateShow: Command = {
  name: 'state show',
  summary: 'Show one object of the state',
  usage: ['-c PATH state show ADDRESS [options]'],
  exits: ['ok', 'error', 'invalid'],
  about: [
    'Shows the id and the digest that the state holds for one object. An address is what "state list" and plans print: an external_ref, or external_ref/indicators/NAME, external_ref/alert_rules/NAME, external_ref/notification_channels/NAME/SEVERITY.',
  ],
  options: [CONFIG, MODEL_PLACE, ...COMMON_OPTIONS],
  positionals: [{ name: 'ADDRESS', required: true, summary: 'The address of the object' }],
  examples: [
    { about: 'An alert manager', command: 'obsiac -c config.json state show checkout-api' },
    {
      about: 'A rule; quote names with spaces',
      command: 'obsiac -c config.json state show "checkout-api/alert_rules/High errors"',
    },
  ],
  run: async (args, context) => {
    const address = args.positional(0) ?? '';
    const { state, shownPath } = await openProjectState(args, context);
    const found = state === null ? undefined : findInState(state, address);
    if (found === undefined) {
      const known = state === null ? [] : listState(state).map((listed) => listed.address);
      throw new Failure(EXIT.error, {
        code: 'state_no_such_object',
        summary: `The state holds nothing at ${address}`,
        detail:
          state === null
            ? `There is no state yet: ${shownPath} does not exist.`
            : `It is ${shownPath}.${didYouMean(address, known)}`,
      });
    }
    const lines = Object.entries({ address, ...found }).map(([field, value]) => `${field.padEnd(22)}${value}\n`);
    context.view.say(result({ type: 'state_object', message: address, addr: address, ...found }, () => lines.join('')));
    return EXIT.ok;
  },
};
