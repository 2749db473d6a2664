/** The guard against plans that delete most of what is managed, as after a wrong path or a truncated model. */
import type { Diagnostic } from '../diagnostic.ts';
import { planProblem } from './codes.ts';
import type { Plan, PlanInput } from './plan.ts';

/** So many deletions are never held up, whatever share they are. */
const ALWAYS_ALLOWED = 5;
const ALLOWED_SHARE = 0.5;

/**
 * A problem when a plan needs `--allow-mass-delete`: the model is empty and something would be deleted, or more than half
 * of the objects that the state manages would be deleted, and more than 5. Null when it does not. Of a saved plan, which
 * has no model with it, the plan itself says whether anything is wanted.
 */
export function massDeletion(
  plan: Pick<Plan, 'changes' | 'totals' | 'managed'>,
  desired?: Pick<PlanInput['desired'], 'entities'>,
): Diagnostic | null {
  const deleted = plan.totals.delete;
  const advice =
    'If that is meant, say so with --allow-mass-delete; otherwise check the path of the model (-mf) and the config.';
  const objects = (count: number) => `${count} object${count === 1 ? '' : 's'}`;
  if (deleted > 0 && isEmpty(plan, desired)) {
    const detail = `The model declares no alert managers, so the plan deletes all that was applied before: ${objects(deleted)}. ${advice}`;
    return planProblem('plan/mass-deletion', detail);
  }
  if (deleted <= ALWAYS_ALLOWED || deleted <= plan.managed * ALLOWED_SHARE) return null;
  const detail = `The plan deletes ${deleted} of the ${objects(plan.managed)} that the state manages, which is more than half. ${advice}`;
  return planProblem('plan/mass-deletion', detail);
}

function isEmpty(plan: Pick<Plan, 'changes'>, desired: Pick<PlanInput['desired'], 'entities'> | undefined): boolean {
  if (desired !== undefined) return desired.entities.length === 0;
  return !plan.changes.some(({ kind, action }) => kind === 'entity' && action !== 'delete' && action !== 'forget');
}
