/** Which part of what a service holds a model can say; other clients may have stored more. */
import { type ActualEntity, bindingKey, type ChannelBinding, DEFAULTS, type Entity, SEVERITIES } from '@obsiac/model';

export interface Importable {
  readonly entities: readonly Entity[];
  /** What no model can say, each as a text for people. */
  readonly leftOut: readonly string[];
}

export function importable(held: readonly ActualEntity[]): Importable {
  const leftOut: string[] = [];
  const entities: Entity[] = [];
  for (const { entity } of held) {
    const { external_ref, entity_class } = entity;
    // Without a class an entity is no alert manager yet, and an apply makes it one.
    if (entity_class !== '' && entity_class !== DEFAULTS.entity_class) {
      leftOut.push(`${external_ref} (entity_class ${entity_class})`);
      continue;
    }
    const notification_channels = sayable(entity.notification_channels, (binding, reason) =>
      leftOut.push(`${external_ref}: notification channel ${bindingKey(binding)} (${reason})`),
    );
    entities.push({ ...entity, entity_class: DEFAULTS.entity_class, notification_channels });
  }
  return { entities, leftOut };
}

function sayable(
  bindings: readonly ChannelBinding[],
  leaveOut: (binding: ChannelBinding, reason: string) => void,
): ChannelBinding[] {
  const taken = new Set<string>();
  return paired(bindings).filter((binding) => {
    const reason =
      unsayable(binding, bindings) ?? (taken.has(bindingKey(binding)) ? 'a second of this name' : undefined);
    if (reason !== undefined) leaveOut(binding, reason);
    else taken.add(bindingKey(binding));
    return reason === undefined;
  });
}

/** The two severities of one channel side by side, so that they can be written as one. */
function paired(bindings: readonly ChannelBinding[]): ChannelBinding[] {
  const channels = Map.groupBy(bindings, ({ name, type }) => `${type}/${name}`);
  const bySeverity = (a: ChannelBinding, b: ChannelBinding) =>
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
  return [...channels.values()].flatMap((same) => same.sort(bySeverity));
}

/** A channel of a type that has no name in a model is written as its bare name, which attaches it for both severities. */
function unsayable(binding: ChannelBinding, all: readonly ChannelBinding[]): string | undefined {
  if (!SEVERITIES.includes(binding.severity)) return 'without a severity';
  if (binding.type !== null) return undefined;
  if (binding.mention.length > 0) return 'mentions, and a type that a model cannot name';
  const isBoth = SEVERITIES.every((severity) =>
    all.some((other) => other.type === null && other.name === binding.name && other.severity === severity),
  );
  return isBoth ? undefined : 'one severity alone, and a type that a model cannot name';
}
