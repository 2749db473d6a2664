/** Checks that a rule binds exactly the variables of its indicator's query. */
import { queryVariables } from '../query-text.ts';
import type { AlertRuleInput } from '../schema/model-schema.ts';
import type { Path } from '../schema/path.ts';
import type { Draft } from '../schema/problems.ts';
import type { EntityContext } from './context.ts';
import { didYouMean, oneOf, quote } from './nearest.ts';

/**
 * A variable without a value is an error of the rule, since the indicator may be right for other rules. A value
 * without a variable changes nothing, so it is a warning.
 */
export function checkLabelFilter(
  { draft, place, report }: EntityContext,
  rule: Draft<AlertRuleInput>,
  path: Path,
): void {
  const isWrong = Object.hasOwn(rule, 'label_filter') && rule.label_filter === undefined;
  const indicator = draft.indicators?.find((each) => each?.name !== undefined && each.name === rule.indicator);
  if (isWrong || indicator?.query === undefined) return;
  const variables = [...new Set(queryVariables(indicator.query).map(({ name }) => name))];
  const bound = Object.keys(rule.label_filter ?? {});
  const unbound = variables.filter((name) => !bound.includes(name));
  const unused = bound.filter((name) => !variables.includes(name));
  if (unbound.length > 0) {
    const names = oneOf(
      unbound.map((name) => `$${name}`),
      'and',
    );
    const example = `label_filter: {${unbound.map((name) => `${name}: …`).join(', ')}}`;
    const detail = `The query of ${quote(indicator.name ?? '')} has ${unbound.length === 1 ? 'the variable' : 'the variables'} ${names}, and this rule gives no value. Add ${example}`;
    const has = place.has([...path, 'label_filter']);
    report.add('rule/label-filter', detail, has ? place.key([...path, 'label_filter']) : place.object(path));
  }
  for (const name of unused) {
    const bare = /^\$\{?(\w+)\}?$/.exec(name)?.[1];
    const advice = bare === undefined ? didYouMean(name, unbound) : ` Write ${bare} without the $.`;
    const detail = `The query of ${quote(indicator.name ?? '')} has no variable $${name.replace(/^\$/, '')}, so this value does nothing.${advice}`;
    report.add('rule/label-filter-unused', detail, place.key([...path, 'label_filter', name]));
  }
}
