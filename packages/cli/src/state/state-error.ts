/** Why a state file cannot be used or written. */

export type StateErrorCode =
  | 'unreadable'
  | 'damaged'
  | 'newer_version'
  | 'other_org'
  | 'other_address'
  | 'other_lineage'
  | 'no_space'
  | 'unwritable';

/** The state file could not be read, is not for this service, or could not be written. The message is a sentence for people. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly code: StateErrorCode;
  readonly path: string;

  constructor(code: StateErrorCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException | null)?.code ?? 'unknown';
}

export function unreadable(path: string, error: unknown): StateError {
  const reason =
    codeOf(error) === 'EISDIR' ? 'it is a directory' : codeOf(error) === 'EACCES' ? 'permission denied' : codeOf(error);
  const advice = 'It is not taken for missing, since that would look like nothing was ever applied.';
  return new StateError(
    'unreadable',
    path,
    `The state file ${path} is there and cannot be read (${reason}). ${advice}`,
  );
}

export function unwritable(path: string, error: unknown): StateError {
  const code = codeOf(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const advice = 'The old file is whole. Make room and run the command again; it finds in the service what was done.';
    return new StateError(
      'no_space',
      path,
      `The state file ${path} could not be written: no space is left on the device. ${advice}`,
    );
  }
  const reason =
    code === 'EACCES' || code === 'EPERM'
      ? 'permission denied'
      : code === 'EROFS'
        ? 'the file system is read-only'
        : code;
  const advice = 'The old file is whole. Make the directory writable for this user and run the command again.';
  return new StateError('unwritable', path, `The state file ${path} could not be written (${reason}). ${advice}`);
}
