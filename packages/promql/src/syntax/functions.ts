/** The functions of PromQL with their signatures, and the aggregation operators, as Prometheus 3.x documents them. */
import type { AggregateOp, ValueType } from './ast.ts';

export interface FunctionSignature {
  readonly name: string;
  /** Types of the arguments in order; the last one repeats when more are allowed. */
  readonly args: readonly ValueType[];
  readonly minArgs: number;
  /** `Infinity` when the last argument may repeat without end. */
  readonly maxArgs: number;
  readonly returns: ValueType;
  /** Needs a feature flag in Prometheus; the checker refuses it. */
  readonly experimental: boolean;
}

/** Writes one signature: `vector scalar?` is an optional last argument, `string*` none or more of them. */
function signature(name: string, args: string, returns: ValueType, experimental = false): FunctionSignature {
  const words = args.split(' ').filter((word) => word !== '');
  const plain = words.filter((word) => !word.endsWith('?') && !word.endsWith('*'));
  return {
    name,
    args: words.map((word) => word.replace(/[?*]$/, '') as ValueType),
    minArgs: plain.length,
    maxArgs: words.some((word) => word.endsWith('*')) ? Number.POSITIVE_INFINITY : words.length,
    returns,
    experimental,
  };
}

function family(names: string, args: string, returns: ValueType, experimental = false): FunctionSignature[] {
  return names.split(' ').map((name) => signature(name, args, returns, experimental));
}

const STABLE: readonly FunctionSignature[] = [
  ...family('abs absent ceil exp floor ln log10 log2 sgn sort sort_desc sqrt timestamp', 'vector', 'vector'),
  ...family('acos acosh asin asinh atan atanh cos cosh deg rad sin sinh tan tanh', 'vector', 'vector'),
  ...family('day_of_month day_of_week day_of_year days_in_month hour minute month year', 'vector?', 'vector'),
  ...family('changes delta deriv idelta increase irate rate resets', 'matrix', 'vector'),
  ...family('absent_over_time avg_over_time count_over_time last_over_time max_over_time', 'matrix', 'vector'),
  ...family('min_over_time present_over_time stddev_over_time stdvar_over_time sum_over_time', 'matrix', 'vector'),
  ...family('histogram_avg histogram_count histogram_stddev histogram_stdvar histogram_sum', 'vector', 'vector'),
  signature('clamp', 'vector scalar scalar', 'vector'),
  signature('clamp_max', 'vector scalar', 'vector'),
  signature('clamp_min', 'vector scalar', 'vector'),
  signature('histogram_fraction', 'scalar scalar vector', 'vector'),
  signature('histogram_quantile', 'scalar vector', 'vector'),
  signature('label_join', 'vector string string string*', 'vector'),
  signature('label_replace', 'vector string string string string', 'vector'),
  signature('pi', '', 'scalar'),
  signature('predict_linear', 'matrix scalar', 'vector'),
  signature('quantile_over_time', 'scalar matrix', 'vector'),
  signature('round', 'vector scalar?', 'vector'),
  signature('scalar', 'vector', 'scalar'),
  signature('time', '', 'scalar'),
  signature('vector', 'scalar', 'vector'),
];

const EXPERIMENTAL: readonly FunctionSignature[] = [
  ...family('first_over_time mad_over_time ts_of_first_over_time', 'matrix', 'vector', true),
  ...family('ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time', 'matrix', 'vector', true),
  ...family('end range start step', '', 'scalar', true),
  ...family('sort_by_label sort_by_label_desc', 'vector string*', 'vector', true),
  signature('double_exponential_smoothing', 'matrix scalar scalar', 'vector', true),
  signature('histogram_quantiles', 'vector string scalar scalar*', 'vector', true),
  signature('info', 'vector vector?', 'vector', true),
  signature('integral', 'matrix scalar?', 'vector', true),
];

/** Every function Prometheus 3.x knows, by name. Names are case-sensitive. */
export const FUNCTIONS: ReadonlyMap<string, FunctionSignature> = new Map(
  [...STABLE, ...EXPERIMENTAL].map((each) => [each.name, each]),
);

export interface AggregateSignature {
  readonly op: AggregateOp;
  /** Type of the first argument, where there are two. */
  readonly param: 'scalar' | 'string' | undefined;
  readonly experimental: boolean;
}

/** Every aggregation operator, by its lower-case name (the language ignores their case). */
export const AGGREGATES: ReadonlyMap<string, AggregateSignature> = new Map<string, AggregateSignature>([
  ...(['sum', 'min', 'max', 'avg', 'group', 'stddev', 'stdvar', 'count'] as const).map(
    (op): [string, AggregateSignature] => [op, { op, param: undefined, experimental: false }],
  ),
  ['count_values', { op: 'count_values', param: 'string', experimental: false }],
  ...(['bottomk', 'topk', 'quantile'] as const).map((op): [string, AggregateSignature] => [
    op,
    { op, param: 'scalar', experimental: false },
  ]),
  ...(['limitk', 'limit_ratio'] as const).map((op): [string, AggregateSignature] => [
    op,
    { op, param: 'scalar', experimental: true },
  ]),
]);
