/** `match` and `reReplaceAll`: RE2, as in Go. */
import { RE2JS } from 're2js';
import { TemplateProblem } from './value.ts';

/** Longer patterns, and longer texts, would take long. */
const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 2048;

function compile(pattern: string): RE2JS {
  if (pattern.length > LONGEST_PATTERN)
    throw new TemplateProblem(`the pattern has more than ${LONGEST_PATTERN} characters`);
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new TemplateProblem(error instanceof Error ? error.message : String(error));
  }
}

function requireShort(text: string): void {
  if (text.length > LONGEST_TEXT) throw new TemplateProblem(`the text has more than ${LONGEST_TEXT} characters`);
}

/** True when the pattern matches anywhere in the text. */
export function matches(pattern: string, text: string): boolean {
  requireShort(text);
  return compile(pattern).matcher(text).find();
}

/**
 * The text with every match replaced. In the replacement `$1`, `${1}`, `$name` and `${name}` stand for what a group caught.
 * @param most longest result, in UTF-16 units
 */
export function replaceAll(pattern: string, replacement: string, text: string, most: number): string {
  requireShort(text);
  const re = compile(pattern);
  const names = re.namedGroups();
  const matcher = re.matcher(text);
  const groups = matcher.groupCount();
  const group = (index: number): string => matcher.group(index) ?? '';
  const expand = (): string =>
    replacement.replace(/\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))/gu, (all, braced, bare) => {
      if (all === '$$') return '$';
      const name: string = braced ?? bare;
      if (/^\d+$/.test(name)) return Number(name) <= groups ? group(Number(name)) : '';
      return Object.hasOwn(names, name) ? group(names[name]!) : '';
    });
  let result = '';
  let copied = 0;
  let lastEnd = -1;
  for (let from = 0; from <= text.length && matcher.find(from); ) {
    const start = matcher.start();
    const end = matcher.end();
    result += text.slice(copied, start);
    // An empty match right behind the match before it is none.
    if (end > start || start > lastEnd) result += expand();
    if (result.length > most) throw new TemplateProblem(`the result has more than ${most} characters`);
    copied = end;
    lastEnd = end;
    from = end > from ? end : from + (text.codePointAt(from)! > 0xffff ? 2 : 1);
  }
  return result + text.slice(copied);
}
