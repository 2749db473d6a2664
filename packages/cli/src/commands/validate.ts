/** `obsiac validate`: checks a model and a config without a service. */
import { hasErrors } from '@obsiac/model';
import { COMMON_OPTIONS, COMPACT_WARNINGS, CONFIG, MODEL_FILE } from '../arguments/option.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { checkInput } from '../project/project.ts';
import { result } from '../views/messages.ts';
import { counted } from '../views/plan/report.ts';
import type { Command } from './command.ts';

export const validate: Command = {
  name: 'validate',
  summary: 'Check a model and a config without a service',
  usage: ['[-mf PATH] [-c PATH] validate [options]'],
  exits: ['ok', 'invalid'],
  about: [
    'Reads the model, the config, or both, and reports everything that is wrong in one run: each problem with its place, the line, what is wrong and what to do. It asks no service, so it needs no valid tokens.',
    'What only the service knows, such as whether a notification channel exists, is checked by "plan".',
  ],
  options: [MODEL_FILE, CONFIG, COMPACT_WARNINGS, ...COMMON_OPTIONS],
  positionals: [],
  examples: [
    { about: 'A model', command: 'obsiac -mf model.yaml validate' },
    { about: 'All model files of a directory, and the config', command: 'obsiac -mf models -c config.json validate' },
    { about: 'For an editor or a pipeline', command: 'obsiac -mf models validate --json' },
  ],
  run: async (args, context) => {
    if (!args.has('model-file') && !args.has('config')) {
      throw usageFailure('-mf MODEL or -c CONFIG is missing', 'Name at least one of them to be checked.');
    }
    const { model, diagnostics, files } = await checkInput(args, context);
    const valid = !hasErrors(diagnostics);
    const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
    const contents = {
      files,
      entities: model?.entities.length ?? 0,
      alert_rules: model?.entities.reduce((sum, entity) => sum + entity.alert_rules.length, 0) ?? 0,
    };
    const subject = args.has('model-file') ? (args.has('config') ? 'model and config are' : 'model is') : 'config is';
    const held = `${counted(contents.entities, 'alert manager')} with ${counted(contents.alert_rules, 'alert rule')} in ${counted(files, 'file')}`;
    context.view.say(
      result(
        {
          type: 'validation',
          level: valid ? 'info' : 'error',
          message: `The ${subject} ${valid ? 'valid' : 'not valid'}`,
          valid,
          error_count: errors,
          warning_count: diagnostics.length - errors,
          ...contents,
        },
        (style) =>
          valid ? `${style.add(style.strong('Success!'))} The ${subject} valid${files > 0 ? `: ${held}` : ''}.\n` : '',
      ),
    );
    return valid ? EXIT.ok : EXIT.invalid;
  },
};
