/** Values of a template, with the types that Go would give them: what a value prints as depends on its type. */
import { formatShortest } from './decimal.ts';

export type Value =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'float'; readonly number: number }
  | { readonly kind: 'int'; readonly integer: bigint }
  | { readonly kind: 'bool'; readonly flag: boolean }
  | MapValue
  | { readonly kind: 'nil' }
  /** What `.` is at first: the fields `Labels` and `Value`. */
  | { readonly kind: 'data'; readonly fields: ReadonlyMap<string, Value> };

export interface MapValue {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, Value>;
  /** Stands for the entries when the map is printed as a whole. */
  readonly shown?: ReadonlyMap<string, Value>;
}

/** The template cannot go on. The message is a sentence for the writer of the template. */
export class TemplateProblem extends Error {
  override readonly name = 'TemplateProblem';
}

export const text = (content: string): Value => ({ kind: 'string', text: content });
export const float = (number: number): Value => ({ kind: 'float', number });
export const int = (integer: bigint): Value => ({ kind: 'int', integer });
export const bool = (flag: boolean): Value => ({ kind: 'bool', flag });
export const NIL: Value = { kind: 'nil' };

const TYPE_NAMES: Readonly<Record<Value['kind'], string>> = {
  string: 'string',
  float: 'float64',
  int: 'int',
  bool: 'bool',
  map: 'map[string]string',
  nil: '<nil>',
  data: 'struct',
};

/** The name of the type in Go. */
export function typeName(value: Value): string {
  return TYPE_NAMES[value.kind];
}

/** Zero, the empty text, an empty map, false and nil are false. */
export function isTrue(value: Value): boolean {
  switch (value.kind) {
    case 'string':
      return value.text !== '';
    case 'float':
      return value.number !== 0;
    case 'int':
      return value.integer !== 0n;
    case 'bool':
      return value.flag;
    case 'map':
      return value.entries.size > 0;
    case 'nil':
      return false;
    case 'data':
      return true;
  }
}

/** Keys in the order in which Go goes through a map: by code point. */
export function sortedKeys(map: ReadonlyMap<string, Value>): string[] {
  return [...map.keys()].sort(compareTexts);
}

/** What `{{ value }}` and `%v` print. */
export function printed(value: Value): string {
  switch (value.kind) {
    case 'string':
      return value.text;
    case 'float':
      return formatShortest(value.number);
    case 'int':
      return String(value.integer);
    case 'bool':
      return String(value.flag);
    case 'map':
      return printedMap(value.shown ?? value.entries);
    case 'nil':
      return '<no value>';
    case 'data':
      return `{${[...value.fields.values()].map(printed).join(' ')}}`;
  }
}

function printedMap(map: ReadonlyMap<string, Value>): string {
  return `map[${sortedKeys(map)
    .map((key) => `${key}:${printed(map.get(key)!)}`)
    .join(' ')}]`;
}

/** Texts compare by code points in Go, by UTF-16 units in JavaScript. */
export function compareTexts(a: string, b: string): number {
  const left = [...a];
  const right = [...b];
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = left[index]!.codePointAt(0)! - right[index]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
