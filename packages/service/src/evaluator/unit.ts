/** The unit of work: one query on one data source, with all the rules that ask it. */
import type { ResolvedSource } from '../data-source/sources.ts';
import type { EvaluatedRule } from './evaluated-rule.ts';
import { slotOf, spreadOf } from './slots.ts';

export interface Unit {
  readonly key: string;
  readonly source: ResolvedSource;
  readonly query: string;
  readonly rules: readonly EvaluatedRule[];
  /** Seconds after the minute. */
  readonly slot: number;
}

/** Rules of one query share its answer: it is asked once, over the longest window that one of them needs then. */
export function toUnits(rules: readonly EvaluatedRule[]): Unit[] {
  const groups = Map.groupBy(rules, ({ source, query }) => JSON.stringify([source.id, query]));
  const spread = spreadOf(groups.size);
  return [...groups].map(([key, same]) => {
    const { source, query } = same[0]!;
    return { key, source, query, rules: same, slot: slotOf(key, spread) };
  });
}
