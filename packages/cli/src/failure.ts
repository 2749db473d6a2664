/** Why a command stopped, in words for people and with the exit code that says it to programs. */
import { EXIT, type ExitCode } from './exit-code.ts';

export interface FailureText {
  /** Stable, in snake case, for programs. */
  readonly code: string;
  /** What is wrong, as one short line. */
  readonly summary: string;
  /** Full sentences: why, and what to do. */
  readonly detail?: string;
  /** Commands that can be run as they stand. */
  readonly commands?: readonly string[];
}

/** Thrown to end a command; `main` shows it and exits with `exit`. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exit: ExitCode;
  readonly text: FailureText;

  constructor(exit: ExitCode, text: FailureText, options?: ErrorOptions) {
    super(text.summary, options);
    this.exit = exit;
    this.text = text;
  }
}

/** The command line itself is wrong. */
export function usageFailure(summary: string, detail?: string): Failure {
  return new Failure(EXIT.invalid, { code: 'usage', summary, ...(detail === undefined ? {} : { detail }) });
}

/** The diagnostics that were just shown are all there is to say. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
}

/** Ends the command since the user or the system asked for it. */
export function cancelledFailure(detail: string): Failure {
  return new Failure(EXIT.cancelled, { code: 'cancelled', summary: 'Cancelled', detail });
}
