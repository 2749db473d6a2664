/** Answers in the shapes of Prometheus' HTTP API, and what each error of ours is called there. */
import { type Annotation, QueryError } from '@obsiac/promql';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { StoreError } from '../../log-store/index.ts';
import type { Refusal } from '../../refusal.ts';
import { toRefusal } from '../errors.ts';

/** Prometheus' types of errors, with the status that goes with each. */
const STATUS = {
  bad_data: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  not_acceptable: 406,
  execution: 422,
  canceled: 499,
  too_many_requests: 429,
  internal: 500,
  timeout: 503,
  unavailable: 503,
} as const;

export type ErrorType = keyof typeof STATUS;

export class ApiFailure extends Error {
  readonly type: ErrorType;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(
    type: ErrorType,
    message: string,
    options: { readonly retryAfter?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.type = type;
    this.retryAfter = options.retryAfter;
  }
}

/** Seconds after which an engine that is starting may be asked again. */
const RETRY_AFTER = 2;

/** The body of a success. Annotations are told as Prometheus tells them, and only when there are some. */
export function success(data: unknown, annotations: readonly Pick<Annotation, 'level' | 'message'>[] = []) {
  const of = (level: Annotation['level']) =>
    annotations.filter((each) => each.level === level).map(({ message }) => message);
  const [warnings, infos] = [of('warning'), of('info')];
  return {
    status: 'success' as const,
    data,
    ...(warnings.length > 0 && { warnings }),
    ...(infos.length > 0 && { infos }),
  };
}

/** The error handler of the routes. */
export function answerFailure(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toFailure(error);
  const status = STATUS[failure.type];
  if (failure.type === 'internal') request.log.error({ err: error }, 'request failed');
  if (failure.retryAfter !== undefined) void reply.header('retry-after', String(failure.retryAfter));
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="obsiac"');
  void reply.code(status).send({ status: 'error', errorType: failure.type, error: failure.message });
}

function toFailure(error: Error): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof QueryError) return ofQuery(error);
  if (error instanceof StoreError) return ofStore(error);
  return ofRefusal(toRefusal(error));
}

function ofQuery(error: QueryError): ApiFailure {
  switch (error.code) {
    case 'bad_range':
    case 'too_many_steps':
      return new ApiFailure('bad_data', `invalid parameter "query": ${error.message}`, { cause: error });
    case 'timeout':
      return new ApiFailure('timeout', error.message, { cause: error });
    case 'aborted':
      return new ApiFailure('canceled', error.message, { cause: error });
    default:
      return new ApiFailure('execution', error.message, { cause: error });
  }
}

function ofStore(error: StoreError): ApiFailure {
  switch (error.code) {
    case 'store_unavailable':
    case 'store_unsupported':
    case 'schema_too_new':
      return new ApiFailure('unavailable', error.message, { retryAfter: RETRY_AFTER, cause: error });
    case 'query_timeout':
      return new ApiFailure('timeout', 'The query took longer than it may (setting query_timeout).', { cause: error });
    case 'query_too_large':
      return new ApiFailure(
        'execution',
        'The query needs more memory than it may have. Name more labels, or ask for a shorter time.',
        { cause: error },
      );
    case 'query_cancelled':
      return new ApiFailure('canceled', error.message, { cause: error });
    default:
      return new ApiFailure('internal', 'The query failed. The log of the service has the reason.', { cause: error });
  }
}

function ofRefusal(refusal: Refusal): ApiFailure {
  const retry = refusal.retryAfter === undefined ? {} : { retryAfter: refusal.retryAfter };
  const as = (type: ErrorType) => new ApiFailure(type, refusal.message, { ...retry, cause: refusal });
  switch (refusal.status) {
    case 401:
      return as('unauthorized');
    case 403:
      return as('forbidden');
    case 404:
      return as('not_found');
    case 429:
      return as('too_many_requests');
    case 503:
      return as('unavailable');
    default:
      return as(refusal.status < 500 ? 'bad_data' : 'internal');
  }
}
