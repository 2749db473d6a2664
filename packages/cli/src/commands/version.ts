/** `obsiac version`. */

import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { VERSION } from '../version.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';

export const version: Command = {
  name: 'version',
  summary: 'Print the version',
  usage: ['version [options]'],
  exits: ['ok'],
  about: ['Prints the version of obsiac and of the Node.js that runs it. `obsiac --version` does the same.'],
  options: COMMON_OPTIONS,
  positionals: [],
  examples: [
    { about: 'For people', command: 'obsiac version' },
    { about: 'For programs', command: 'obsiac version --json' },
  ],
  run: async (_args, { view }) => {
    view.say(
      result(
        {
          type: 'tool',
          message: `obsiac ${VERSION}`,
          obsiac: VERSION,
          node: process.versions.node,
          platform: `${process.platform}-${process.arch}`,
        },
        () => `obsiac ${VERSION} (Node.js ${process.versions.node}, ${process.platform}-${process.arch})\n`,
      ),
    );
    return EXIT.ok;
  },
};
