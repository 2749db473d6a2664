/** The last evaluations of a rule, for the question "why did it not fire?". Kept in memory by the process that evaluates it. */

/** One evaluation of one rule. */
export interface Evaluation {
  /** The minute that was evaluated, and the first of those that were evaluated with it when some had been missed. */
  readonly minute: number;
  readonly from: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** Milliseconds until the data source had answered. */
  readonly duration: number;
  /** First and last step that was asked for, unix seconds. */
  readonly start: number;
  readonly end: number;
  readonly series: number;
  readonly samples: number;
  readonly firing: number;
  readonly pending: number;
  readonly error: string | undefined;
  readonly warnings: readonly string[];
}

const KEPT = 20;

export class EvaluationLog {
  readonly #entries: Evaluation[] = [];

  add(entry: Evaluation): void {
    this.#entries.push(entry);
    if (this.#entries.length > KEPT) this.#entries.shift();
  }

  /** Newest first. */
  entries(): Evaluation[] {
    return this.#entries.toReversed();
  }

  get last(): Evaluation | undefined {
    return this.#entries.at(-1);
  }
}
