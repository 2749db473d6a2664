/** What an evaluation carries along: options, limits, the data read for it, and the breaks it takes. */
import type { SeriesData, Storage } from '../storage/storage.ts';
import type { Span, VectorSelector } from '../syntax/ast.ts';
import { QueryError } from './errors.ts';

/** Bounds of one query. Going over one is an `QueryError` that names it. */
export interface Limits {
  /** Steps of a range query. */
  readonly steps: number;
  /** Series that one selector may read. */
  readonly series: number;
  /** Samples that all selectors together may read, and values that one operation may hold. */
  readonly samples: number;
  /** Nesting of the expression. Chains of operators count as one level. */
  readonly nesting: number;
  /** Milliseconds the evaluation may take, reading included. */
  readonly timeout: number;
}

export const DEFAULT_LIMITS: Limits = {
  steps: 100_000,
  series: 100_000,
  samples: 50_000_000,
  nesting: 250,
  timeout: 120_000,
};

export interface EvalOptions {
  readonly storage: Storage;
  /** How far an instant selector looks back for a sample, milliseconds; 5 minutes unless told. */
  readonly lookback?: number;
  /** Step of subqueries that name none, milliseconds; 1 minute unless told. */
  readonly subqueryStep?: number;
  /** Major version of Prometheus to follow. 2: windows include their left end. 3, the default: they do not. */
  readonly compat?: 2 | 3;
  readonly limits?: Partial<Limits>;
  readonly signal?: AbortSignal;
  /** A monotonic clock in milliseconds, for the time limit and the breaks alone. */
  readonly clock?: () => number;
}

/** Something to tell about a result that is no error, for example buckets that were not monotonic. */
export interface Annotation {
  readonly level: 'warning' | 'info';
  readonly message: string;
  readonly span: Span;
}

/** After so much work (samples or values, roughly) the clock is looked at. */
const WORK_PER_LOOK = 250_000;
/** The longest time a timer can be set to, milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** So long (milliseconds) the evaluation runs before it lets other tasks run. */
const SLICE = 20;

/** The state of one evaluation. */
export class Context {
  readonly lookback: number;
  readonly subqueryStep: number;
  /** True when windows include their left end (Prometheus 2). */
  readonly closed: boolean;
  readonly limits: Limits;
  readonly storage: Storage;
  readonly signal: AbortSignal | undefined;
  /** First and last time of the outermost query: what `@ start()` and `@ end()` mean. */
  readonly start: number;
  readonly end: number;
  /** What each selector of the expression read. */
  readonly data = new Map<VectorSelector, readonly SeriesData[]>();
  readonly #annotations = new Map<string, Annotation>();
  readonly #clock: () => number;
  readonly #begun: number;
  #sliceBegun: number;
  #work = 0;

  constructor(options: EvalOptions, start: number, end: number) {
    this.storage = options.storage;
    this.lookback = options.lookback ?? 300_000;
    this.subqueryStep = options.subqueryStep ?? 60_000;
    this.closed = options.compat === 2;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.signal = options.signal;
    this.start = start;
    this.end = end;
    this.#clock = options.clock ?? (() => performance.now());
    this.#begun = this.#clock();
    this.#sliceBegun = this.#begun;
  }

  /** Notes work done; true when it is time for `pause`. */
  spend(work: number): boolean {
    this.#work += work;
    return this.#work >= WORK_PER_LOOK;
  }

  /** Maps a list and takes breaks; `work` is what one item costs. */
  async map<A, B>(items: readonly A[], work: number, f: (item: A) => B): Promise<B[]> {
    const out: B[] = [];
    for (const item of items) {
      out.push(f(item));
      if (this.spend(work)) await this.pause();
    }
    return out;
  }

  /** Stops an evaluation that is too late or not wanted any more, and now and then lets other tasks run. */
  async pause(): Promise<void> {
    this.#work = 0;
    this.check();
    if (this.#clock() - this.#sliceBegun < SLICE) return;
    await new Promise<void>((resolve) => {
      if (typeof setImmediate === 'function') setImmediate(resolve);
      else setTimeout(resolve, 0);
    });
    this.#sliceBegun = this.#clock();
    this.check();
  }

  /** Throws when the query was aborted or its time is over. */
  check(): void {
    if (this.signal?.aborted) throw new QueryError('aborted', 'The query was cancelled.');
    if (this.#left() < 0) throw new QueryError('timeout', `The query took longer than ${this.limits.timeout} ms.`);
  }

  #left(): number {
    return this.limits.timeout - (this.#clock() - this.#begun);
  }

  /**
   * For waiting on others: a signal that is aborted with the query or when its time is over, and a race of a promise
   * with it, so that a store that never answers does not hold the query.
   */
  untilDeadline(): { readonly signal: AbortSignal; readonly race: <T>(work: Promise<T>) => Promise<T> } {
    const late = AbortSignal.timeout(Math.max(0, Math.min(Math.ceil(this.#left()), LONGEST_TIMER)));
    const signal = this.signal ? AbortSignal.any([this.signal, late]) : late;
    const race = <T>(work: Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        const stop = () => {
          const message = late.aborted
            ? `The query took longer than ${this.limits.timeout} ms.`
            : 'The query was cancelled.';
          reject(new QueryError(late.aborted ? 'timeout' : 'aborted', message));
        };
        signal.addEventListener('abort', stop, { once: true });
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
      });
    return { signal, race };
  }

  /** Refuses an operation that would hold too many values. */
  checkSize(values: number, span: Span): void {
    if (values > this.limits.samples) {
      throw new QueryError(
        'too_many_samples',
        `This operation would hold ${values} values, more than the limit of ${this.limits.samples}.`,
        span,
      );
    }
  }

  annotate(level: Annotation['level'], message: string, span: Span): void {
    const key = `${level} ${span.from} ${message}`;
    if (!this.#annotations.has(key)) this.#annotations.set(key, { level, message, span });
  }

  annotations(): Annotation[] {
    return [...this.#annotations.values()];
  }
}
