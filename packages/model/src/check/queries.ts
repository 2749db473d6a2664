/** Checks the PromQL of the indicators of one alert manager. */
import type { Expr, QueryProblem, ValueType } from '@obsiac/promql';
import { readQuery } from '../query-text.ts';
import type { Path } from '../schema/path.ts';
import type { EntityContext } from './context.ts';
import { droppingComparisons, shortRanges } from './query-shape.ts';

/** The trees of the queries that parse, by indicator name. */
export type Queries = ReadonlyMap<string, Expr>;

export function checkQueries(context: Omit<EntityContext, 'queries'>): Queries {
  const queries = new Map<string, Expr>();
  (context.draft.indicators ?? []).forEach((indicator, i) => {
    if (indicator?.query === undefined) return;
    const expr = checkQuery(context, indicator.query, ['indicators', i, 'query']);
    if (expr && indicator.name !== undefined && !queries.has(indicator.name)) queries.set(indicator.name, expr);
  });
  return queries;
}

/** The tree of a query; undefined when it does not parse. */
function checkQuery({ place, report }: Omit<EntityContext, 'queries'>, text: string, path: Path): Expr | undefined {
  const query = readQuery(text);
  if (!query.ok) {
    for (const problem of query.problems) {
      report.add('query/invalid', sentence(problem), place.within(path, problem.from, problem.to));
    }
    return undefined;
  }
  for (const notice of query.notices) {
    const code = query.isPrometheus ? 'query/notice' : 'query/victoriametrics';
    report.add(code, sentence(notice), place.within(path, notice.from, notice.to));
  }
  if (query.type !== 'vector') report.add('query/result', RESULT_DETAILS[query.type], place.value(path));
  for (const { func, span } of shortRanges(query.expr)) {
    const detail = `${func} needs two samples in its window, and a window of less than two minutes has one when the source is scraped each minute; then the result is empty. Make the window two minutes or longer.`;
    report.add('query/short-range', detail, place.within(path, span.from, span.to));
  }
  for (const { op, span } of droppingComparisons(query.expr)) {
    const detail = `The comparison ${op} leaves out the minutes for which it does not hold, so the rule never sees a good minute. Leave the comparison to the threshold of the rule, or write ${op} bool for a value of 0 or 1.`;
    report.add('query/comparison', detail, place.within(path, span.from, span.to));
  }
  return query.expr;
}

const sentence = ({ message, fix }: QueryProblem) => (fix === undefined ? message : `${message} ${fix}`);

const RESULT_DETAILS: Readonly<Record<Exclude<ValueType, 'vector'>, string>> = {
  scalar:
    'The query gives a single number, not series, so a rule has nothing to watch. Use a metric, or wrap the query: vector(…).',
  string: 'The query gives a text, not series. Use a metric.',
  matrix:
    'The query gives all samples of a range, not one value a minute. Apply a function to it, such as avg_over_time(…) or rate(…).',
};
