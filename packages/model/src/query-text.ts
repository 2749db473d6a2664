/** What the model needs to know of a query's text. */

/** The form in which two queries are compared: equal texts mean the same query. */
export function canonicalQuery(text: string): string {
  return text.trim();
}

/** A variable of a query, `$name` or `${name}` in the value of a matcher. Offsets are in the text. */
export interface QueryVariable {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const MATCHER_VALUE = /(?:!=|=~|!~|=)\s*("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|`[^`]*`)/g;
const VARIABLE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/** The variables of a query in the order of the text, each place once. */
export function queryVariables(text: string): readonly QueryVariable[] {
  const found: QueryVariable[] = [];
  for (const matcher of text.matchAll(MATCHER_VALUE)) {
    const value = matcher[1] ?? '';
    const start = matcher.index + matcher[0].length - value.length;
    for (const match of value.matchAll(VARIABLE)) {
      const from = start + match.index;
      found.push({ name: match[1] ?? match[2] ?? '', from, to: from + match[0].length });
    }
  }
  return found;
}
