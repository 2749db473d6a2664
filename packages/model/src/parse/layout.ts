/** Finds the items of the top-level `entities` list in the text, so that they can be parsed one at a time. */

export interface Layout {
  /** Offsets at which the items start, and where the last one ends. */
  readonly itemStarts: readonly number[];
  readonly end: number;
}

/**
 * The places of the items when the text has the usual layout: a block list below a line `entities:` at the left
 * margin, in the only document of the file. Null for any other layout, which is parsed as a whole. This looks at
 * lines only and may be wrong for odd texts; then the parts do not parse, and the whole is parsed instead.
 */
export function findLayout(text: string): Layout | null {
  const key = findEntitiesKey(text);
  if (key === undefined) return null;
  const itemStarts: number[] = [];
  let indent = -1;
  for (let start = key; start < text.length; ) {
    const lineEnd = text.indexOf('\n', start);
    const next = lineEnd === -1 ? text.length : lineEnd + 1;
    let at = start;
    while (text.charCodeAt(at) === SPACE) at++;
    if (!isBlankOrComment(text, at)) {
      const column = at - start;
      if (indent === -1) indent = column;
      if (column === indent && isItem(text, at)) itemStarts.push(start);
      else if (column <= indent) return endOfItems(text, itemStarts, start, column);
    }
    start = next;
  }
  return itemStarts.length === 0 ? null : { itemStarts, end: text.length };
}

const SPACE = 32;
const HYPHEN = 45;

/** The offset after the line `entities:`, or undefined when there is none or something unusual before it. */
function findEntitiesKey(text: string): number | undefined {
  const match = /^entities:[ ]*(?:#.*)?(?:\r?\n|$)/m.exec(text);
  if (!match) return undefined;
  const head = text.slice(0, match.index);
  const hasDirective = /^%/m.test(head);
  const hasDocumentEnd = /^\.\.\./m.test(head);
  const markers = head.match(/^---/gm)?.length ?? 0;
  return hasDirective || hasDocumentEnd || markers > 1 ? undefined : match.index + match[0].length;
}

function endOfItems(text: string, itemStarts: readonly number[], end: number, column: number): Layout | null {
  const hasMarker = /^(---|\.\.\.)/m.test(text.slice(end));
  return itemStarts.length === 0 || column > 0 || hasMarker ? null : { itemStarts, end };
}

function isItem(text: string, at: number): boolean {
  const after = text.charCodeAt(at + 1);
  return text.charCodeAt(at) === HYPHEN && (Number.isNaN(after) || after === SPACE || after === 10 || after === 13);
}

function isBlankOrComment(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return Number.isNaN(code) || code === 10 || code === 13 || code === 35;
}
