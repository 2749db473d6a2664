/** Addresses: the names by which plan, state and `moved` speak of one object. */
import type { ResourceKind } from './plan/plan.ts';

/** The part of an address between the entity and the name, which is also the YAML field that holds such objects. */
export const SECTIONS = {
  indicator: 'indicators',
  alert_rule: 'alert_rules',
  channel: 'notification_channels',
} as const satisfies Record<Exclude<ResourceKind, 'entity'>, string>;

export type ChildKind = keyof typeof SECTIONS;

/** What an address says. `name` is empty for an entity; for a channel it is `NAME/SEVERITY`. */
export interface Address {
  readonly kind: ResourceKind;
  readonly entity: string;
  readonly name: string;
}

/** The address of an indicator, a rule, or (with `NAME/SEVERITY` as name) a channel binding. An entity's is its `external_ref`. */
export function childAddress(entity: string, kind: ChildKind, name: string): string {
  return `${entity}/${SECTIONS[kind]}/${name}`;
}

/** The name of a channel binding within its entity. */
export function bindingKey(binding: { readonly name: string; readonly severity: string }): string {
  return `${binding.name}/${binding.severity}`;
}

/** Reads an address; null when it is none. Names may hold slashes: only the first two divide. */
export function parseAddress(address: string): Address | null {
  const first = address.indexOf('/');
  if (first < 0) return address === '' ? null : { kind: 'entity', entity: address, name: '' };
  const second = address.indexOf('/', first + 1);
  if (first === 0 || second < 0 || second === address.length - 1) return null;
  const section = address.slice(first + 1, second);
  for (const kind of Object.keys(SECTIONS) as ChildKind[]) {
    if (SECTIONS[kind] === section) return { kind, entity: address.slice(0, first), name: address.slice(second + 1) };
  }
  return null;
}
