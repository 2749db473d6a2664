/** Entities that are kept as code say so with `ui_readonly`: then the dashboard may not edit them, while API clients may. */
import { Refusal } from '../refusal.ts';
import type { Change } from './store.ts';
import type { EntityRow } from './tables.ts';

/** @throws Refusal `ui_readonly` when the change comes from the dashboard and the entity does not allow that */
export function requireEditable(change: Change, entity: Pick<EntityRow, 'name' | 'ui_readonly'>): void {
  if (!change.fromDashboard || entity.ui_readonly === 0) return;
  throw new Refusal(
    'ui_readonly',
    `"${entity.name}" is managed as code and cannot be edited in the dashboard; change its model and apply it.`,
  );
}

/** `requireEditable` for what belongs to an entity. @throws Refusal `ui_readonly` */
export async function requireEditableId(change: Change, entityId: string): Promise<void> {
  if (!change.fromDashboard) return;
  const entity = await change.tx
    .selectFrom('entities')
    .select(['name', 'ui_readonly'])
    .where('id', '=', entityId)
    .where('organization_id', '=', change.organizationId)
    .executeTakeFirst();
  if (entity) requireEditable(change, entity);
}
