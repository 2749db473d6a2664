/** Label sets: what tells one series from another. */
import { METRIC_NAME } from '../syntax/ast.ts';

/** A label set. Names are sorted and unique, no value is empty. Make one with `labelsOf`; never change it. */
export interface Labels {
  readonly names: readonly string[];
  readonly values: readonly string[];
  /** Equal for equal label sets, different for different ones. */
  readonly key: string;
}

function make(names: readonly string[], values: readonly string[]): Labels {
  let key = '';
  // Lengths in front keep the key unambiguous whatever characters a value holds.
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const value = values[i]!;
    key += `${name.length}:${name}${value.length}:${value}`;
  }
  return { names, values, key };
}

export const NO_LABELS: Labels = make([], []);

/** Builds a label set from pairs. A label with an empty value is the same as no label; of equal names the last wins. */
export function labelsOf(labels: Readonly<Record<string, string>> | Iterable<readonly [string, string]>): Labels {
  const pairs = new Map<string, string>(Symbol.iterator in labels ? labels : Object.entries(labels));
  const names = [...pairs.keys()].filter((name) => pairs.get(name) !== '').sort();
  return make(
    names,
    names.map((name) => pairs.get(name)!),
  );
}

/** The value of a label; empty when there is none. */
export function labelValue(labels: Labels, name: string): string {
  const at = labels.names.indexOf(name);
  return at === -1 ? '' : labels.values[at]!;
}

/** The labels as pairs, sorted by name. */
export function labelPairs(labels: Labels): [string, string][] {
  return labels.names.map((name, i) => [name, labels.values[i]!]);
}

/** The labels as an object, as the HTTP API of Prometheus writes them. It has no prototype, so any name is safe. */
export function labelsRecord(labels: Labels): Record<string, string> {
  const record: Record<string, string> = Object.create(null);
  labels.names.forEach((name, i) => {
    record[name] = labels.values[i]!;
  });
  return record;
}

function filtered(labels: Labels, keep: (name: string) => boolean): Labels {
  if (labels.names.every(keep)) return labels;
  const names: string[] = [];
  const values: string[] = [];
  labels.names.forEach((name, i) => {
    if (!keep(name)) return;
    names.push(name);
    values.push(labels.values[i]!);
  });
  return make(names, values);
}

/** Without the labels named. */
export function without(labels: Labels, names: readonly string[]): Labels {
  return filtered(labels, (name) => !names.includes(name));
}

/** Only the labels named. */
export function only(labels: Labels, names: readonly string[]): Labels {
  return filtered(labels, (name) => names.includes(name));
}

/** Without the metric name. */
export function withoutName(labels: Labels): Labels {
  return filtered(labels, (name) => name !== METRIC_NAME);
}

/** With some labels set; an empty value removes the label. */
export function withLabels(labels: Labels, changes: Iterable<readonly [string, string]>): Labels {
  return labelsOf([...labelPairs(labels), ...changes]);
}

/** Orders label sets as Prometheus orders a range result: by the first differing name, then value, shorter first. */
export function compareLabels(a: Labels, b: Labels): number {
  const shorter = Math.min(a.names.length, b.names.length);
  for (let i = 0; i < shorter; i++) {
    const byName = compareText(a.names[i]!, b.names[i]!);
    if (byName !== 0) return byName;
    const byValue = compareText(a.values[i]!, b.values[i]!);
    if (byValue !== 0) return byValue;
  }
  return a.names.length - b.names.length;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Writes labels as Prometheus shows them: `name{a="b"}`. */
export function formatLabels(labels: Labels): string {
  const name = labelValue(labels, METRIC_NAME);
  const rest = labelPairs(withoutName(labels)).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return rest.length === 0 && name !== '' ? name : `${name}{${rest.join(', ')}}`;
}
