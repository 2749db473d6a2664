/** Checks the alert rules of one alert manager: names, indicators, thresholds, windows, expressions, label filters. */
import type { Expr } from '@obsiac/promql';
import { readExpression } from '../macro/expression.ts';
import { type Macro, THRESHOLD_OPERATORS } from '../model.ts';
import type { AlertRuleInput } from '../schema/model-schema.ts';
import type { Path } from '../schema/path.ts';
import type { Draft } from '../schema/problems.ts';
import type { EntityContext } from './context.ts';
import { checkLabelFilter } from './label-filter.ts';
import { didYouMean, oneOf, quote } from './nearest.ts';
import { aggregationToOneSeries, bareSelector } from './query-shape.ts';

type RuleDraft = Draft<AlertRuleInput>;

/** The hosted service evaluates windows up to this many minutes. */
const HOSTED_LONGEST_WINDOW = 60;

export function checkRules(context: EntityContext): void {
  const rules = context.draft.alert_rules ?? [];
  checkUnique(context, rules, 'name');
  checkUnique(context, rules, 'description');
  const scope = indicatorScope(context);
  rules.forEach((rule, i) => {
    // Suggestions take time; past the limit nobody would see them.
    if (!rule || context.report.isFull()) return;
    const path = ['alert_rules', i];
    checkIndicator(context, rule, path, scope);
    const macro = checkExpression(context, rule, path, scope);
    checkThreshold(context, rule, path, macro);
    checkWindow(context, rule, path);
    if (typeof macro === 'string') checkPatternWindow(context, rule, path, macro);
    const query = rule.indicator === undefined ? undefined : context.queries.get(rule.indicator);
    if (!query) return;
    checkLabelFilter(context, rule, path, query);
    checkSeries(context, rule, path, query);
  });
}

interface IndicatorScope {
  readonly names: ReadonlySet<string>;
  readonly namesAreComplete: boolean;
}

function indicatorScope({ draft }: EntityContext): IndicatorScope {
  const indicators = draft.indicators ?? [];
  const names = indicators.flatMap((indicator) => (indicator?.name === undefined ? [] : [indicator.name]));
  const isWrong = Object.hasOwn(draft, 'indicators') && draft.indicators === undefined;
  return { names: new Set(names), namesAreComplete: !isWrong && names.length === indicators.length };
}

function checkUnique(
  { place, report }: EntityContext,
  rules: readonly (RuleDraft | undefined)[],
  field: 'name' | 'description',
): void {
  const seen = new Map<string, number>();
  rules.forEach((rule, i) => {
    const text = rule?.[field];
    if (text === undefined || text.trim() === '') return;
    const first = seen.get(text);
    if (first === undefined) {
      seen.set(text, i);
      return;
    }
    const { line } = place.object(['alert_rules', first]);
    const [code, what] =
      field === 'name'
        ? ([
            'rule/name-duplicate',
            `This alert manager has an alert rule ${quote(text)} already, in line ${line}.`,
          ] as const)
        : (['rule/description-duplicate', `The alert rule in line ${line} has the same description.`] as const);
    report.add(code, `${what} Each needs one of its own.`, place.value(['alert_rules', i, field]));
  });
}

function checkIndicator({ place, report }: EntityContext, rule: RuleDraft, path: Path, scope: IndicatorScope): void {
  const name = rule.indicator;
  if (name === undefined || scope.names.has(name) || !scope.namesAreComplete) return;
  const have = scope.names.size === 0 ? ' It has no indicators.' : didYouMean(name, scope.names);
  const detail = `This alert manager has no indicator ${quote(name)}.${have}`;
  report.add('rule/indicator', detail, place.value([...path, 'indicator']));
}

/** The macro of a pattern rule; undefined for a static rule, null when the expression is wrong. */
function checkExpression(
  { place, report }: EntityContext,
  rule: RuleDraft,
  path: Path,
  scope: IndicatorScope,
): Macro | undefined | null {
  if (!Object.hasOwn(rule, 'expression')) return undefined;
  if (rule.expression === undefined) return null;
  const read = readExpression(rule.expression, { ...scope, indicator: rule.indicator });
  if (read.kind === 'static') return undefined;
  if (read.kind === 'pattern') return read.pattern.macro;
  const { code, detail, from, to } = read.problem;
  report.add(code, detail, place.within([...path, 'expression'], from, to));
  return null;
}

function checkThreshold(
  { place, report }: EntityContext,
  rule: RuleDraft,
  path: Path,
  macro: Macro | undefined | null,
): void {
  const given = THRESHOLD_OPERATORS.filter((operator) => Object.hasOwn(rule, operator));
  if (given.length > 1) {
    const detail = `The rule has ${given.length} thresholds, ${oneOf(given, 'and')}, and can have one. Make a rule of its own for each.`;
    report.add('rule/threshold', detail, place.key([...path, given[1]!]));
  }
  if (given.length === 0 && macro === undefined) {
    const detail = `The rule has no threshold. Add one of ${THRESHOLD_OPERATORS.join(', ')}, for example greater_than: 100.`;
    report.add('rule/threshold', detail, place.object(path));
  }
}

function checkWindow({ place, report }: EntityContext, rule: RuleDraft, path: Path): void {
  const { bad_minutes: bad, total_minutes: total } = rule;
  if (bad !== undefined && total !== undefined && bad > total) {
    const detail = `bad_minutes is ${bad} and total_minutes is ${total}: so many bad minutes do not fit into the window, and the rule would never fire.`;
    report.add('rule/window', detail, place.value([...path, 'bad_minutes']));
  }
  if (total !== undefined && total > HOSTED_LONGEST_WINDOW) {
    const detail = `total_minutes is ${total}. The hosted service takes at most ${HOSTED_LONGEST_WINDOW}; a service of your own takes this.`;
    report.add('rule/window-long', detail, place.value([...path, 'total_minutes']));
  }
}

/** How many bad minutes a pattern normally makes at most, and what to do about longer ones. */
const PATTERN_LIMITS: Partial<Record<Macro, readonly [limit: number, advice: string]>> = {
  low_spike: [7, 'A spike lasts one to six minutes: use 1 of 1, or a changepoint for a lasting change.'],
  high_spike: [7, 'A spike lasts one to six minutes: use 1 of 1, or a changepoint for a lasting change.'],
  decreasing_changepoint: [20, 'A changepoint is seen for about half an hour: use at most 10.'],
  increasing_changepoint: [20, 'A changepoint is seen for about half an hour: use at most 10.'],
};

function checkPatternWindow({ place, report }: EntityContext, rule: RuleDraft, path: Path, macro: Macro): void {
  const limit = PATTERN_LIMITS[macro];
  if (!limit || rule.bad_minutes === undefined || rule.bad_minutes < limit[0]) return;
  const detail = `${macro} with bad_minutes ${rule.bad_minutes} can hardly fire. ${limit[1]}`;
  report.add('rule/pattern-window', detail, place.value([...path, 'bad_minutes']));
}

/** A series that vanishes keeps its last value for this many minutes. */
const LOOKBACK_MINUTES = 5;

/** What a rule should know of the series that its query gives. */
function checkSeries({ place, report }: EntityContext, rule: RuleDraft, path: Path, query: Expr): void {
  if (rule.group_timeseries_notifications === false && aggregationToOneSeries(query)) {
    const detail = `The rule notifies for each series, but the query of ${quote(rule.indicator ?? '')} adds all series up to one without labels. Add by (…) to its aggregation, or leave out group_timeseries_notifications.`;
    report.add('rule/one-series', detail, place.value([...path, 'group_timeseries_notifications']));
  }
  if (rule.bad_minutes !== undefined && rule.bad_minutes <= LOOKBACK_MINUTES && bareSelector(query)) {
    const detail = `The query of ${quote(rule.indicator ?? '')} is a bare selector: when its series vanishes, the last value counts for up to ${LOOKBACK_MINUTES} more minutes, so one bad sample can make ${rule.bad_minutes === 1 ? 'a bad minute' : `${rule.bad_minutes} bad minutes`}. Ask for more bad minutes, or use a function over a window, such as last_over_time(…[1m]).`;
    report.add('rule/lookback', detail, place.value([...path, 'bad_minutes']));
  }
}
