/** Writes since when rules cannot be evaluated. */
import { guarded, type Store } from '../metadata/store.ts';
import type { EvaluatedRule, UnusableRule } from './evaluated-rule.ts';
import type { RuleState } from './rule-state.ts';
import type { ShardLeases } from './shards.ts';

/** Once for each failure that lasts. @throws LeaseLost */
export async function recordErrors(
  store: Store,
  leases: ShardLeases,
  rules: readonly { readonly rule: EvaluatedRule; readonly state: RuleState }[],
  minute: number,
): Promise<void> {
  const fresh = rules.filter(({ state }) => !state.hasStoredError);
  if (fresh.length === 0) return;
  const ids = fresh.map(({ rule }) => rule.row.id);
  await guarded(store, () =>
    store.db.transaction().execute(async (tx) => {
      await leases.require(
        tx,
        fresh.map(({ rule }) => rule.shard),
      );
      await tx
        .updateTable('alert_rules')
        .set({ error_since: minute * 60 })
        .where('id', 'in', ids)
        .execute();
    }),
  );
  for (const { state } of fresh) state.hasStoredError = true;
}

/** The same for rules that no answer could help. */
export async function recordUnusable(store: Store, rules: readonly UnusableRule[], minute: number): Promise<void> {
  const ids = rules.filter(({ row }) => row.error_since === null).map(({ row }) => row.id);
  if (ids.length === 0) return;
  await guarded(store, () =>
    store.db
      .updateTable('alert_rules')
      .set({ error_since: minute * 60 })
      .where('id', 'in', ids)
      .execute(),
  );
}
