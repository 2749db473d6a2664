/** `obsiac import`: writes a model from what the service holds. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ActualEntity, didYouMean, parseModel, writeModel } from '@obsiac/model';
import { COMMON_OPTIONS, CONCURRENCY, CONFIG, MODEL_PLACE } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { reasonFor } from '../project/file-reason.ts';
import { loadConfig } from '../project/project.ts';
import { importable } from '../remote/importable.ts';
import { readActual } from '../remote/read-actual.ts';
import { withSession } from '../session.ts';
import { notice, result } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { View } from '../views/view.ts';
import type { Command } from './command.ts';
import { concurrencyOf } from './concurrency.ts';

export const importModel: Command = {
  name: 'import',
  summary: 'Write a model from what the service holds',
  usage: ['-c PATH import [-o FILE] [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Reads the alert managers of the organization, with their indicators, rules and channels, and writes them as a model. It uses the read token alone and changes nothing: no state is written, and nothing is managed by it yet.',
    'Apply the model to take the objects into the state. The plan then shows them as "adopt", without changes.',
  ],
  options: [
    CONFIG,
    {
      name: 'output',
      aliases: ['o'],
      value: 'FILE',
      complete: 'file',
      summary: 'Write into FILE instead of the screen. A file that exists is not overwritten.',
    },
    { name: 'force', summary: 'Overwrite the file of -o.' },
    {
      name: 'entity',
      value: 'REF',
      repeatable: true,
      summary: 'Only the alert manager with this external_ref. Repeatable.',
    },
    MODEL_PLACE,
    CONCURRENCY,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'Everything', command: 'obsiac -c config.json import -o model.yaml' },
    { about: 'One alert manager, on the screen', command: 'obsiac -c config.json import --entity checkout-api' },
    { about: 'See what taking it over would do', command: 'obsiac -mf model.yaml -c config.json plan' },
  ],
  run: async (args, context) => {
    const { config } = await loadConfig(args, context);
    const concurrency = concurrencyOf(args);
    const { actual } = await withSession(config, concurrency, ({ client }) =>
      readActual(client, { signal: context.cancelled, concurrency }),
    );
    const chosen = choose(actual.entities, args.texts('entity'));
    const { entities, leftOut } = importable(chosen);
    const yaml = writeModel(entities);
    const file = args.text('output');
    const rules = entities.reduce((sum, entity) => sum + entity.alert_rules.length, 0);
    const event = {
      type: 'imported_model',
      message: `${counted(entities.length, 'alert manager')} with ${counted(rules, 'alert rule')}`,
      entities: entities.length,
      alert_rules: rules,
    };
    if (file === undefined || file === '-') {
      context.view.say(result({ ...event, model: yaml }, () => yaml));
    } else {
      await writeNew(file, context.cwd, yaml, args.has('force'));
      context.view.say(result({ ...event, file }, () => `Wrote ${event.message} into ${file}.\n`));
    }
    if (chosen.length === 0) {
      context.view.say(notice('The organization has no alert managers.'));
    }
    for (const text of leftOut) context.view.say(notice(`Left out, since no model can say it: ${text}.`, 'warn'));
    warnOfErrors(yaml, file, context.view);
    return EXIT.ok;
  },
};

/** Other clients may have stored what the rules of a model refuse. It is written as it is, for a person to correct. */
function warnOfErrors(yaml: string, file: string | undefined, view: View): void {
  const name = file ?? 'model.yaml';
  const { diagnostics } = parseModel([{ file: name, text: yaml }]);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  if (errors === 0) return;
  const text = `The model holds ${counted(errors, 'error')}, since the service has objects that the rules of a model refuse. Correct it before you apply it. This lists them: obsiac -mf ${name} validate`;
  view.say(notice(text, 'warn'));
}

function choose(entities: readonly ActualEntity[], refs: readonly string[]): readonly ActualEntity[] {
  const known = entities.map(({ entity }) => entity.external_ref);
  const missing = refs.find((ref) => !known.includes(ref));
  if (missing !== undefined) {
    throw new Failure(EXIT.error, {
      code: 'entity_not_found',
      summary: `The service has no alert manager ${missing}`,
      detail: `The organization has ${counted(known.length, 'alert manager')}.${didYouMean(missing, known)}`,
    });
  }
  const chosen = refs.length === 0 ? entities : entities.filter(({ entity }) => refs.includes(entity.external_ref));
  return [...chosen].sort((a, b) => (a.entity.external_ref < b.entity.external_ref ? -1 : 1));
}

async function writeNew(file: string, cwd: string, text: string, force: boolean): Promise<void> {
  try {
    await writeFile(path.resolve(cwd, file), text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(EXIT.error, {
      code: 'output_unwritable',
      summary: `The model cannot be written into ${file}`,
      detail:
        code === 'EEXIST'
          ? 'The file exists already. Choose another name, or overwrite it with --force.'
          : reasonFor(error as NodeJS.ErrnoException),
    });
  }
}
