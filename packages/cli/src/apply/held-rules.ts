/** What the service holds of a rule and no model declares: a snooze until a time, and recurring mutes. An update keeps it. */
import type { Ask, Client, ReadAlertRule } from '@obsiac/api';

export interface HeldRules {
  /** The rule as held, if it has anything that a model does not declare. One request per entity, when first asked. */
  undeclared(entityId: string, ruleId: string, ask: Ask): Promise<ReadAlertRule | undefined>;
}

export function createHeldRules(client: Client): HeldRules {
  const byEntity = new Map<string, Promise<ReadonlyMap<string, ReadAlertRule>>>();

  const load = async (entityId: string, signal: AbortSignal | undefined) => {
    const rules = await client.listEntityAlertRules(entityId, { signal });
    const telling = rules.filter((rule) => (rule.mute_until ?? 0) > 0 || rule.recurring_mute_schedule != null);
    return new Map(telling.map((rule) => [rule.id, rule]));
  };

  return {
    async undeclared(entityId, ruleId, ask) {
      const known = byEntity.get(entityId);
      const loading = known ?? load(entityId, ask.signal);
      byEntity.set(entityId, loading);
      try {
        return (await loading).get(ruleId);
      } catch (error) {
        byEntity.delete(entityId);
        throw error;
      }
    },
  };
}
