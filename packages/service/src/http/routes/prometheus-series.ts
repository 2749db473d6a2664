/** What there is to query: series, names and values of labels, and what senders told of metrics. */
import { compareLabels, type LabelMatcher, labelsOf, matchersOf, parse, unwrap, valueTest } from '@obsiac/promql';
import type { SeriesScope } from '../../metric-store/index.ts';
import { ApiFailure, success } from './prometheus-answers.ts';
import type { AddRoute, Asked } from './prometheus-asked.ts';
import { cut } from './prometheus-limits.ts';
import { badParameter, type Parameters, problemsOf } from './prometheus-parameters.ts';

/** So many are told at most, whatever a client wants; it is told when there are more. */
const MOST = 100_000;

export function seriesRoutes(add: AddRoute): void {
  add('GET or POST', '/series', async (asked) => {
    const selectors = selectorsOf(asked.parameters);
    if (selectors.length === 0) throw new ApiFailure('bad_data', 'no match[] parameter provided');
    const { limit, scope } = scopeOf(asked, selectors);
    const found = await asked.reader.series(scope);
    const sorted = found
      .map((record) => ({ record, labels: labelsOf(record) }))
      .sort((a, b) => compareLabels(a.labels, b.labels))
      .map(({ record }) => record);
    return success(...cut(sorted, limit));
  });
  add('GET or POST', '/labels', async (asked) => {
    const { limit, scope } = scopeOf(asked, selectorsOf(asked.parameters));
    return success(...cut(await asked.reader.labelNames(scope), limit));
  });
  add('GET', '/label/:name/values', async (asked) => {
    const name = plainName(asked.label);
    const { limit, scope } = scopeOf(asked, selectorsOf(asked.parameters));
    return success(...cut(await asked.reader.labelValues(name, scope), limit));
  });
  add('GET', '/metadata', async ({ reader, parameters, org }) => {
    const limit = parameters.limit();
    const each = parameters.limit('limit_per_metric');
    const metric = parameters.text('metric');
    const found = [...(await reader.metadata({ org, ...(metric !== '' && { metric }) }))];
    const told = limit === 0 ? found : found.slice(0, limit);
    return success(Object.fromEntries(told.map(([name, all]) => [name, each === 0 ? all : all.slice(0, each)])));
  });
}

/** Prometheus' escaping of names that are not plain: `U__` in front, `_2e_` for a character by its code. */
function plainName(given: string): string {
  if (given === '') throw new ApiFailure('bad_data', 'invalid label name: ""');
  if (!given.startsWith('U__')) return given;
  return given
    .slice(3)
    .replace(/__|_([0-9a-fA-F]{1,6})_/g, (all, code: string | undefined) =>
      code === undefined ? '_' : (codePoint(code) ?? all),
    );
}

function codePoint(hex: string): string | undefined {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function selectorsOf(parameters: Parameters): LabelMatcher[][] {
  return parameters.all('match[]').map((text) => {
    const result = parse(text);
    if (!result.ok) throw badParameter('match[]', problemsOf(text, result.problems));
    const expr = unwrap(result.expr);
    if (expr.kind !== 'vectorSelector') throw badParameter('match[]', `"${text}" is no series selector`);
    const matchers = matchersOf(expr).map(({ label, op, value }) => ({ label, op, value }));
    if (matchers.every((matcher) => valueTest(matcher)(''))) {
      throw badParameter('match[]', 'match[] must contain at least one non-empty matcher');
    }
    return matchers;
  });
}

function scopeOf(
  { parameters, org, signal, reader, now }: Asked,
  selectors: readonly (readonly LabelMatcher[])[],
): { readonly limit: number; readonly scope: SeriesScope } {
  const limit = parameters.limit();
  const to = parameters.time('end', now);
  const from = parameters.time('start', Math.min(to, now) - reader.defaultRange);
  if (to < from) throw badParameter('end', 'end timestamp must not be before start time');
  const wanted = limit === 0 ? MOST : Math.min(limit, MOST);
  return { limit: wanted, scope: { org, selectors, from, to, limit: wanted, signal } };
}
