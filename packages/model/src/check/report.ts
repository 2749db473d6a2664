/** Collects diagnostics, and stops when there are so many errors that nobody would read them. */
import type { Diagnostic, Source } from '../diagnostic.ts';
import { type Code, problem } from './codes.ts';

export interface Report {
  readonly diagnostics: readonly Diagnostic[];
  /** True once so many errors were found that nothing more is taken. */
  readonly isFull: () => boolean;
  readonly errorCount: () => number;
  readonly take: (diagnostic: Diagnostic) => void;
  /** Adds a diagnostic; `detail` says in full sentences what is wrong and what to do. */
  readonly add: (code: Code, detail: string, source?: Source) => void;
}

/** The most errors, and the most warnings, that are kept for one file. */
const MOST_OF_A_KIND = 1000;

export function createReport(): Report {
  const diagnostics: Diagnostic[] = [];
  let errors = 0;
  let warnings = 0;
  const take = (diagnostic: Diagnostic) => {
    if (errors > MOST_OF_A_KIND) return;
    const isError = diagnostic.severity === 'error';
    const count = isError ? ++errors : ++warnings;
    if (count <= MOST_OF_A_KIND) diagnostics.push(diagnostic);
    else if (count === MOST_OF_A_KIND + 1)
      diagnostics.push(isError ? tooManyErrors(diagnostic) : tooManyWarnings(diagnostic));
  };
  return {
    diagnostics,
    isFull: () => errors > MOST_OF_A_KIND,
    errorCount: () => errors,
    take,
    add: (code, detail, source) => take(problem(code, detail, source)),
  };
}

function tooManyErrors({ source }: Diagnostic): Diagnostic {
  const detail = `The first ${MOST_OF_A_KIND} errors are shown. Solve some of them and check again.`;
  return problem('model/too-many-problems', detail, source);
}

/** However many there are, warnings forbid nothing: the check goes on. */
function tooManyWarnings({ source }: Diagnostic): Diagnostic {
  return problem(
    'model/too-many-warnings',
    `The first ${MOST_OF_A_KIND} warnings of the file are shown; there are more.`,
    source,
  );
}
