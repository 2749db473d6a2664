/** `obsiac explain RULE`: what a rule means, where it stands, and what it costs. */
import type { Model } from '@obsiac/model';
import { COMMON_OPTIONS, COMPACT_WARNINGS, CONFIG, MODEL_FILE } from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { type FoundRule, findRule } from '../explain/find-rule.ts';
import { type ExplainReport, explainRule } from '../explain/report.ts';
import { explained } from '../explain/text.ts';
import { InvalidInput, usageFailure } from '../failure.ts';
import { checkInput, loadServiceConfig } from '../project/project.ts';
import { readActual } from '../remote/read-actual.ts';
import { withSession } from '../session.ts';
import type { Command, Context } from './command.ts';

export const explain: Command = {
  name: 'explain',
  summary: 'Tell what a rule means and how it stands',
  usage: ['-c PATH explain RULE [--entity REF]', '-mf PATH [-c PATH] explain RULE [--entity REF]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'cancelled'],
  about: [
    'Tells in sentences when a rule fires and resolves, the query that it asks and where, which channels hear of it, how it stands now, when it last fired and how often, what its last 20 evaluations cost, and its last error with a curl line that asks the data source the same.',
    'With -mf it explains the rule of the model, applied or not, and says whether the service has the same. Without -mf it explains the rule of the service. With -mf alone nothing is asked. It uses the read token alone.',
  ],
  options: [
    MODEL_FILE,
    CONFIG,
    { name: 'entity', value: 'REF', summary: 'The alert manager of the rule: its external_ref or its name.' },
    COMPACT_WARNINGS,
    ...COMMON_OPTIONS,
  ],
  positionals: [
    {
      name: 'RULE',
      required: true,
      summary: 'The name of the rule, or its address as plans print it: external_ref/alert_rules/NAME',
    },
  ],
  examples: [
    { about: 'A rule of the service', command: "obsiac -c config.json explain 'High error ratio'" },
    {
      about: 'A rule of the model, before it is applied',
      command: "obsiac -mf model.yaml -c config.json explain 'High error ratio'",
    },
    {
      about: 'When two alert managers have one of this name',
      command: "obsiac -c config.json explain 'High error ratio' --entity checkout-api",
    },
  ],
  run: async (args, context) => {
    if (!args.has('model-file') && !args.has('config')) {
      throw usageFailure('-mf MODEL or -c CONFIG is missing', 'Name the model, the service, or both.');
    }
    const { model, config } = await readInput(args, context);
    const report =
      config === null
        ? await explainRule(find(args, model, null), null, null, context.cancelled)
        : await withSession(config, 8, async ({ client }): Promise<ExplainReport> => {
            const { actual } = await readActual(client, { signal: context.cancelled });
            return explainRule(find(args, model, actual), actual, client.alerts, context.cancelled);
          });
    context.view.say(explained(report));
    return EXIT.ok;
  },
};

/** Null: not given. What is given must be without errors. */
async function readInput(args: Arguments, context: Context) {
  if (!args.has('model-file')) return { model: null, config: await loadServiceConfig(args, context) };
  const { model, config } = await checkInput(args, context);
  if (model === null || (args.has('config') && config === null)) throw new InvalidInput();
  return { model, config };
}

function find(args: Arguments, model: Model | null, actual: Parameters<typeof findRule>[0]['actual']): FoundRule {
  const words = [
    ...args.texts('model-file').flatMap((file) => ['-mf', file]),
    ...args.texts('config').flatMap((file) => ['-c', file]),
  ];
  const command = [...words, 'explain'];
  return findRule({ wanted: args.positional(0) ?? '', entity: args.text('entity'), model, actual, command });
}
