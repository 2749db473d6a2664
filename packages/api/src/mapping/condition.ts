/** The two texts of an alert rule on the wire that hold numbers: `expr > 100.000000` and `count_true(result) >= 5`. */
import type { Threshold, ThresholdOperator } from '@obsiac/model';

const SIGNS: Readonly<Record<ThresholdOperator, string>> = {
  greater_than: '>',
  greater_than_eq: '>=',
  less_than: '<',
  less_than_eq: '<=',
  equal_to: '==',
  not_equal: '!=',
};

const OPERATORS = new Map(Object.entries(SIGNS).map(([operator, sign]) => [sign, operator as ThresholdOperator]));
// Seen in hand-written conditions.
OPERATORS.set('=', 'equal_to').set('<>', 'not_equal');

/** Six decimals, as C's `%f` writes them; where that would not give the number back, the shortest text that does. */
function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.000000';
  const fixed = value.toFixed(6);
  return Number(fixed) === value && !fixed.includes('e') ? fixed : String(value);
}

const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?inf(?:inity)?`;
const CONDITION = new RegExp(
  String.raw`^\s*\(?\s*(?:expr|result)\s*(>=|<=|==|!=|<>|>|<|=)\s*(${NUMBER})\s*\)?\s*$`,
  'i',
);
const ALERT_CONDITION = /^\s*count_true\s*\(\s*(?:result|expr)?\s*\)\s*(>=|>|==)\s*(\d+)(?:\.0*)?\s*$/i;

function parseNumber(text: string): number {
  const match = /^([-+]?)inf(?:inity)?$/i.exec(text);
  if (match === null) return Number(text);
  return match[1] === '-' ? -Infinity : Infinity;
}

/** The shortest decimal text of a number that gives it back, without an exponent, which not every reader of rules takes. */
export function plainNumber(value: number): string {
  const match = /^(-?)(\d)(?:\.(\d+))?e([-+]\d+)$/.exec(String(value));
  if (match === null) return String(value);
  const [, sign, first, rest = '', exponent] = match as unknown as [string, string, string, string | undefined, string];
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits + '0'.repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

export function formatCondition(threshold: Threshold): string {
  return `expr ${SIGNS[threshold.operator]} ${numberText(threshold.value)}`;
}

/** Null: the text is none of ours. White space, case and the spelling of the number do not matter. */
export function parseCondition(text: string): Threshold | null {
  const match = CONDITION.exec(text);
  const operator = match?.[1] === undefined ? undefined : OPERATORS.get(match[1]);
  return operator === undefined ? null : { operator, value: parseNumber(match![2]!) };
}

export function formatAlertCondition(badMinutes: number): string {
  return `count_true(result) >= ${badMinutes}`;
}

/** The bad minutes that raise the alert; null: the text is none of ours. `> 4` is `>= 5`. */
export function parseAlertCondition(text: string): number | null {
  const match = ALERT_CONDITION.exec(text);
  if (match === null) return null;
  return Number(match[2]) + (match[1] === '>' ? 1 : 0);
}
