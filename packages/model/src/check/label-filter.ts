/** Checks that a rule binds exactly the variables of its indicator's query. */
import type { Expr } from '@obsiac/promql';
import { expandQuery, queryVariables } from '../query-text.ts';
import type { AlertRuleInput } from '../schema/model-schema.ts';
import type { Path } from '../schema/path.ts';
import type { Draft } from '../schema/problems.ts';
import type { EntityContext } from './context.ts';
import { didYouMean, oneOf, quote } from './nearest.ts';

/**
 * A variable without a value is an error of the rule, since the indicator may be right for other rules. A value
 * without a variable changes nothing, so it is a warning.
 */
export function checkLabelFilter(context: EntityContext, rule: Draft<AlertRuleInput>, path: Path, query: Expr): void {
  if (Object.hasOwn(rule, 'label_filter') && rule.label_filter === undefined) return;
  const { place, report } = context;
  const variables = queryVariables(query);
  const bound = Object.keys(rule.label_filter ?? {});
  const unbound = variables.filter((name) => !bound.includes(name));
  const indicator = quote(rule.indicator ?? '');
  if (unbound.length > 0) {
    const names = oneOf(
      unbound.map((name) => `$${name}`),
      'and',
    );
    const example = `label_filter: {${unbound.map((name) => `${name}: …`).join(', ')}}`;
    const what = unbound.length === 1 ? 'the variable' : 'the variables';
    const detail = `The query of ${indicator} has ${what} ${names}, and this rule gives no value. Add ${example}`;
    const filter = [...path, 'label_filter'];
    report.add('rule/label-filter', detail, place.has(filter) ? place.key(filter) : place.object(path));
  }
  for (const name of bound.filter((each) => !variables.includes(each))) {
    const bare = /^\$\{?(\w+)\}?$/.exec(name)?.[1];
    const advice = bare === undefined ? didYouMean(name, unbound) : ` Write ${bare} without the $.`;
    const detail = `The query of ${indicator} has no variable $${bare ?? name}, so this value does nothing.${advice}`;
    report.add('rule/label-filter-unused', detail, place.key([...path, 'label_filter', name]));
  }
  if (unbound.length === 0 && variables.length > 0) checkExpanded(context, rule, path);
}

/** The values may make a regular expression invalid, or a selector select everything. */
function checkExpanded({ draft, place, report }: EntityContext, rule: Draft<AlertRuleInput>, path: Path): void {
  const indicator = draft.indicators?.find((each) => each?.name === rule.indicator);
  if (indicator?.query === undefined) return;
  const values = Object.entries(rule.label_filter ?? {}).map(([name, value]) => {
    return [
      name,
      typeof value === 'string' ? value : (place.written([...path, 'label_filter', name]) ?? String(value)),
    ];
  });
  const expanded = expandQuery(
    { query: indicator.query, data_source: '' },
    { adhoc_filter: null, data_source: '' },
    { label_filter: Object.fromEntries(values) },
  );
  if (expanded.ok) return;
  const [problem] = expanded.problems;
  const detail = `With these values the query of ${quote(rule.indicator ?? '')} is not valid: ${problem?.message ?? ''}`;
  report.add('rule/label-filter-value', detail, place.key([...path, 'label_filter']));
}
