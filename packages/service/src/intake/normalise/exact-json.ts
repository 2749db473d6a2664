/** Parses a line of JSON without losing a digit of long integers. */

export type JsonObject = { readonly [name: string]: unknown };

/** Strings are skipped, so that digits in them stay as they are; what is left are numbers. */
const LONG_INTEGER = /"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;

/** As `JSON.parse`; integers of 16 and more digits come as their text. @throws SyntaxError */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text.replace(LONG_INTEGER, (match) => (match.startsWith('"') ? match : `"${match}"`)));
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
