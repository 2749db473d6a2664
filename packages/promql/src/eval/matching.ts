/** Finds which series of the two sides of a binary expression belong together, once for all steps. */
import { type Labels, labelValue, only, withLabels, without, withoutName } from '../series/labels.ts';
import { METRIC_NAME, type VectorMatching } from '../syntax/ast.ts';
import type { Column } from './columns.ts';

/** Series that share a match group. */
export interface MatchGroup {
  readonly left: Column[];
  readonly right: Column[];
}

/** The labels two series must share to match, as a key. */
function signature(labels: Labels, matching: VectorMatching): string {
  const shared = matching.on ? only(labels, matching.labels) : without(labels, [...matching.labels, METRIC_NAME]);
  return shared.key;
}

/** Groups the series of both sides by what they must share. */
export function matchGroups(
  left: readonly Column[],
  right: readonly Column[],
  matching: VectorMatching,
): Map<string, MatchGroup> {
  const groups = new Map<string, MatchGroup>();
  const groupOf = (column: Column): MatchGroup => {
    const key = signature(column.labels, matching);
    let group = groups.get(key);
    if (!group) {
      group = { left: [], right: [] };
      groups.set(key, group);
    }
    return group;
  };
  for (const column of left) groupOf(column).left.push(column);
  for (const column of right) groupOf(column).right.push(column);
  return groups;
}

/**
 * The labels of the result for one pair: those of the "many" side without the name where it is dropped; for
 * one-to-one only the matched ones; plus what group_left or group_right takes from the "one" side.
 */
export function resultLabels(many: Labels, one: Labels, matching: VectorMatching, dropName: boolean): Labels {
  let labels = dropName ? withoutName(many) : many;
  if (matching.card === 'one-to-one') {
    labels = matching.on ? only(labels, matching.labels) : without(labels, matching.labels);
  }
  if (matching.include.length === 0) return labels;
  return withLabels(
    labels,
    matching.include.map((name) => [name, labelValue(one, name)] as const),
  );
}
