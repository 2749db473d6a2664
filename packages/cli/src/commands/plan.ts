/** `obsiac plan`: what apply would change. Reads with the read token alone and writes nothing but `-out`. */
import path from 'node:path';
import { hasChanges, hasErrors, type PlanBase, type State } from '@obsiac/model';
import {
  ACCEPT_MOVES,
  ALLOW_MASS_DELETE,
  COMMON_OPTIONS,
  COMPACT_WARNINGS,
  CONCURRENCY,
  CONFIG,
  MODEL_FILE,
} from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { usageFailure } from '../failure.ts';
import { makePlan } from '../planning.ts';
import { sayDiagnostics } from '../project/diagnostics.ts';
import { savePlanFile } from '../project/plan-file.ts';
import { loadProject, type Project } from '../project/project.ts';
import { withSession } from '../session.ts';
import { readStateFile } from '../state/state-file.ts';
import { VERSION } from '../version.ts';
import { planShown } from '../views/plan/message.ts';
import type { Command, Context } from './command.ts';
import { concurrencyOf } from './concurrency.ts';
import { massDeletionOf, NO_REVISION } from './plan-checks.ts';
import { commandLine } from './shell-words.ts';

const OUT = {
  name: 'out',
  value: 'FILE',
  complete: 'file',
  summary: 'Save the plan, so that "apply FILE" applies exactly this or refuses.',
} as const;

export const planCommand: Command = {
  name: 'plan',
  summary: 'Show what apply would change',
  usage: ['-mf PATH -c PATH plan [options]'],
  exits: ['ok', 'error', 'changes', 'invalid', 'refused', 'cancelled'],
  about: [
    'Compares the model with what the service holds and with the state of the last apply, and shows what apply would create (+), change (~), delete (-), adopt and move, each with the place in the model.',
    'It uses the read token alone and writes nothing: no state, no lock, only the screen and the file of -out.',
    'What an earlier apply made and the model no longer has is deleted. What obsiac never made is left alone and counted.',
  ],
  options: [
    MODEL_FILE,
    CONFIG,
    OUT,
    { name: 'detailed-exitcode', summary: 'Exit with 2 when there are changes, 0 when there are none.' },
    { name: 'markdown', summary: 'Write the plan as a comment for a pull request.' },
    ACCEPT_MOVES,
    ALLOW_MASS_DELETE,
    CONCURRENCY,
    COMPACT_WARNINGS,
    ...COMMON_OPTIONS,
  ],
  positionals: [],
  examples: [
    { about: 'Flags may stand before or after the command', command: 'obsiac -mf model.yaml -c config.json plan' },
    { about: 'A directory of model files is one model', command: 'obsiac plan -mf models -c config.json' },
    {
      about: 'In a pipeline: plan, review, apply exactly that',
      command: 'obsiac -mf models -c config.json plan -out changes.plan --detailed-exitcode',
    },
    { about: 'A comment for a pull request', command: 'obsiac -mf models -c config.json plan --markdown > comment.md' },
  ],
  run: async (args, context) => {
    if (args.has('markdown') && args.has('json')) {
      throw usageFailure(
        '--markdown and --json both want the screen',
        'Use --markdown with --json-into FILE to have both.',
      );
    }
    const project = await loadProject(args, context);
    const state = await readStateFile(project.statePath, project.owner);
    const concurrency = concurrencyOf(args);
    const acceptMoves = args.has('accept-moves');
    const { plan, revision } = await withSession(project.config, concurrency, (session) =>
      makePlan({ session, desired: project.model, state, acceptMoves, concurrency }, context),
    );
    const usable = !hasErrors(plan.diagnostics);
    const guard = massDeletionOf(plan, args);
    const warnings = guard === null ? [] : [{ ...guard, severity: 'warning' as const }];
    const out = usable ? args.text('out') : undefined;
    if (out !== undefined) {
      await savePlanFile(out, context.cwd, { plan, base: baseOf(project, state, revision) });
    }
    const next =
      usable && (guard === null || out !== undefined)
        ? { applyCommand: applyCommand(args, project, out, context) }
        : {};
    context.view.say(planShown({ plan, purpose: 'plan', ...(out !== undefined && { savedAs: out }), ...next }));
    sayDiagnostics([...plan.diagnostics, ...warnings], project.texts, args, context);
    if (!usable) {
      return EXIT.invalid;
    }
    return args.has('detailed-exitcode') && hasChanges(plan) ? EXIT.changes : EXIT.ok;
  },
};

function baseOf(project: Project, state: State | null, revision: number | null): PlanBase {
  return {
    revision: revision ?? NO_REVISION,
    serial: state?.serial ?? null,
    lineage: state?.lineage ?? null,
    org: project.owner.org,
    api_base_url: project.owner.apiBaseUrl,
    tool_version: VERSION,
    created: new Date().toISOString(),
  };
}

/** A saved plan needs no model, but where the state lies with the model, `-mf` still has to say so. */
function applyCommand(args: Arguments, project: Project, out: string | undefined, { cwd }: Context): string {
  const configFile = args.text('config') ?? '';
  const besideConfig = path.dirname(project.statePath) === path.dirname(path.resolve(cwd, configFile));
  const models = out !== undefined && besideConfig ? [] : args.texts('model-file').flatMap((file) => ['-mf', file]);
  return commandLine([...models, '-c', configFile, 'apply', ...(out === undefined ? [] : [out])]);
}
