/** Writes random expressions over the data set: every operator and function, weighted to where engines go wrong. */
import { DATA_END, DATA_START } from './dataset.ts';
import type { Random } from './random.ts';

/** The metrics with their own labels. */
/** The metrics with their own labels. */
const METRICS = [
  ['requests_total', ['job', 'instance', 'code']],
  ['errors_total', ['job', 'instance']],
  ['temperature', ['job', 'instance', 'zone']],
  ['limit', ['job', 'instance', 'zone']],
  ['up', ['job', 'instance']],
  ['build_info', ['job', 'instance', 'version']],
  ['quota', ['job']],
  ['odd', ['job', 'kind']],
  ['latency_bucket', ['job', 'instance', 'le']],
  ['lonely', []],
] as const;
const LABELS = ['job', 'instance', 'code', 'zone', 'version', 'kind', 'le', 'none', '__name__'] as const;
const VALUES: Readonly<Record<string, readonly string[]>> = {
  job: ['api', 'web', ''],
  instance: ['a:1', 'b:2', 'c:3'],
  code: ['200', '404', '500', ''],
  zone: ['x', 'y'],
  version: ['v1', 'v2'],
  kind: ['random', 'nan', 'huge'],
  le: ['0.5', '+Inf'],
  none: ['', 'q'],
};
const PATTERNS = [
  '.*',
  '.+',
  'a.*',
  '5..|200',
  'api|web',
  '[ab]:.',
  '(?i:API)',
  '',
  'x|',
  'v[12]',
  'r.*',
  '.*[05]',
  '.',
] as const;
const RANGES = ['1m', '45s', '90s', '5m', '4m59s', '10m', '20m', '1h', '15s', '30m', '2m3s'] as const;
const STEPS = ['', '', '15s', '30s', '1m', '7s', '2m', '5m', '11m'] as const;
const OFFSETS = ['1m', '5m', '-2m', '30s', '1h', '-7s', '17m', '3m21s'] as const;

const OVER_RANGE = [
  ...['rate', 'increase', 'delta', 'irate', 'idelta', 'deriv', 'changes', 'resets', 'absent_over_time'],
  ...['avg_over_time', 'min_over_time', 'max_over_time', 'sum_over_time', 'count_over_time', 'last_over_time'],
  ...['stddev_over_time', 'stdvar_over_time', 'present_over_time', 'rate', 'increase'],
] as const;
const ELEMENTWISE = [
  ...['abs', 'ceil', 'floor', 'sgn', 'round', 'sqrt', 'timestamp', 'absent', 'sort', 'sort_desc'],
  ...['minute', 'hour', 'month', 'year', 'day_of_week', 'day_of_month', 'day_of_year', 'days_in_month'],
] as const;
/**
 * Functions and operators whose last digit is up to the implementation. They stand at the root only, since what is
 * around them (a remainder, a comparison, a count of values) can make any difference of it.
 */
const INEXACT = [
  ...['exp', 'ln', 'log2', 'log10', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh'],
  ...['acosh', 'atanh', 'deg', 'rad'],
] as const;
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count', 'group', 'stddev', 'stdvar'] as const;
const ARITHMETIC = ['+', '-', '*', '/', '%'] as const;
const COMPARISON = ['==', '!=', '>', '<', '>=', '<='] as const;

export class ExpressionWriter {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A whole expression: mostly an instant vector, sometimes a scalar, a string or a range vector. */
  expression(): string {
    const depth = this.#random.weighted([
      [2, 1],
      [4, 2],
      [4, 3],
      [2, 4],
    ]);
    return this.#random.weighted<() => string>([
      [36, () => this.vector(depth)],
      [4, () => this.#inexact(depth)],
      [4, () => this.scalar(depth)],
      [1, () => this.matrix(depth)],
      [0.2, () => '"text"'],
    ])();
  }

  #inexact(depth: number): string {
    const r = this.#random;
    const [left, right] = this.#pair(depth);
    return r.weighted<() => string>([
      [6, () => `${r.pick(INEXACT)}(${left})`],
      [1, () => `sum${this.#grouping()}(${r.pick(INEXACT)}(${left}))`],
      [1, () => `(${left}) ${r.pick(['^', 'atan2'])} ${this.scalar(depth - 1)}`],
      [1, () => `${this.scalar(depth - 1)} ${r.pick(['^', 'atan2'])} (${left})`],
      [2, () => `(${left}) ${r.pick(['^', 'atan2'])}${this.#matching(true)} (${right})`],
    ])();
  }

  vector(depth: number): string {
    const r = this.#random;
    if (depth <= 0) return this.#selector();
    const inner = () => this.vector(depth - 1);
    return r.weighted<() => string>([
      [5, () => this.#selector()],
      [10, () => this.#overRange(depth)],
      [7, () => this.#aggregate(depth)],
      [8, () => this.#vectors(depth)],
      [4, () => this.#withScalar(depth)],
      [4, () => this.#sets(depth)],
      [4, () => `${r.pick(ELEMENTWISE)}(${inner()})`],
      [1, () => `-${this.#wrapped(inner())}`],
      [1, () => `(${inner()})`],
      [2, () => this.#clamp(depth)],
      [2, () => this.#labels(depth)],
      [3, () => this.#histogram(depth)],
      [1, () => `vector(${this.scalar(depth - 1)})`],
      [0.3, () => `${r.pick(['hour', 'minute', 'month', 'year', 'day_of_week', 'days_in_month'])}()`],
      [2, () => `last_over_time(${this.matrix(depth - 1)})`],
    ])();
  }

  scalar(depth: number): string {
    const r = this.#random;
    if (depth <= 0) return this.#number();
    return r.weighted<() => string>([
      [6, () => this.#number()],
      [2, () => `scalar(${this.vector(depth - 1)})`],
      [1, () => 'time()'],
      [0.5, () => 'pi()'],
      [1, () => `(${this.scalar(depth - 1)} ${r.pick(ARITHMETIC)} ${this.scalar(depth - 1)})`],
      [0.5, () => `(${this.scalar(depth - 1)} ${r.pick(COMPARISON)} bool ${this.scalar(depth - 1)})`],
      [0.5, () => `-${this.#wrapped(this.scalar(depth - 1))}`],
    ])();
  }

  matrix(depth: number): string {
    const r = this.#random;
    if (depth <= 0 || r.chance(0.65)) return `${this.#bareSelector()}[${r.pick(RANGES)}]${this.#modifiers()}`;
    return `${this.#wrapped(this.vector(depth - 1))}[${r.pick(RANGES)}:${r.pick(STEPS)}]${this.#modifiers()}`;
  }

  #number(): string {
    const r = this.#random;
    return r.weighted<() => string>([
      [8, () => String(r.integer(0, 20))],
      [4, () => (r.next() * 3).toFixed(3)],
      [1, () => String(-r.integer(1, 9))],
      [0.4, () => r.pick(['NaN', 'Inf', '-Inf', '0', '1e300', '1e-9', '0x1f', '5m'])],
    ])();
  }

  #wrapped(text: string): string {
    return /^[a-z_]+$/.test(text) && this.#random.chance(0.5) ? text : `(${text})`;
  }

  #bareSelector(): string {
    const r = this.#random;
    if (r.chance(0.015)) return '{"metric.with dots", "a label"=~".+"}';
    if (r.chance(0.03))
      return r.pick(['{__name__=~"up|limit"}', '{job="api", code="200"}', '{__name__=~"size.*", le!="0"}']);
    const [name, own] = r.pick(METRICS);
    const labels = r.chance(0.1)
      ? r.some(LABELS, 0.2).filter((label) => label !== '__name__')
      : r.some<string>(own, 0.2);
    const matchers = labels.map((label) => this.#matcher(label));
    return matchers.length === 0 ? name : `${name}{${matchers.join(', ')}}`;
  }

  #matcher(label: string): string {
    const r = this.#random;
    if (r.chance(0.35)) return `${label}${r.pick(['=~', '!~'])}"${r.pick(PATTERNS)}"`;
    return `${label}${r.pick(['=', '=', '!='])}"${r.pick(VALUES[label]!)}"`;
  }

  #modifiers(): string {
    const r = this.#random;
    const offset = r.chance(0.2) ? ` offset ${r.pick(OFFSETS)}` : '';
    if (!r.chance(0.12)) return offset;
    const at = r.pick([
      '@ start()',
      '@ end()',
      `@ ${((DATA_START + r.integer(0, DATA_END - DATA_START)) / 1000).toFixed(r.pick([0, 3]))}`,
    ]);
    return r.chance(0.5) ? `${offset} ${at}` : ` ${at}${offset}`;
  }

  #selector(): string {
    return this.#bareSelector() + this.#modifiers();
  }

  #overRange(depth: number): string {
    const r = this.#random;
    return r.weighted<() => string>([
      [10, () => `${r.pick(OVER_RANGE)}(${this.matrix(depth - 1)})`],
      [1.5, () => `quantile_over_time(${this.#quantile(depth)}, ${this.matrix(depth - 1)})`],
      [1, () => `predict_linear(${this.matrix(depth - 1)}, ${this.scalar(depth - 1)})`],
    ])();
  }

  #quantile(depth: number): string {
    const r = this.#random;
    return r.weighted<() => string>([
      [6, () => r.next().toFixed(2)],
      [1, () => r.pick(['0', '1', '-1', '2', 'NaN', '0.5'])],
      [1, () => this.scalar(depth - 1)],
    ])();
  }

  #grouping(): string {
    const r = this.#random;
    if (r.chance(0.25)) return '';
    return ` ${r.pick(['by', 'by', 'without'])} (${r.some(LABELS, 0.3).join(', ')}) `;
  }

  #aggregate(depth: number): string {
    const r = this.#random;
    const grouping = this.#grouping();
    const inner = this.vector(depth - 1);
    return r.weighted<() => string>([
      [10, () => `${r.pick(AGGREGATIONS)}${grouping}(${inner})`],
      [
        1.5,
        () =>
          `${r.pick(['topk', 'bottomk'])}${grouping}(${r.chance(0.8) ? r.integer(0, 4) : this.scalar(depth - 1)}, ${inner})`,
      ],
      [1.5, () => `quantile${grouping}(${this.#quantile(depth)}, ${inner})`],
      [1, () => `count_values${grouping}("${r.pick(['value', 'job', 'le'])}", ${inner})`],
    ])();
  }

  /** Two vectors that have a fair chance to match. */
  #pair(depth: number): [string, string] {
    const r = this.#random;
    const left = this.vector(depth - 1);
    return [left, r.chance(0.4) ? left : this.vector(depth - 1)];
  }

  #matching(groups: boolean): string {
    const r = this.#random;
    const labels = r.weighted<() => string[]>([
      [2, () => ['job', 'instance']],
      [3, () => r.some(['job', 'instance'], 0.7)],
      [2, () => r.some(LABELS, 0.35)],
    ])();
    const kind = r.weighted([
      [3, ''],
      [4, 'on'],
      [3, 'ignoring'],
    ]);
    if (kind === '') return '';
    const matching = ` ${kind} (${labels.join(', ')})`;
    if (!groups || !r.chance(0.5)) return matching;
    const include = r.some(LABELS, 0.15).filter((label) => kind !== 'on' || !labels.includes(label));
    return `${matching} ${r.pick(['group_left', 'group_right'])} (${include.join(', ')})`;
  }

  #vectors(depth: number): string {
    const r = this.#random;
    const [left, right] = this.#pair(depth);
    if (r.chance(0.6)) return `(${left}) ${r.pick(ARITHMETIC)}${this.#matching(true)} (${right})`;
    return `(${left}) ${r.pick(COMPARISON)}${r.chance(0.4) ? ' bool' : ''}${this.#matching(true)} (${right})`;
  }

  #withScalar(depth: number): string {
    const r = this.#random;
    const operator = r.chance(0.5) ? r.pick(ARITHMETIC) : `${r.pick(COMPARISON)}${r.chance(0.4) ? ' bool' : ''}`;
    const sides = [`(${this.vector(depth - 1)})`, this.scalar(depth - 1)];
    if (r.chance(0.3)) sides.reverse();
    return sides.join(` ${operator} `);
  }

  #sets(depth: number): string {
    const r = this.#random;
    const [left, right] = this.#pair(depth);
    return `(${left}) ${r.pick(['and', 'or', 'unless'])}${this.#matching(false)} (${right})`;
  }

  #clamp(depth: number): string {
    const r = this.#random;
    const inner = this.vector(depth - 1);
    return r.weighted<() => string>([
      [1, () => `clamp(${inner}, ${this.scalar(depth - 1)}, ${this.scalar(depth - 1)})`],
      [1, () => `clamp_min(${inner}, ${this.scalar(depth - 1)})`],
      [1, () => `clamp_max(${inner}, ${this.scalar(depth - 1)})`],
      [1, () => `round(${inner}, ${this.scalar(depth - 1)})`],
    ])();
  }

  #labels(depth: number): string {
    const r = this.#random;
    const inner = this.vector(depth - 1);
    const target = r.pick(['job', 'new', 'instance', '__name__']);
    if (r.chance(0.4)) {
      const sources = r.some(LABELS, 0.3).map((label) => `, "${label}"`);
      return `label_join(${inner}, "${target}", "${r.pick(['-', '', ','])}"${sources.join('')})`;
    }
    const replacement = r.pick(['$1', '${1}x', 'fixed', '', '$1$2', '$name', '$$']);
    const pattern = r.pick(['(.*)', '(.*):(.*)', 'a.*', '(?P<name>.+)', '', '(x)|(a.*)', '(?i)(API)']);
    return `label_replace(${inner}, "${target}", "${replacement}", "${r.pick(LABELS)}", "${pattern}")`;
  }

  #histogram(depth: number): string {
    const r = this.#random;
    const metric = r.pick(['latency_bucket', 'latency_bucket', 'size_bucket', '{__name__=~".*_bucket"}']);
    const buckets = r.weighted<() => string>([
      [2, () => metric],
      [3, () => `rate(${metric}[${r.pick(RANGES)}])`],
      [3, () => `sum by (le${r.chance(0.5) ? ', job' : ''}) (rate(${metric}[${r.pick(RANGES)}]))`],
    ])();
    // Bounds inside the first bucket are left out: Prometheus 3.5 answers NaN there, later versions as this engine does.
    const bound = () => r.pick(['-Inf', '0.1', '0.3', '0.5', '2', '1e1', '17', 'Inf', 'NaN']);
    if (r.chance(0.25)) return `histogram_fraction(${bound()}, ${bound()}, ${buckets})`;
    return `histogram_quantile(${this.#quantile(depth)}, ${r.chance(0.8) ? buckets : this.vector(depth - 1)})`;
  }
}
