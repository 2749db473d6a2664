/** Collects diagnostics, and stops when there are so many that nobody would read them. */
import type { Diagnostic, Source } from '../diagnostic.ts';
import { type Code, problem } from './codes.ts';

export interface Report {
  readonly diagnostics: readonly Diagnostic[];
  /** True once so many problems were found that nothing more is taken. */
  readonly isFull: () => boolean;
  readonly errorCount: () => number;
  readonly take: (diagnostic: Diagnostic) => void;
  /** Adds a diagnostic; `detail` says in full sentences what is wrong and what to do. */
  readonly add: (code: Code, detail: string, source?: Source) => void;
}

/** The most problems that are kept for one file. */
const MOST_PROBLEMS = 1000;

export function createReport(): Report {
  const diagnostics: Diagnostic[] = [];
  let errors = 0;
  const take = (diagnostic: Diagnostic) => {
    if (diagnostics.length > MOST_PROBLEMS) return;
    if (diagnostic.severity === 'error') errors++;
    if (diagnostics.length < MOST_PROBLEMS) diagnostics.push(diagnostic);
    else {
      const detail = `The first ${MOST_PROBLEMS} problems are shown. Solve some of them and check again.`;
      diagnostics.push(problem('model/too-many-problems', detail, diagnostic.source));
    }
  };
  return {
    diagnostics,
    isFull: () => diagnostics.length > MOST_PROBLEMS,
    errorCount: () => errors,
    take,
    add: (code, detail, source) => take(problem(code, detail, source)),
  };
}
