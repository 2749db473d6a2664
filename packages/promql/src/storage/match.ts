/** Tests label sets against matchers. */
import { type Labels, labelValue } from '../series/labels.ts';
import { compileRegex } from '../syntax/regex.ts';
import type { LabelMatcher } from './storage.ts';

/** A test for one value of the label a matcher is about. Throws on a regular expression that does not compile. */
export function valueTest({ op, value }: LabelMatcher): (labelValue: string) => boolean {
  if (op === '=') return (text) => text === value;
  if (op === '!=') return (text) => text !== value;
  const compiled = compileRegex(value);
  if (!compiled.ok) throw new Error(`invalid regular expression ${JSON.stringify(value)}: ${compiled.message}`);
  const { regex } = compiled;
  return op === '=~' ? (text) => regex.matches(text) : (text) => !regex.matches(text);
}

/** A test that all matchers take a label set. */
export function labelsTest(matchers: readonly LabelMatcher[]): (labels: Labels) => boolean {
  const tests = matchers.map((matcher) => ({ label: matcher.label, test: valueTest(matcher) }));
  return (labels) => tests.every(({ label, test }) => test(labelValue(labels, label)));
}
