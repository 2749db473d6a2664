/** How the service says no: a closed code of the wire, a sentence for people, and where in the request the trouble is. */
import { ERROR_CODES, type ErrorCode, type ErrorDetail } from '@obsiac/api';

/** Thrown anywhere below the HTTP rim and turned into a status and a body by `http/errors.ts` alone. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[];
  /** Seconds after which the same request may be tried again. */
  readonly retryAfter: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: readonly ErrorDetail[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'Refusal';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
  }

  get status(): number {
    return ERROR_CODES[this.code];
  }
}

/** A request that its schema let through and that still is wrong at one place. */
export function refuseField(path: string, message: string, code: ErrorCode = 'bad_request'): Refusal {
  return new Refusal(code, `${path}: ${message}`, { details: [{ path, message }] });
}

/** The object is not there, or belongs to another organisation; a caller cannot tell which. */
export function notFound(what: string, id: string | number): Refusal {
  return new Refusal('not_found', `There is no ${what} with the id ${id} in this organisation.`);
}
