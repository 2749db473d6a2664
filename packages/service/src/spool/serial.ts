/** Runs asynchronous work one at a time, in the order it was handed in. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work, work);
    this.#last = next;
    return next;
  }
}
