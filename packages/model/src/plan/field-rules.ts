/** How single fields are compared and shown: the building blocks of the tables in `canonical.ts`. */
import type { Json } from './plan.ts';

/** What comparing needs to know beyond the two values. */
export interface Comparison {
  /** The canonical text of a query. */
  readonly query: (text: string) => string;
  /** Name of the data source with this id, when the service lists it. */
  readonly sourceName: (id: string) => string | undefined;
  /** Id of the data source with this name, when the service lists it. */
  readonly sourceId: (name: string) => string | undefined;
}

/** A path as written in the YAML, and the value there. */
export type Shown = readonly [path: string, value: Json];

export interface FieldRule<Value> {
  /** Equal for two values exactly when the field means the same in both. */
  readonly canonical: (value: Value, comparison: Comparison) => Json;
  /** The field in YAML terms; nothing when the YAML would leave it out. */
  readonly show: (value: Value, comparison: Comparison) => readonly Shown[];
}

/** A rule for each field: forgetting one of a type's fields does not compile. */
export type FieldTable<Value, Skipped extends keyof Value> = {
  readonly [Field in Exclude<keyof Value, Skipped>]-?: FieldRule<Value>;
};

const NOTHING: readonly Shown[] = [];

/** A text that the YAML leaves out when it is empty; then `absent` holds. */
export function textField<Value>(path: string, get: (value: Value) => string, absent = ''): FieldRule<Value> {
  const canonical = (value: Value) => get(value) || absent;
  return {
    canonical,
    show: (value) => (canonical(value) === '' ? NOTHING : [[path, canonical(value)]]),
  };
}

/** A number or boolean that is always there. */
export function scalarField<Value>(path: string, get: (value: Value) => number | boolean): FieldRule<Value> {
  return { canonical: get, show: (value) => [[path, get(value)]] };
}

/** A list whose order and repetitions mean nothing. */
export function setField<Value>(path: string, get: (value: Value) => readonly string[]): FieldRule<Value> {
  return {
    canonical: (value) => [...new Set(get(value))].sort(),
    show: (value) => (get(value).length === 0 ? NOTHING : [[path, get(value)]]),
  };
}

/** A map; each key is a path of its own. */
export function mapField<Value>(
  path: string,
  get: (value: Value) => Readonly<Record<string, string>>,
): FieldRule<Value> {
  return {
    canonical: (value) => sortedEntries(get(value)),
    show: (value) => shownMap(path, get(value)),
  };
}

/** The pairs of a map, sorted by key: unlike an object, safe with every key there is. */
export function sortedEntries(map: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const entries = Object.entries(map);
  return entries.length < 2 ? entries : entries.sort(([a], [b]) => (a < b ? -1 : 1));
}

export function shownMap(path: string, map: Readonly<Record<string, string>>): readonly Shown[] {
  return Object.entries(map).map(([key, value]) => [`${path}.${pathKey(key)}`, value]);
}

/** A map key inside a path: quoted unless it is a plain word. */
function pathKey(key: string): string {
  return /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key);
}

/** A number as JSON, by value: `-0` is 0; JSON has no infinities, so they become texts. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value + 0 : String(value);
}
