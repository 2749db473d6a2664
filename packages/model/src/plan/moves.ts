/** The confirmed renames of a model, sorted by what they rename. */
import { parseAddress } from '../address.ts';
import type { Moved } from '../model.ts';

/** New name to old name. */
type Renames = ReadonlyMap<string, string>;

export interface Moves {
  /** By `external_ref`. */
  readonly entities: Renames;
  readonly of: (entity: string, kind: 'indicator' | 'alert_rule') => Renames;
}

const NONE: Renames = new Map();

/**
 * Entries that are no rename within one entity are left out; checking the model reports them. In the `from` of an
 * indicator or a rule, an entity that moves too may stand under its old or its new name.
 */
export function readMoves(moved: readonly Moved[]): Moves {
  const entities = new Map<string, string>();
  const children = new Map<string, Map<string, string>>();
  const pairs = moved.map(({ from, to }) => ({ from: parseAddress(from), to: parseAddress(to) }));
  for (const { from, to } of pairs) {
    if (from?.kind === 'entity' && to?.kind === 'entity') entities.set(to.entity, from.entity);
  }
  for (const { from, to } of pairs) {
    if (!from || !to || from.kind !== to.kind || to.kind === 'entity' || to.kind === 'channel') continue;
    if (from.entity !== to.entity && entities.get(to.entity) !== from.entity) continue;
    const key = `${to.kind}/${to.entity}`;
    const names = children.get(key) ?? new Map<string, string>();
    children.set(key, names.set(to.name, from.name));
  }
  return { entities, of: (entity, kind) => children.get(`${kind}/${entity}`) ?? NONE };
}
