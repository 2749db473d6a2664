/** A plan's totals as one sentence, and whether there is anything to do. */
import type { Plan } from './plan.ts';

/** Whether the service would be changed, or objects taken into the state; a mere refresh of the state is no change. */
export function hasChanges(plan: Pick<Plan, 'totals'>): boolean {
  return Object.values(plan.totals).some((count) => count > 0);
}

/**
 * `Plan: 3 to add, 1 to change, 0 to destroy.` in Terraform's manner; imports and moves are named only when there are any.
 * Without changes: `No changes.`
 */
export function summary(plan: Pick<Plan, 'totals'>): string {
  if (!hasChanges(plan)) return 'No changes.';
  const { adopt, move, create, update, delete: destroy } = plan.totals;
  const parts = [
    ...(adopt > 0 ? [`${adopt} to import`] : []),
    ...(move > 0 ? [`${move} to move`] : []),
    `${create} to add`,
    `${update} to change`,
    `${destroy} to destroy`,
  ];
  return `Plan: ${parts.join(', ')}.`;
}
