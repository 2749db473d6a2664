/** Words for the type that a field needs and for the value it has, and the change that would put it right. */
import { oneOf, quote } from '../check/nearest.ts';

const EXPECTED_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

/** `a text`, or `a text, a number or true or false` for the branches of a union. */
export function expectedWords(expected: readonly string[]): string {
  return oneOf([...new Set(expected.map((type) => EXPECTED_WORDS[type] ?? type))]);
}

/** `the text "5"`, `the number 5`, `a list`. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return 'empty';
  if (typeof value === 'string') return value === '' ? 'an empty text' : `the text ${quote(value)}`;
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a mapping';
}

const BOOLEAN_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  false: false,
  no: false,
  off: false,
};

/** A sentence that says how to write the value, with a space before it; empty when there is no sure advice. */
export function typeHint(expected: readonly string[], field: string | number | undefined, value: unknown): string {
  const write = (text: string) => (typeof field === 'string' ? `${field}: ${text}` : text);
  const wants = (type: string) => expected.includes(type);
  if ((wants('number') || wants('int')) && typeof value === 'string') {
    return isNumber(value) ? ` Remove the quotes: ${write(value.trim())}` : '';
  }
  if (wants('boolean') && typeof value === 'string') {
    const meant = BOOLEAN_WORDS[value.trim().toLowerCase()];
    return meant === undefined ? '' : ` Write it without quotes: ${write(String(meant))}`;
  }
  if (wants('array') && typeof value === 'string') return ` Put it in a list: ${write(`[${quote(value)}]`)}`;
  if (wants('array') && typeof value === 'object' && value !== null) return ' Start each item with a hyphen.';
  if (wants('string') && (typeof value === 'number' || typeof value === 'boolean')) {
    return ' Put it in quotes.';
  }
  return '';
}

const isNumber = (text: string) => text.trim() !== '' && Number.isFinite(Number(text));
