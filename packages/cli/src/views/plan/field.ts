/** One changed field as lines of text: side by side where it fits, line by line where it does not. */
import type { FieldChange, Json } from '@obsiac/model';
import { harmless } from '../style.ts';
import { diffLines, withContext } from './line-diff.ts';

export interface FieldLine {
  readonly sign: ' ' | '+' | '-';
  readonly text: string;
}

const ABSENT = '(none)';
const CONTEXT_LINES = 2;

/** A value on one line, as JSON, so that `"5"` and `5` look different. */
export function valueText(value: Json | undefined): string {
  return value === undefined ? ABSENT : harmless(JSON.stringify(value));
}

function isBlock(value: Json | undefined): value is string {
  return typeof value === 'string' && value.replace(/\n$/, '').includes('\n');
}

/** The text of a value on a line of its own: a text without its quotes, so that a query can be copied. */
function bareText(value: Json): string {
  return typeof value === 'string' ? harmless(value.replace(/\n$/, '')) : valueText(value);
}

/**
 * Lines for one field, without indentation. `nameWidth` aligns the values of a group of fields; a line longer than `width`
 * becomes two.
 */
export function fieldLines(field: FieldChange, nameWidth: number, width: number): readonly FieldLine[] {
  const name = harmless(field.path);
  const { before, after } = field;
  const differsInLines = before === undefined || after === undefined || bareText(before) !== bareText(after);
  if ((isBlock(before) || isBlock(after)) && differsInLines) {
    return blockLines(name, before, after);
  }
  const label = name.padEnd(nameWidth);
  if (before === undefined) {
    return [{ sign: ' ', text: `${label}  ${valueText(after)}` }];
  }
  const sideBySide = `${label}  ${valueText(before)} -> ${valueText(after)}`;
  if (sideBySide.length <= width) {
    return [{ sign: ' ', text: sideBySide }];
  }
  return [
    { sign: ' ', text: `${name}:` },
    { sign: '-', text: before === null ? ABSENT : bareText(before) },
    { sign: '+', text: after === undefined ? ABSENT : bareText(after) },
  ];
}

function blockLines(name: string, before: Json | undefined, after: Json | undefined): readonly FieldLine[] {
  const head: FieldLine = { sign: ' ', text: `${name}:` };
  if (before === undefined || after === undefined) {
    const value = before ?? after;
    const sign = before === undefined ? '+' : '-';
    return [head, ...(value === undefined ? '' : bareText(value)).split('\n').map((text) => ({ sign, text }) as const)];
  }
  return [head, ...withContext(diffLines(bareText(before), bareText(after)), CONTEXT_LINES)];
}
