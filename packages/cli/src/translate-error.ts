/** From anything that was thrown to what the user reads and the exit code: the one translation of the command line. */
import type { ApiErrorCode } from '@obsiac/api';
import { EXIT, type ExitCode } from './exit-code.ts';
import { Failure, type FailureText, InvalidInput } from './failure.ts';
import type { LockErrorCode } from './lock/lock.ts';
import type { LogpushError } from './logpush/client.ts';
import type { IntakeError } from './logpush/intake-http.ts';
import type { StateErrorCode } from './state/state-file.ts';
import { failureShown } from './views/messages.ts';
import type { View } from './views/view.ts';

const API_FAILURES: Readonly<Record<ApiErrorCode, { readonly exit: ExitCode; readonly summary: string }>> = {
  unreachable: { exit: EXIT.error, summary: 'The service cannot be reached' },
  timeout: { exit: EXIT.error, summary: 'The service did not answer in time' },
  tls: { exit: EXIT.error, summary: 'The connection to the service is not secure' },
  cut: { exit: EXIT.error, summary: 'The connection to the service was cut' },
  not_the_api: { exit: EXIT.error, summary: 'The address does not lead to the API' },
  bad_answer: { exit: EXIT.error, summary: 'The service answered what obsiac does not understand' },
  credentials_refused: { exit: EXIT.refused, summary: 'The service refused the credentials' },
  scope_too_low: { exit: EXIT.refused, summary: 'The token may not do this' },
  unknown_organization: { exit: EXIT.error, summary: 'The service does not know the organization' },
  not_found: { exit: EXIT.error, summary: 'The service does not have this object' },
  bad_request: { exit: EXIT.error, summary: 'The service refused a request' },
  conflict: { exit: EXIT.error, summary: 'The service already has such an object' },
  revision_moved: { exit: EXIT.stale, summary: 'The service has changed since the plan was made' },
  rate_limited: { exit: EXIT.error, summary: 'The service limits how often it may be asked' },
  service_error: { exit: EXIT.error, summary: 'The service failed' },
  cancelled: { exit: EXIT.cancelled, summary: 'Cancelled' },
};

const STATE_SUMMARIES: Readonly<Record<StateErrorCode, string>> = {
  unreadable: 'The state file cannot be read',
  damaged: 'The state file is damaged',
  newer_version: 'The state file is of a newer obsiac',
  other_org: 'The state file belongs to another organization',
  other_address: 'The state file belongs to another service',
  other_lineage: 'The state file is of another origin',
  no_space: 'There is no room for the state file',
  unwritable: 'The state file cannot be written',
};

const LOCK_FAILURES: Readonly<Record<LockErrorCode, { readonly exit: ExitCode; readonly summary: string }>> = {
  held: { exit: EXIT.locked, summary: 'Another run holds the state lock' },
  lost: { exit: EXIT.locked, summary: 'The state lock was lost to another run' },
  unwritable: { exit: EXIT.error, summary: 'The state lock cannot be written' },
  unreadable: { exit: EXIT.error, summary: 'The state lock cannot be read' },
  not_locked: { exit: EXIT.error, summary: 'The state is not locked' },
  other_id: { exit: EXIT.error, summary: 'The lock has another ID' },
  cancelled: { exit: EXIT.cancelled, summary: 'Cancelled' },
};

interface Told {
  readonly exit: ExitCode;
  readonly text: FailureText;
}

/** What to tell about `error`; null when it is none that the command line knows, which makes it a bug. */
function toldOf(error: unknown): Told | null {
  if (error instanceof Failure) {
    return { exit: error.exit, text: error.text };
  }
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') {
    return null;
  }
  switch (error.name) {
    case 'ApiError': {
      const { exit, summary } = API_FAILURES[error.code as ApiErrorCode];
      return { exit, text: { code: error.code, summary, detail: error.message } };
    }
    case 'StateError': {
      const summary = STATE_SUMMARIES[error.code as StateErrorCode];
      return { exit: EXIT.error, text: { code: `state_${error.code}`, summary, detail: error.message } };
    }
    case 'LockError': {
      const { exit, summary } = LOCK_FAILURES[error.code as LockErrorCode];
      return { exit, text: { code: `lock_${error.code}`, summary, detail: error.message } };
    }
    case 'LogpushError': {
      const { code, message, detail } = error as LogpushError;
      const refused = code === 'logpush_credentials_refused' || code === 'logpush_not_allowed';
      return { exit: refused ? EXIT.refused : EXIT.error, text: { code, summary: message, detail } };
    }
    case 'IntakeError': {
      const { code, message, detail } = error as IntakeError;
      const refused = code === 'intake_credentials_refused';
      return { exit: refused ? EXIT.refused : EXIT.error, text: { code, summary: message, detail } };
    }
    default:
      return null;
  }
}

/** Shows why a command ended and gives its exit code. */
export function tellFailure(
  error: unknown,
  view: View,
  run: { readonly debug: boolean; readonly cancelled: boolean },
): ExitCode {
  if (error instanceof InvalidInput) {
    return EXIT.invalid;
  }
  const told = toldOf(error);
  const stack = run.debug && error instanceof Error ? error.stack : undefined;
  if (told !== null) {
    view.say(failureShown(told.text, stack));
    return told.exit;
  }
  if (run.cancelled) {
    view.say(failureShown({ code: 'cancelled', summary: 'Cancelled', detail: 'The run was interrupted.' }, stack));
    return EXIT.cancelled;
  }
  view.say(failureShown(bugText(error, run.debug), stack));
  return EXIT.internal;
}

function bugText(error: unknown, debug: boolean): FailureText {
  const told = error instanceof Error ? error.message : String(error);
  const more = debug ? '' : ' Run the same command with OBSIAC_DEBUG=1 for the details that help to find it.';
  return {
    code: 'internal',
    summary: 'This is a bug in obsiac',
    detail: `${told}\nPlease report it in the issue tracker of the project, with the command and the model but without tokens.${more}`,
  };
}
