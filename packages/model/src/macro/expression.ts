/** Reads the expression of a pattern rule: `macro(tolerance, indicator name)`. */
import type { Code } from '../check/codes.ts';
import { didYouMean, oneOf, quote } from '../check/nearest.ts';
import { MACROS, type Macro, type PatternExpression } from '../model.ts';

/** The tolerance is a number from 0 (fires easily) to this. */
const LARGEST_TOLERANCE = 10;

/** What an expression may refer to. */
export interface ExpressionScope {
  /** The `indicator` of the rule; undefined when it is missing or wrong. */
  readonly indicator: string | undefined;
  /** Names of all indicators of the alert manager. */
  readonly names: ReadonlySet<string>;
  /** False when some indicator has no usable name, so that an unknown name may be right. */
  readonly namesAreComplete: boolean;
}

/** `from` and `to` are offsets in the expression. */
interface ExpressionProblem {
  readonly code: Code;
  readonly detail: string;
  readonly from: number;
  readonly to: number;
}

export type ReadExpression =
  | { readonly kind: 'static' }
  | { readonly kind: 'pattern'; readonly pattern: PatternExpression }
  | { readonly kind: 'problem'; readonly problem: ExpressionProblem };

const FORM = 'Write macro(tolerance, indicator name), for example high_spike(2, 5xx Status).';

/**
 * Reads an expression. The indicator's name stands in it as it is, unquoted, and may hold commas and parentheses.
 * An expression that is empty or the rule's indicator alone means a static rule.
 */
export function readExpression(text: string, scope: ExpressionScope): ReadExpression {
  const start = text.length - text.trimStart().length;
  const trimmed = text.trim();
  const whole = { from: start, to: start + trimmed.length };
  if (trimmed === '' || trimmed === scope.indicator) return { kind: 'static' };
  if (scope.names.has(trimmed)) {
    if (scope.indicator === undefined) return { kind: 'static' };
    return trouble('rule/expression-indicator', otherIndicator(trimmed, scope.indicator), whole);
  }
  const call = /^([A-Za-z_]\w*)(\s*\()([\s\S]*)\)$/.exec(trimmed);
  if (!call) return notACall(trimmed, scope, whole);
  const [, name = '', open = '', inside = ''] = call;
  const macro = MACROS.find((known) => known === name);
  if (!macro) {
    const detail = `There is no macro ${quote(name)}.${didYouMean(name, MACROS)} The macros are ${oneOf(MACROS, 'and')}.`;
    return trouble('rule/macro', detail, { from: start, to: start + name.length });
  }
  return readArguments(macro, inside, start + name.length + open.length, scope);
}

const trouble = (code: Code, detail: string, { from, to }: { from: number; to: number }): ReadExpression => ({
  kind: 'problem',
  problem: { code, detail, from, to },
});

const otherIndicator = (named: string, indicator: string) =>
  `The expression is on the indicator ${quote(named)}, but the rule's indicator is ${quote(indicator)}. Name the same one in both.`;

function notACall(trimmed: string, scope: ExpressionScope, whole: { from: number; to: number }): ReadExpression {
  const macro = /^([A-Za-z_]\w*)\s*\(/.exec(trimmed)?.[1];
  if (MACROS.some((known) => known === macro)) {
    return trouble('rule/expression', `The closing parenthesis of ${macro}( is missing. ${FORM}`, whole);
  }
  const detail = `${quote(trimmed)} is neither a macro nor the name of the rule's indicator.${didYouMean(trimmed, scope.names)} ${FORM} A static rule needs no expression, and PromQL belongs in the query of the indicator.`;
  return trouble('rule/expression', detail, whole);
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function readArguments(macro: Macro, inside: string, from: number, scope: ExpressionScope): ReadExpression {
  const comma = inside.indexOf(',');
  const whole = { from, to: from + inside.length };
  if (comma === -1) {
    return trouble(
      'rule/expression',
      `${macro} takes two arguments, a tolerance and an indicator name. ${FORM}`,
      whole,
    );
  }
  const toleranceText = inside.slice(0, comma);
  const nameText = inside.slice(comma + 1);
  const tolerance = NUMBER.test(toleranceText.trim()) ? Number(toleranceText) : Number.NaN;
  if (!(tolerance >= 0 && tolerance <= LARGEST_TOLERANCE)) {
    return trouble('rule/tolerance', toleranceDetail(macro, inside, toleranceText.trim(), scope), {
      from: from + toleranceText.length - toleranceText.trimStart().length,
      to: from + Math.max(toleranceText.trimEnd().length, 1),
    });
  }
  const indicator = nameText.trim();
  const nameFrom = from + comma + 1 + nameText.length - nameText.trimStart().length;
  const nameSpan = indicator === '' ? whole : { from: nameFrom, to: nameFrom + indicator.length };
  const detail = indicatorDetail(macro, indicator, scope);
  if (detail !== undefined) return trouble('rule/expression-indicator', detail, nameSpan);
  return { kind: 'pattern', pattern: { macro, tolerance: tolerance + 0, indicator } };
}

function toleranceDetail(macro: Macro, inside: string, text: string, scope: ExpressionScope): string {
  const lastComma = inside.lastIndexOf(',');
  const name = inside.slice(0, lastComma).trim();
  const last = inside.slice(lastComma + 1).trim();
  if (NUMBER.test(last) && scope.names.has(name)) {
    return `The tolerance comes first. Write ${macro}(${last}, ${name}).`;
  }
  const is = text === '' ? 'missing' : NUMBER.test(text) ? `${text}` : `${quote(text)}, which is no number`;
  return `The tolerance must be a number from 0 to ${LARGEST_TOLERANCE}, but is ${is}. A larger one fires less easily; 5 is a good start.`;
}

function indicatorDetail(macro: Macro, indicator: string, scope: ExpressionScope): string | undefined {
  if (indicator === '') return `The name of the indicator is missing after the comma. ${FORM}`;
  if (indicator === scope.indicator) return undefined;
  const bare = /^(["'`])([\s\S]*)\1$/.exec(indicator)?.[2];
  if (bare !== undefined && (bare === scope.indicator || scope.names.has(bare))) {
    return `The name of the indicator stands without quotes: ${macro}(…, ${bare}).`;
  }
  if (scope.names.has(indicator)) {
    return scope.indicator === undefined ? undefined : otherIndicator(indicator, scope.indicator);
  }
  if (!scope.namesAreComplete) return undefined;
  return `There is no indicator ${quote(indicator)} in this alert manager.${didYouMean(indicator, scope.names)}`;
}
