/** `obsiac schema model|config`: JSON Schemas for editors. */
import { configJsonSchema, modelJsonSchema } from '@obsiac/model';
import { COMMON_OPTIONS } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { result } from '../views/messages.ts';
import type { Command } from './command.ts';

export const schema: Command = {
  name: 'schema',
  summary: 'Print the JSON Schema of the model or the config',
  usage: ['schema model|config'],
  exits: ['ok', 'invalid'],
  about: [
    'Prints the JSON Schema by which an editor completes and checks the file while you write. It is made from the same definitions as the checks of "validate"; what spans several fields, such as a rule that names an indicator, only "validate" sees.',
  ],
  options: COMMON_OPTIONS,
  positionals: [{ name: 'KIND', required: true, summary: 'Which file: model or config', choices: ['model', 'config'] }],
  examples: [
    { about: 'Save it beside the model', command: 'obsiac schema model > model.schema.json' },
    {
      about: 'Then let the first line of model.yaml point to it',
      command: '# yaml-language-server: $schema=./model.schema.json',
    },
  ],
  run: async (args, { view }) => {
    const kind = args.positional(0) === 'config' ? 'config' : 'model';
    const json = kind === 'config' ? configJsonSchema() : modelJsonSchema();
    view.say(
      result(
        { type: 'schema', message: `JSON Schema of the ${kind} file`, kind, schema: json },
        () => `${JSON.stringify(json, null, 2)}\n`,
      ),
    );
    return EXIT.ok;
  },
};
