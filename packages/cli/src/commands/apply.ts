/** `obsiac apply [PLANFILE]`: makes the service match the model, or carries out exactly a saved plan. */
import { hasChanges, hasErrors, type Plan } from '@obsiac/model';
import { carryOut, withLockedState } from '../applying.ts';
import {
  ACCEPT_MOVES,
  ALLOW_MASS_DELETE,
  COMMON_OPTIONS,
  COMPACT_WARNINGS,
  CONCURRENCY,
  CONFIG,
  LOCK_TIMEOUT,
  MODEL_FILE,
  YES,
} from '../arguments/option.ts';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { makePlan } from '../planning.ts';
import { sayDiagnostics } from '../project/diagnostics.ts';
import { loadPlanFile } from '../project/plan-file.ts';
import { loadConfig, loadProject } from '../project/project.ts';
import { DEFAULT_CONCURRENCY, withSession } from '../session.ts';
import { planShown } from '../views/plan/message.ts';
import type { Command, Context } from './command.ts';
import { concurrencyOf } from './concurrency.ts';
import { confirm } from './confirm.ts';
import { massDeletionFailure, massDeletionOf, refuseStale } from './plan-checks.ts';
import { commandLine } from './shell-words.ts';

export const apply: Command = {
  name: 'apply',
  summary: 'Make the service match the model',
  usage: ['-mf PATH -c PATH apply [options]', '-c PATH apply PLANFILE [options]'],
  exits: ['ok', 'error', 'invalid', 'refused', 'partial', 'locked', 'stale', 'cancelled', 'confirm'],
  about: [
    'Makes a plan, shows it, and carries it out. On a terminal it asks first, and only "yes" goes on; -y skips the question. Without a terminal it applies at once, as a pipeline expects.',
    'With PLANFILE it carries out exactly the plan that "plan -out" saved, without a question, and refuses with exit code 7 when the state or the service has moved since. -mf is not read then; it only tells where the state may lie.',
    'Work that does not depend on a failed operation goes on. What was done is in the state, and the next apply does the rest. A first Ctrl-C finishes what is under way and saves; a second stops at once.',
  ],
  options: [
    MODEL_FILE,
    CONFIG,
    YES,
    ACCEPT_MOVES,
    ALLOW_MASS_DELETE,
    { ...CONCURRENCY, summary: `Operations under way at once, 1 to 256 (default ${DEFAULT_CONCURRENCY}).` },
    LOCK_TIMEOUT,
    COMPACT_WARNINGS,
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'PLANFILE', required: false, summary: 'A plan that "plan -out" saved', complete: 'file' }],
  examples: [
    { about: 'Flags may stand before or after the command', command: 'obsiac -mf model.yaml -c config.json apply' },
    { about: 'Without a question', command: 'obsiac -mf model.yaml -c config.json apply -y' },
    { about: 'Exactly what was reviewed', command: 'obsiac -c config.json apply changes.plan' },
    {
      about: 'In a pipeline: wait for another run, keep the events',
      command: 'obsiac -mf models -c config.json apply --lock-timeout 5m --json-into apply.ndjson',
    },
  ],
  run: (args, context) => {
    const planFile = args.positional(0);
    return planFile === undefined ? applyModel(args, context) : applySaved(planFile, args, context);
  },
};

async function applyModel(args: Arguments, context: Context): Promise<ExitCode> {
  const project = await loadProject(args, context);
  const concurrency = concurrencyOf(args);
  const timeoutMs = args.number('lock-timeout') ?? 0;
  return withSession(project.config, concurrency, (session) =>
    withLockedState({ project, operation: 'apply', timeoutMs }, context, async (locked) => {
      const { plan, revision } = await makePlan(
        { session, desired: project.model, state: locked.state, acceptMoves: args.has('accept-moves'), concurrency },
        context,
      );
      context.view.say(planShown({ plan, purpose: 'apply' }));
      sayDiagnostics(plan.diagnostics, project.texts, args, context);
      if (hasErrors(plan.diagnostics)) {
        return EXIT.invalid;
      }
      const asked = await checkAndConfirm(plan, args, context);
      return carryOut(
        {
          ...{ plan, session, project, locked, concurrency, operation: 'apply', quiet: !hasChanges(plan) },
          // What a person agreed to is what was shown; while they read, others may have written.
          ...(asked && revision !== null && { expectedRevision: revision }),
        },
        context,
      );
    }),
  );
}

/** True when a person was asked and agreed; throws when the plan must not be carried out. */
async function checkAndConfirm(plan: Plan, args: Arguments, context: Context): Promise<boolean> {
  const guard = massDeletionOf(plan, args);
  if (guard !== null) {
    throw massDeletionFailure(guard, context.argv);
  }
  if (!hasChanges(plan) || args.has('yes') || !context.terminal.canAsk) {
    return false;
  }
  if (args.has('json')) {
    throw new Failure(EXIT.confirm, {
      code: 'confirmation_required',
      summary: 'Confirmation is needed',
      detail: 'With --json on a terminal there is no place to ask. Nothing was changed. To apply without a question:',
      commands: [commandLine([...context.argv, '--yes'])],
    });
  }
  await confirm(context, 'Obsiac will carry out the plan above.');
  return true;
}

async function applySaved(file: string, args: Arguments, context: Context): Promise<ExitCode> {
  const project = await loadConfig(args, context);
  const { plan, base } = await loadPlanFile(file, context.cwd);
  const concurrency = concurrencyOf(args);
  const timeoutMs = args.number('lock-timeout') ?? 0;
  return withSession(project.config, concurrency, (session) =>
    withLockedState({ project, operation: 'apply', timeoutMs }, context, async (locked) => {
      await refuseStale(base, { project, state: locked.state, session, signal: context.cancelled });
      context.view.say(planShown({ plan, purpose: 'apply' }));
      const guard = massDeletionOf(plan, args);
      if (guard !== null) {
        throw massDeletionFailure(guard, context.argv);
      }
      const expectedRevision = base.revision >= 0 ? { expectedRevision: base.revision } : {};
      const quiet = !hasChanges(plan);
      return carryOut(
        { plan, session, project, locked, concurrency, operation: 'apply', quiet, ...expectedRevision },
        context,
      );
    }),
  );
}
