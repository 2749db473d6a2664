/** The `expression` of an alert rule on the wire: the indicator's name, or `macro(tolerance, indicator)`. */
import { MACROS, type Macro, type PatternExpression } from '@obsiac/model';
import { plainNumber } from './condition.ts';

const PATTERN = new RegExp(String.raw`^\s*(${MACROS.join('|')})\s*\(([^,]*),(.*)\)\s*$`, 's');

/** An indicator may have a name that reads like a pattern; the blank keeps the two apart. */
export function formatExpression(rule: { readonly indicator: string; readonly pattern?: PatternExpression }): string {
  const { pattern, indicator } = rule;
  if (pattern === undefined) return indicator;
  const rest = `${plainNumber(pattern.tolerance)}, ${pattern.indicator})`;
  const text = `${pattern.macro}(${rest}`;
  return text === indicator ? `${pattern.macro}( ${rest}` : text;
}

/** Undefined: the rule is a static one. Names are compared before anything is read as a pattern, since they may hold any text. */
export function parseExpression(expression: string, indicator: string): PatternExpression | undefined {
  if (expression === indicator) return undefined;
  const match = PATTERN.exec(expression);
  if (match === null) return undefined;
  const [, macro, tolerance, rest] = match as unknown as [string, Macro, string, string];
  const value = Number(tolerance);
  if (tolerance.trim() === '' || !Number.isFinite(value)) return undefined;
  const name = rest.trim() === indicator.trim() ? indicator : rest.trim();
  return { macro, tolerance: value, indicator: name };
}
