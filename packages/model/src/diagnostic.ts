/** What is wrong with a user's input, as a value: collected, never thrown. */

/** A span in a file the user wrote. Lines and columns count from 1; `endColumn` is exclusive and on `endLine`. */
export interface Source {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export type DiagnosticSeverity = 'error' | 'warning';

/**
 * One finding. `code` is stable, `area/what` in kebab case, and the name of its page in the documentation.
 * `summary` is short and constant for a code; `detail` says in full sentences what is wrong, why, and what to do.
 */
export interface Diagnostic {
  readonly severity: DiagnosticSeverity;
  readonly code: string;
  readonly summary: string;
  readonly detail: string;
  readonly source?: Source;
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error');
}
