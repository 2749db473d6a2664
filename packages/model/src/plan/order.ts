/** In which order the changes of a plan are carried out, and which of them need the service at all. */
import type { Change, Plan } from './plan.ts';

/** The wave of each kind of object, when it is made or changed and when it goes: no reference is ever left dangling. */
const UPSERT_WAVE = { entity: 0, indicator: 1, channel: 1, alert_rule: 2 } as const;
const DELETE_WAVE = { alert_rule: 3, channel: 3, indicator: 4, entity: 5 } as const;
const WAVES = 6;

/** Whether anything has to be sent for a change; the others are only recorded in the state. */
export function needsRequest(change: Change): boolean {
  switch (change.action) {
    case 'create':
    case 'update':
      return true;
    case 'delete':
      return change.impliedBy === undefined;
    case 'move':
    case 'adopt':
      return change.fields.length > 0;
    case 'noop':
    case 'forget':
      return false;
  }
}

/**
 * The changes in waves: all of one wave may run at the same time, and the next wave starts when it is done. Entities come
 * before what is in them, indicators before the rules on them, deletions after everything that is made or changed, rules
 * before the indicators they used. Deletions that the service does by itself are left out; changes without a request are
 * in, since recording them has its order too. Empty waves are left out.
 */
export function executionOrder(plan: Pick<Plan, 'changes'>): readonly (readonly Change[])[] {
  const waves: Change[][] = Array.from({ length: WAVES }, () => []);
  for (const change of plan.changes) {
    if (change.impliedBy !== undefined) continue;
    const isRemoval = change.action === 'delete' || change.action === 'forget';
    waves[(isRemoval ? DELETE_WAVE : UPSERT_WAVE)[change.kind]]!.push(change);
  }
  return waves.filter((wave) => wave.length > 0);
}
