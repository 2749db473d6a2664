/** Cuts many rows into statements: engines limit bound values, and the event loop must breathe in between. */

/** Rows of one statement: some milliseconds of work. */
const SIZE = 250;

export function* batchesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += SIZE) yield rows.slice(from, from + SIZE);
}
