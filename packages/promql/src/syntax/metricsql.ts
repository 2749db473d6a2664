/** What VictoriaMetrics takes beyond PromQL: its functions, and the opaque nodes that stand for its syntax. */
import type { Expr, Opaque } from './ast.ts';
import type { Cursor } from './cursor.ts';

/** Functions of MetricsQL that Prometheus does not have as stable ones. */
const METRICSQL_FUNCTIONS: ReadonlySet<string> = new Set(
  `aggr_over_time ascent_over_time changes_prometheus count_eq_over_time count_gt_over_time count_le_over_time
  count_ne_over_time count_values_over_time decreases_over_time default_rollup delta_prometheus deriv_fast
  descent_over_time distinct_over_time double_exponential_smoothing duration_over_time first_over_time
  geomean_over_time histogram_over_time hoeffding_bound_lower hoeffding_bound_upper holt_winters ideriv
  increase_prometheus increase_pure increases_over_time integrate lag lifetime mad_over_time median_over_time
  mode_over_time outlier_iqr_over_time quantiles_over_time range_over_time rate_over_sum rate_prometheus rollup
  rollup_candlestick rollup_delta rollup_deriv rollup_increase rollup_rate rollup_scrape_interval scrape_interval
  share_eq_over_time share_gt_over_time share_le_over_time stale_samples_over_time sum2_over_time sum_eq_over_time
  sum_gt_over_time sum_le_over_time tfirst_over_time timestamp_with_name tlast_change_over_time tlast_over_time
  tmax_over_time tmin_over_time zscore_over_time
  alias bitmap_and bitmap_or bitmap_xor buckets_limit drop_common_labels drop_empty_series end histogram_quantiles
  histogram_share interpolate keep_last_value keep_next_value label_copy label_del label_graphite_group label_keep
  label_lowercase label_map label_match label_mismatch label_move label_set label_transform label_uppercase
  label_value labels_equal limit_offset now prometheus_buckets rand rand_exponential rand_normal range_avg
  range_first range_last range_linear_regression range_mad range_max range_median range_min range_normalize
  range_quantile range_stddev range_stdvar range_sum range_trim_outliers range_trim_spikes range_trim_zscore
  range_zscore remove_resets ru running_avg running_max running_min running_sum smooth_exponential sort_by_label
  sort_by_label_desc sort_by_label_numeric sort_by_label_numeric_desc start step timezone_offset ttf union
  any bottomk_avg bottomk_last bottomk_max bottomk_median bottomk_min distinct geomean histogram limitk mad median mode
  outliers_iqr outliers_mad outliersk quantiles share sum2 topk_avg topk_last topk_max topk_median topk_min zscore`
    .trim()
    .split(/\s+/),
);

/** True for a function that VictoriaMetrics has and stable Prometheus has not; it ignores the case of names. */
export function isMetricsqlFunction(name: string): boolean {
  return METRICSQL_FUNCTIONS.has(name.toLowerCase());
}

/**
 * An opaque node from `from` to the last token taken, with a notice that says what it is. The text between the
 * children is kept as it stands.
 */
export function opaque(p: Cursor, from: number, children: readonly Expr[], message: string): Opaque {
  p.notice(from, p.lastTo, message);
  return opaqueNode(p, from, children, false);
}

/** An opaque node around the expression that ends where the last token was taken, such as `(a + b)[5m]`. */
export function opaqueAround(p: Cursor, expr: Expr, message: string): Opaque {
  p.nestLeft();
  return opaque(p, expr.span.from, [expr], message);
}

/** The same as `opaque` without a notice, for text that has had one already. */
export function opaqueNode(p: Cursor, from: number, children: readonly Expr[], hidesSelectors: boolean): Opaque {
  const to = p.lastTo;
  const parts: (string | Expr)[] = [];
  let at = from;
  for (const child of children) {
    if (child.span.from > at) parts.push(p.query.slice(at, child.span.from));
    parts.push(child);
    at = child.span.to;
  }
  if (to > at) parts.push(p.query.slice(at, to));
  p.type = 'vector';
  return { kind: 'opaque', parts, hidesSelectors, span: { from, to } };
}

/** Goes on behind the closing brace of a selector whose inside is not PromQL. */
export function skipToBrace(p: Cursor, openAt: number): void {
  while (!p.at('}')) {
    if (p.at('eof')) p.fail(openAt, openAt + 1, 'The "{" is not closed.', 'Add a "}".');
    p.advance();
  }
  p.advance();
}

/** A selector with `or` between matchers, or with a template in its braces. */
export function hiddenSelector(p: Cursor, from: number): Opaque {
  p.notice(from, p.lastTo, 'The braces hold "or" or the name of a template.');
  return opaqueNode(p, from, [], true);
}

/** Takes a range that is no PromQL duration (`[5i]`, `[:1m]`, `[now()]`) up to its "]"; false when it is one. */
export function stepRange(p: Cursor): boolean {
  const close = p.query.indexOf(']', p.from);
  if (close === -1 || p.at(']')) return false;
  const inside = p.query.slice(p.from, close);
  if (!/^\s*:/.test(inside) && !/^[0-9.a-zA-Z:\s]*[0-9]i\b/i.test(inside)) return false;
  while (!p.at(']') && !p.at('eof')) p.advance();
  p.inBrackets = false;
  p.advance();
  return true;
}

/** Parses `WITH (name = expr, f(a, b) = expr) expr`; the word WITH is at hand. */
export function withTemplates(p: Cursor): Opaque {
  const from = p.from;
  const outer = p.templates;
  p.advance();
  const openAt = p.from;
  p.advance();
  const children: Expr[] = [];
  while (!p.at(')')) {
    children.push(templateDefinition(p));
    if (!p.eat(',')) break;
  }
  p.close(')', openAt, '"," or ")" after the template');
  children.push(p.expression(0));
  p.templates = outer;
  return opaque(p, from, children, 'WITH templates.');
}

function templateDefinition(p: Cursor): Expr {
  if (!p.at('word')) p.unexpected('Expected the name of a template');
  const name = p.text;
  p.advance();
  const visible = p.templates;
  const parameters: string[] = [];
  if (p.at('(')) parameters.push(...p.labelList(`the template ${name}`));
  if (!p.eat('=')) p.unexpected(`Expected "=" after the template ${name}`);
  p.templates = new Set([...visible, ...parameters]);
  const value = p.expression(0);
  p.templates = new Set([...visible, name]);
  return value;
}
