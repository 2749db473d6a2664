/** What is wrong with a query, or worth telling about it: values with a position, never thrown past the parser. */

export interface QueryProblem {
  /** One plain sentence. */
  readonly message: string;
  /** UTF-16 offsets in the query text; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** How to put it right, one plain sentence, where that is known. */
  readonly fix?: string;
}

/** Thrown inside the parser to leave it at the first syntax error; `parse` catches it. */
export class SyntaxStop extends Error {
  readonly problem: QueryProblem;

  constructor(problem: QueryProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Builds a problem; `fix` is left out when there is none. */
export function problemAt(from: number, to: number, message: string, fix?: string): QueryProblem {
  return fix === undefined ? { message, from, to } : { message, from, to, fix };
}

/** A piece of the query for use in a message, shortened when long. */
export function clip(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The line and column (both from 1, columns in UTF-16 units) of an offset. */
export function lineColumn(query: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let i = query.indexOf('\n'); i !== -1 && i < offset; i = query.indexOf('\n', i + 1)) {
    line++;
    start = i + 1;
  }
  return { line, column: offset - start + 1 };
}

/** The known name nearest to a mistyped one, or undefined when none is near enough to suggest. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance, swaps of neighbours counted as one edit. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, before[j - 2]! + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
