/** The one place where an error becomes a status and a body of the wire. */
import { ERROR_CODES, type ErrorBody, type ErrorCode, type ErrorDetail } from '@obsiac/api';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { discardBody } from './refused-body.ts';

/** Fastify's own refusals, which come before any handler. */
const FASTIFY_CODES: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
};

const MESSAGES: Partial<Record<ErrorCode, string>> = {
  body_too_large: 'The request body is larger than this service takes (setting body_limit).',
  unsupported_media_type: 'The request body must be JSON, sent with Content-Type: application/json.',
  internal: 'The service failed while it worked on this request. Its log has the reason under the request id.',
};

/** Fails a request that its schema does not let through, naming every field. `part` is `body`, `query` or `path`. */
export function invalidRequest(part: string, issues: readonly z.core.$ZodIssue[]): Refusal {
  const details = issues.map(
    (issue): ErrorDetail => ({ path: [part, ...issue.path].join('.'), message: issue.message }),
  );
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  return new Refusal('bad_request', `${first!.path}: ${first!.message}${more}`, { details });
}

/** @param challenge what a client without credentials is told to send */
export function handleError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
  challenge = 'Bearer',
): void {
  const refusal = toRefusal(error);
  if (refusal.code === 'internal') request.log.error({ err: error }, 'request failed');
  else if (refusal.status >= 500) request.log.warn({ err: refusal.cause ?? refusal }, 'request refused');
  if (refusal.retryAfter !== undefined) void reply.header('retry-after', String(refusal.retryAfter));
  if (refusal.code === 'body_too_large') discardBody(request, reply);
  if (refusal.status === 401) void reply.header('www-authenticate', challenge);
  void reply.code(refusal.status).type('application/json; charset=utf-8').send(bodyOf(refusal));
}

/** The wire's body of a refusal. */
function bodyOf(refusal: Refusal): ErrorBody {
  const body: ErrorBody = { error: refusal.message, code: refusal.code };
  return refusal.details.length > 0 ? { ...body, details: [...refusal.details] } : body;
}

/** What any error means on the wire. */
export function toRefusal(error: FastifyError | Error): Refusal {
  if (error instanceof Refusal) return error;
  const code = FASTIFY_CODES['code' in error ? error.code : ''];
  if (code) return refuse(code, error);
  const status = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  if (status >= 400 && status < 500) {
    return new Refusal('bad_request', `The request cannot be read: ${error.message}`, { cause: error });
  }
  return refuse('internal', error);
}

function refuse(code: ErrorCode, cause: Error): Refusal {
  return new Refusal(code, MESSAGES[code] ?? `${ERROR_CODES[code]}`, { cause });
}
