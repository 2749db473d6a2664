/** The body of every refusal and the closed list of its codes. */
import { z } from 'zod';

/** Code to HTTP status. `error` in the body is a sentence for people, `code` is for programs. */
export const ERROR_CODES = {
  bad_request: 400,
  invalid_access_token: 400,
  invalid_refresh_token: 400,
  severity_required: 400,
  query_invalid: 400,
  no_credentials: 401,
  wrong_credentials: 401,
  token_expired: 401,
  token_revoked: 401,
  token_invalid: 401,
  scope_too_low: 403,
  ui_readonly: 403,
  not_found: 404,
  unknown_organization: 404,
  method_not_allowed: 405,
  duplicate_external_ref: 409,
  duplicate_name: 409,
  in_use: 409,
  revision_moved: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  query_too_large: 422,
  query_timeout: 422,
  rate_limited: 429,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_CODES;

export const errorDetail = z.object({
  /** Where in the request, for example `body.bad_minutes` or `query.window`. */
  path: z.string(),
  message: z.string(),
  /** For `query_invalid`: where in the query's text, in UTF-16 units; `to` is exclusive. */
  from: z.int().optional(),
  to: z.int().optional(),
});

export const errorBody = z.object({
  error: z.string().describe('A sentence that says what is wrong and what to do'),
  code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
  details: z.array(errorDetail).optional(),
});
export type ErrorBody = z.infer<typeof errorBody>;
export type ErrorDetail = z.infer<typeof errorDetail>;
