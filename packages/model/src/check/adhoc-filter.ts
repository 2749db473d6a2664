/** Checks that the common rule filters can be put into the queries of an alert manager. */
import { METRIC_NAME } from '@obsiac/promql';
import { unreachableSelectors } from '../query-text.ts';
import type { EntityContext } from './context.ts';
import { quote } from './nearest.ts';

export function checkAdhocFilter(context: EntityContext): void {
  const { draft, place, report } = context;
  const labels = Object.keys(draft.adhoc_filter?.labels ?? {});
  for (const label of labels) {
    const detail =
      label === METRIC_NAME
        ? `${METRIC_NAME} is the name of a metric, and the queries name their metrics themselves. Filter by another label.`
        : label.trim() === ''
          ? 'The name of a label is empty.'
          : undefined;
    if (detail) report.add('entity/adhoc-filter', detail, place.key(['adhoc_filter', 'labels', label]));
  }
  if (labels.length > 0) checkReach(context);
}

/** An evaluation that is filtered in part only would be wrong without anybody seeing it. */
function checkReach({ draft, place, report, queries }: EntityContext): void {
  const filtered = draft.adhoc_filter?.data_source ?? draft.data_source;
  (draft.indicators ?? []).forEach((indicator, i) => {
    if (indicator?.name === undefined || (indicator.data_source ?? draft.data_source) !== filtered) return;
    const query = queries.get(indicator.name);
    const hidden = query && unreachableSelectors(query);
    if (!hidden) return;
    const detail = `The adhoc_filter does not reach the selectors in this part of the query of ${quote(indicator.name)}, which only VictoriaMetrics understands. Write the labels into the query and put it on a data source without filter, or write the part in PromQL.`;
    report.add('query/unfiltered', detail, place.within(['indicators', i, 'query'], hidden.from, hidden.to));
  });
}
