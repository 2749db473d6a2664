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

/**
 * A value on one line, in quotes when it is a text, so that `"5"` and `5` look different. A text with double quotes in it,
 * as queries have, stands in single ones as it would in YAML.
 */
function valueText(value: Json | undefined): string {
  if (value === undefined) {
    return ABSENT;
  }
  const fitsSingleQuotes = typeof value === 'string' && /["\\]/.test(value) && !/['\p{Cc}]/u.test(value);
  return fitsSingleQuotes ? `'${value}'` : harmless(JSON.stringify(value));
}

function isBlock(value: Json | undefined): value is string {
  return typeof value === 'string' && value.replace(/\n$/, '').includes('\n');
}

/** The text of a value on a line of its own: a text without its quotes, so that a query can be copied. */
function bareText(value: Json): string {
  return typeof value === 'string' ? harmless(value.replace(/\n$/, '')) : valueText(value);
}

export interface FieldOptions {
  /** Aligns the values of a group of fields. */
  readonly nameWidth: number;
  /** A line longer than this becomes two. */
  readonly width: number;
  /** The object is new, so that there is no value before. */
  readonly isNew: boolean;
}

/** Lines for one field, without indentation. */
export function fieldLines(field: FieldChange, options: FieldOptions): readonly FieldLine[] {
  const name = harmless(field.path);
  const { before, after } = field;
  const differsInLines = before === undefined || after === undefined || bareText(before) !== bareText(after);
  if ((isBlock(before) || isBlock(after)) && differsInLines) {
    return blockLines(name, before, after);
  }
  const label = name.padEnd(options.nameWidth);
  if (options.isNew) {
    return [{ sign: ' ', text: `${label}  ${valueText(after)}` }];
  }
  const sideBySide = `${label}  ${valueText(before)} -> ${valueText(after)}`;
  if (sideBySide.length <= options.width) {
    return [{ sign: ' ', text: sideBySide }];
  }
  return [
    { sign: ' ', text: `${name}:` },
    { sign: '-', text: before === undefined ? ABSENT : bareText(before) },
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
