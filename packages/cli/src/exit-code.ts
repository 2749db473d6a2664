/** The exit codes of obsiac and what each means: the one table that code, `--help` and the documentation use. */

export const EXIT = {
  ok: 0,
  error: 1,
  changes: 2,
  invalid: 3,
  refused: 4,
  partial: 5,
  locked: 6,
  stale: 7,
  gate: 8,
  cancelled: 9,
  confirm: 10,
  internal: 255,
} as const;

export type Outcome = keyof typeof EXIT;
export type ExitCode = (typeof EXIT)[Outcome];

/** One sentence for each outcome, for `obsiac help` and docs/cli.md. */
export const EXIT_MEANING: Readonly<Record<Outcome, string>> = {
  ok: 'Done. For plan: there are no changes, or there are some and --detailed-exitcode was not given.',
  error: 'The service, the network or the disk refused; the message says which.',
  changes: 'The plan has changes. Only with --detailed-exitcode.',
  invalid: 'Wrong usage, or the model, the config or the plan file cannot be used as it is.',
  refused: 'The service refused the credentials, or their scope is too low.',
  partial: 'Part of the plan was applied. What was done is in the state; run apply again for the rest.',
  locked: 'Another run holds the state lock; the message names it.',
  stale: 'The saved plan no longer fits: the state or the service moved since, or it was made for another service.',
  gate: 'A gate (tests, backtest) did not pass.',
  cancelled: 'Cancelled by a signal or by an answer other than "yes". What was done until then is in the state.',
  confirm:
    'The command deletes more than goes without saying. It needs --yes or --allow-mass-delete; the message has the command.',
  internal: 'A fault of obsiac itself. Please report it.',
};

/** The name of an exit code, for the last JSON event. */
export function outcomeOf(code: ExitCode): Outcome {
  for (const [outcome, value] of Object.entries(EXIT)) {
    if (value === code) {
      return outcome as Outcome;
    }
  }
  return 'internal';
}
