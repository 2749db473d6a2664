/** The two small texts of a rule on the wire: `expr > 100.000000` and `count_true(result) >= 5`. */

const NUMBER = String.raw`[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const CONDITION = new RegExp(String.raw`^\s*expr\s*(>=|<=|==|!=|>|<)\s*(${NUMBER})\s*$`);
const BAD_MINUTES = /^\s*count_true\s*\(\s*result\s*\)\s*>=\s*(\d{1,9})(?:\.0*)?\s*$/;

type Operator = '>' | '>=' | '<' | '<=' | '==' | '!=';

export interface Condition {
  readonly operator: Operator;
  readonly threshold: number;
}

/** Reads a condition, whatever its white space and number spelling; undefined when it is none. */
export function parseCondition(text: string): Condition | undefined {
  const match = CONDITION.exec(text);
  if (!match) return undefined;
  const threshold = Number(match[2]);
  return Number.isFinite(threshold) ? { operator: match[1] as Operator, threshold } : undefined;
}

/** The one spelling that is stored and given back: six decimals, or as many digits as the number needs to stay itself. */
export function formatCondition(condition: Condition): string {
  const threshold = condition.threshold === 0 ? 0 : condition.threshold;
  const fixed = threshold.toFixed(6);
  return `expr ${condition.operator} ${Number(fixed) === threshold && !fixed.includes('e') ? fixed : String(threshold)}`;
}

/** Bad minutes of an alert condition; undefined when it is none. */
export function parseAlertCondition(text: string): number | undefined {
  const match = BAD_MINUTES.exec(text);
  return match ? Number(match[1]) : undefined;
}

export function formatAlertCondition(badMinutes: number): string {
  return `count_true(result) >= ${badMinutes}`;
}
