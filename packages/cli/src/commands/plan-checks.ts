/** What is checked between making a plan and carrying it out. */
import { type Diagnostic, massDeletion, type Plan, type PlanBase, type State } from '@obsiac/model';
import type { Arguments } from '../arguments/parse.ts';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import type { ConfigProject } from '../project/project.ts';
import type { Session } from '../session.ts';
import { commandLine } from './shell-words.ts';

/** The guard against plans that delete most of what is managed; null when the plan may go on. */
export function massDeletionOf(plan: Plan, args: Arguments): Diagnostic | null {
  return args.has('allow-mass-delete') ? null : massDeletion(plan);
}

/** Ends an apply that deletes too much. */
export function massDeletionFailure(guard: Diagnostic, argv: readonly string[]): Failure {
  return new Failure(EXIT.confirm, {
    code: 'mass_deletion',
    summary: guard.summary,
    detail: `${guard.detail} Nothing was changed.`,
    commands: [commandLine([...argv, '--allow-mass-delete'])],
  });
}

/** Stands in a saved plan for the revision of a service that has none, such as the hosted one. */
export const NO_REVISION = -1;

interface Now {
  readonly project: ConfigProject;
  readonly state: State | null;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Throws when a saved plan was made for another service, another state, or an earlier revision of the service. */
export async function refuseStale(base: PlanBase, { project, state, session, signal }: Now): Promise<void> {
  const { owner } = project;
  if (base.org !== owner.org || base.api_base_url !== owner.apiBaseUrl) {
    throw stale(
      `It was made for the organization ${base.org} at ${base.api_base_url}; the config names ${owner.org} at ${owner.apiBaseUrl}.`,
    );
  }
  if (base.lineage !== (state?.lineage ?? null)) {
    throw stale(
      base.lineage === null
        ? 'There was no state when it was made; now there is one.'
        : 'The state is another one now.',
    );
  }
  if (base.serial !== (state?.serial ?? null)) {
    throw stale(`The state has been written since: its serial was ${base.serial} and is ${state?.serial}.`);
  }
  if (base.revision === NO_REVISION) {
    return;
  }
  const { revision } = await session.client.organization({ signal });
  if (revision !== base.revision) {
    throw stale(
      `The organization has been changed since: its revision was ${base.revision} and is ${revision ?? 'unknown'}.`,
    );
  }
}

function stale(detail: string): Failure {
  return new Failure(EXIT.stale, {
    code: 'plan_stale',
    summary: 'The saved plan is out of date',
    detail: `${detail} Nothing was changed. Make a new plan.`,
  });
}
