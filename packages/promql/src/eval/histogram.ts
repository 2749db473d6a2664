/** histogram_quantile and histogram_fraction on classic histograms: series with an upper bound in the label `le`. */
import { type Labels, labelValue, without } from '../series/labels.ts';
import { parseValue } from '../series/numbers.ts';
import { type Call, METRIC_NAME } from '../syntax/ast.ts';
import { type Column, emptyColumn, joinEqual } from './columns.ts';
import type { Context } from './context.ts';

const BUCKET = 'le';
/** Neighbouring buckets whose counts differ by less (relatively) are taken as equal: rounding, not observations. */
const TOLERANCE = 1e-12;
const MIN_NORMAL = 2.2250738585072014e-308;

/** The buckets of one histogram at one step, bounds rising. Lists longer than `size` hold old values behind it. */
interface Buckets {
  readonly bounds: Float64Array;
  readonly counts: Float64Array;
  size: number;
}

interface Histogram {
  readonly labels: Labels;
  readonly bounds: number[];
  readonly columns: Column[];
}

/** Collects bucket series by what they share beside `le`. A series without a bound in `le` is left out. */
function histogramsOf(columns: readonly Column[], call: Call, context: Context): Histogram[] {
  const byKey = new Map<string, Histogram>();
  for (const column of columns) {
    const bound = parseValue(labelValue(column.labels, BUCKET));
    if (bound === undefined) {
      const text = JSON.stringify(labelValue(column.labels, BUCKET));
      context.annotate('warning', `The bucket label "le" is missing or no number: ${text}.`, call.span);
      continue;
    }
    // Histograms of different names stay apart until the name is dropped.
    const named = without(column.labels, [BUCKET]);
    let histogram = byKey.get(named.key);
    if (!histogram) {
      histogram = { labels: without(named, [METRIC_NAME]), bounds: [], columns: [] };
      byKey.set(named.key, histogram);
    }
    histogram.bounds.push(bound);
    histogram.columns.push(column);
  }
  return [...byKey.values()].map(sorted);
}

function sorted({ labels, bounds, columns }: Histogram): Histogram {
  const order = bounds
    .map((_, i) => i)
    .sort((a, b) => (bounds[a]! < bounds[b]! ? -1 : bounds[a]! > bounds[b]! ? 1 : 0));
  return { labels, bounds: order.map((i) => bounds[i]!), columns: order.map((i) => columns[i]!) };
}

/** Reads the buckets of a step. Counts of equal bounds are added up. */
function readBuckets({ bounds, columns }: Histogram, step: number, into: Buckets): void {
  let size = 0;
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!;
    if (column.present[step] === 0) continue;
    const count = column.values[step]!;
    if (size > 0 && into.bounds[size - 1] === bounds[i]) into.counts[size - 1]! += count;
    else {
      into.bounds[size] = bounds[i]!;
      into.counts[size] = count;
      size++;
    }
  }
  into.size = size;
}

/** Equal but for rounding. */
function nearlyEqual(a: number, b: number): boolean {
  if (a === b || (Number.isNaN(a) && Number.isNaN(b))) return true;
  const sum = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0 || sum < MIN_NORMAL) return difference < TOLERANCE * MIN_NORMAL;
  return difference / Math.min(sum, Number.MAX_VALUE) < TOLERANCE;
}

/** Takes out decreases from bucket to bucket, which a histogram cannot have. True when one was more than rounding. */
function makeMonotonic({ counts, size }: Buckets): boolean {
  let forced = false;
  let before = counts[0]!;
  for (let i = 1; i < size; i++) {
    const count = counts[i]!;
    if (count === before) continue;
    if (nearlyEqual(before, count)) counts[i] = before;
    else if (count < before) {
      counts[i] = before;
      forced = true;
    } else before = count;
  }
  return forced;
}

/** The first bucket, of all but the last, that reaches `rank`; the last one when none does. By halving, as NaN asks. */
function bucketOf({ counts, size }: Buckets, rank: number): number {
  let low = 0;
  let high = size - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (counts[middle]! >= rank) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The q-quantile, linear inside a bucket. The lowest bucket starts at 0 when its bound is above 0. */
function bucketQuantile(q: number, buckets: Buckets, onForced: () => void): number {
  const { bounds, counts, size } = buckets;
  if (Number.isNaN(q)) return Number.NaN;
  if (q < 0) return Number.NEGATIVE_INFINITY;
  if (q > 1) return Number.POSITIVE_INFINITY;
  if (bounds[size - 1] !== Number.POSITIVE_INFINITY) return Number.NaN;
  if (makeMonotonic(buckets)) onForced();
  if (size < 2) return Number.NaN;
  const observations = counts[size - 1]!;
  if (observations === 0) return Number.NaN;
  let rank = q * observations;
  const at = bucketOf(buckets, rank);
  if (at === size - 1) return bounds[size - 2]!;
  if (at === 0 && bounds[0]! <= 0) return bounds[0]!;
  let start = 0;
  let inside = counts[at]!;
  if (at > 0) {
    start = bounds[at - 1]!;
    inside -= counts[at - 1]!;
    rank -= counts[at - 1]!;
  }
  return start + (bounds[at]! - start) * (rank / inside);
}

/** How many observations are at or below `value`, linear inside a bucket; undefined when it is above all bounds. */
function rankOf({ bounds, counts, size }: Buckets, value: number): number | undefined {
  let rank = 0;
  for (let i = 0; i < size; i++) {
    const upper = bounds[i]!;
    const lower = i > 0 ? bounds[i - 1]! : upper > 0 ? 0 : Number.NEGATIVE_INFINITY;
    if (lower >= value) return rank;
    if (upper > value) return rank + ((counts[i]! - rank) * (value - lower)) / (upper - lower);
    rank = counts[i]!;
  }
  return undefined;
}

/** The share of observations between two values. */
function bucketFraction(lower: number, upper: number, buckets: Buckets): number {
  const { bounds, counts, size } = buckets;
  if (bounds[size - 1] !== Number.POSITIVE_INFINITY) return Number.NaN;
  const all = counts[size - 1]!;
  if (all === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return Number.NaN;
  if (lower >= upper) return 0;
  const limited = (rank: number | undefined) => (rank === undefined || rank > all ? all : rank);
  return (limited(rankOf(buckets, upper)) - limited(rankOf(buckets, lower))) / all;
}

async function forEachHistogram(
  call: Call,
  columns: readonly Column[],
  context: Context,
  compute: (buckets: Buckets, step: number) => number,
): Promise<readonly Column[]> {
  const out: Column[] = [];
  for (const histogram of histogramsOf(columns, call, context)) {
    const size = histogram.columns.length;
    const count = histogram.columns[0]!.values.length;
    const buckets: Buckets = { bounds: new Float64Array(size), counts: new Float64Array(size), size: 0 };
    const result = emptyColumn(histogram.labels, count);
    for (let step = 0; step < count; step++) {
      readBuckets(histogram, step, buckets);
      if (context.spend(size)) await context.pause();
      if (buckets.size === 0) continue;
      result.values[step] = compute(buckets, step);
      result.present[step] = 1;
    }
    out.push(result);
  }
  return joinEqual(out, call.span);
}

/** `histogram_quantile(q, buckets)`; `q` has one value per step. */
export function histogramQuantile(
  call: Call,
  q: Float64Array,
  columns: readonly Column[],
  context: Context,
): Promise<readonly Column[]> {
  const forced = () =>
    context.annotate('info', 'The counts of histogram buckets were not monotonic and have been put right.', call.span);
  return forEachHistogram(call, columns, context, (buckets, step) => bucketQuantile(q[step]!, buckets, forced));
}

/** `histogram_fraction(lower, upper, buckets)`; the bounds have one value per step. */
export function histogramFraction(
  call: Call,
  lower: Float64Array,
  upper: Float64Array,
  columns: readonly Column[],
  context: Context,
): Promise<readonly Column[]> {
  return forEachHistogram(call, columns, context, (buckets, step) =>
    bucketFraction(lower[step]!, upper[step]!, buckets),
  );
}
