/** One alert out of many: what a template shows when a rule sends one message for all of its series. */
import type { TemplateInput } from './render.ts';

/** A series that fires, with its worst value. */
export interface GroupMember {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The labels and the value of a group. A label has its value where all series agree, else the text `3 values`; `{{ $labels }}`
 * shows how many values each label has. The value is the 99th percentile of the worst values, counted towards the worse end.
 * @param worst which end is the worse one: the least for rules with `<`, else the greatest
 */
export function groupInput(members: readonly GroupMember[], worst: 'greatest' | 'least'): TemplateInput {
  const values = new Map<string, Set<string>>();
  for (const { labels } of members) {
    for (const name of Object.keys(labels)) if (!values.has(name)) values.set(name, new Set());
  }
  // A series without the label counts as one more value of it, the empty one.
  for (const { labels } of members) for (const [name, seen] of values) seen.add(labels[name] ?? '');
  const names = [...values];
  const quantile = worst === 'least' ? 0.01 : 0.99;
  return {
    labels: Object.fromEntries(
      names.map(([name, seen]) => [name, seen.size === 1 ? [...seen][0]! : `${seen.size} values`]),
    ),
    labelCounts: Object.fromEntries(names.map(([name, seen]) => [name, seen.size])),
    value: quantileOf(
      quantile,
      members.map(({ value }) => value),
    ),
  };
}

/** Between the two neighbours in proportion, as PromQL's `quantile`. NaN when there is no value. */
function quantileOf(quantile: number, values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const rank = quantile * (sorted.length - 1);
  const lower = sorted[Math.floor(rank)]!;
  const upper = sorted[Math.ceil(rank)]!;
  // Infinite neighbours have no middle.
  return lower === upper ? lower : lower + (upper - lower) * (rank - Math.floor(rank));
}
