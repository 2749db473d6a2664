/** Why the spool did not take or give a batch. */

export type SpoolErrorCode = 'spool_full' | 'disk_full' | 'spool_failed' | 'spool_closed' | 'batch_damaged';

/** The sender should try again later, except for `batch_damaged`, which is about a batch that was stored. */
export class SpoolError extends Error {
  readonly code: SpoolErrorCode;

  constructor(code: SpoolErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SpoolError';
    this.code = code;
  }
}

/** What an error of the file system means for the spool. */
export function toSpoolError(error: unknown): SpoolError {
  if (error instanceof SpoolError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SpoolError('disk_full', 'The disk of the data directory is full', error);
  }
  return new SpoolError('spool_failed', `The spool cannot be written: ${message}`, error);
}
