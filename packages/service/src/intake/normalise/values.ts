/** Turns values of a delivered record into what the log store's columns and attributes take: texts, lists of texts, exact numbers. */
import { type FieldValue, toJson } from '@obsiac/model';
import type { ColumnKind } from '../../log-store/index.ts';
import { isObject } from './exact-json.ts';
import { toNanoseconds } from './time.ts';

/** Objects within objects deeper than this stay JSON text. */
const MAX_DEPTH = 16;
/** Attributes of one record; more would make each part of the store slower, and no real record has them. */
const MAX_ATTRIBUTES = 4000;

export type Attributes = Record<string, string | string[]>;

/** The text of a value; an object or array as JSON. Half a surrogate pair, which UTF-8 cannot write, becomes U+FFFD. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toWellFormed();
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? toJson(value as FieldValue) : String(value);
}

/** Texts of an array's elements, those of arrays in it included; null gives none. */
export function textsOf(values: readonly unknown[]): string[] {
  return values.filter((value) => value !== null).map(textOf);
}

/** Adds a value under its dotted path. Absent are null, the empty text, the empty list and the empty object. */
export function addAttribute(into: Attributes, name: string, value: unknown, depth = 0): void {
  if (value === null || value === undefined || value === '') return;
  if (isObject(value) && depth < MAX_DEPTH) {
    for (const [member, inner] of Object.entries(value))
      addAttribute(into, `${name}.${pathPart(member)}`, inner, depth + 1);
    return;
  }
  if (Object.keys(into).length >= MAX_ATTRIBUTES && !(name in into)) return;
  if (!Array.isArray(value)) into[name] = textOf(value);
  else if (value.length > 0) into[name] = textsOf(value);
}

/** An empty name is no path. */
export function pathPart(name: string): string {
  return name === '' ? '_' : name.toWellFormed();
}

/** The value as a column of its kind takes it; undefined when it does not fit, null when it is absent. */
export function columnValue(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case 'keyword':
    case 'text':
      return typeof value === 'object' ? undefined : textOf(value);
    case 'integer':
      return integerOf(value);
    case 'float':
      return floatOf(value);
    case 'boolean':
      return booleanOf(value);
    case 'time':
      return value === '' ? null : toNanoseconds(value);
    case 'list':
      return Array.isArray(value)
        ? textsOf(value)
        : value === ''
          ? null
          : isObject(value)
            ? undefined
            : [textOf(value)];
  }
}

/** As text, so that no digit is lost. */
function integerOf(value: unknown): string | null | undefined {
  if (value === '') return null;
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (!/^-?\d{1,19}$/.test(text)) return undefined;
  const number = BigInt(text);
  return BigInt.asIntN(64, number) === number ? String(number) : undefined;
}

function floatOf(value: unknown): number | null | undefined {
  if (value === '') return null;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function booleanOf(value: unknown): boolean | null | undefined {
  if (value === true || value === 'true' || value === 1) return true;
  if (value === false || value === 'false' || value === 0) return false;
  return value === '' ? null : undefined;
}
