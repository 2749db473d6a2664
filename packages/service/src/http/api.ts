/** What route files share: the typed Fastify instance, the context of the service, and the shapes of route schemas. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERROR_CODES, type ErrorCode, errorBody, type Scope } from '@obsiac/api';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import type { Evaluator } from '../evaluator/index.ts';
import type { ByteBudget } from '../intake/byte-budget.ts';
import type { Intake } from '../intake/intake.ts';
import type { LogStore } from '../log-store/index.ts';
import { type Change, change, type Store } from '../metadata/store.ts';
import type { MetricStore } from '../metric-store/index.ts';
import type { AccessTokens } from '../tokens/access-tokens.ts';
import { identityOf } from './authentication.ts';

export type Api = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export interface Context {
  readonly store: Store;
  readonly tokens: AccessTokens;
  readonly registry: Registry;
  /** Undefined: this service takes in no logs (setting `logs`). */
  readonly logs: LogContext | undefined;
  /** Undefined: this service keeps no metrics, since it keeps no logs. */
  readonly metrics: MetricContext | undefined;
  /** Undefined: this process evaluates no rules (setting `roles`). */
  readonly evaluator: Evaluator | undefined;
}

export interface MetricContext {
  readonly store: MetricStore;
  /** Memory of the requests that bring metrics. */
  readonly budget: ByteBudget;
  readonly limits: {
    /** Largest body in bytes, also after decompression. */
    readonly body: number;
  };
}

export interface LogContext {
  readonly store: LogStore;
  readonly intake: Intake;
}

export const READ: { scopes: readonly Scope[] } = { scopes: ['read', 'write'] };
export const WRITE: { scopes: readonly Scope[] } = { scopes: ['write'] };
export const DELETE: { scopes: readonly Scope[] } = { scopes: ['delete'] };
/** Detaching undoes a write, and is a DELETE: known clients send the one token or the other. */
export const DETACH: { scopes: readonly Scope[] } = { scopes: ['write', 'delete'] };

/** The dashboard says so with every request, and may then not edit what `ui_readonly` keeps as code. */
const CLIENT_HEADER = 'x-obsiac-client';
const DASHBOARD = 'dashboard';

/** The answer to a write that has nothing else to say. */
export const success = z.object({ message: z.literal('success') });
export const SUCCESS = { message: 'success' } as const;

/** Codes that any route below an organisation may answer with. */
const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_access_token',
  'no_credentials',
  'scope_too_low',
  'unknown_organization',
  'rate_limited',
  'internal',
  'unavailable',
];
const ON_WRITE: readonly ErrorCode[] = [
  'bad_request',
  'ui_readonly',
  'revision_moved',
  'body_too_large',
  'unsupported_media_type',
];

type Responses<T extends z.ZodType> = { 200: T } & Record<number, z.ZodType>;

/** Responses of a route that reads. */
export function reads<T extends z.ZodType>(schema: T, ...codes: ErrorCode[]): Responses<T> {
  return withErrors(schema, [...EVERYWHERE, ...codes]);
}

/** Responses of a route that writes. */
export function writes<T extends z.ZodType>(schema: T, ...codes: ErrorCode[]): Responses<T> {
  return withErrors(schema, [...EVERYWHERE, ...ON_WRITE, ...codes]);
}

/** Responses of a route that answers 200 with `schema`, or one of the error codes. */
export function withErrors<T extends z.ZodType>(schema: T, codes: readonly ErrorCode[]): Responses<T> {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_CODES[code]);
  const errors = [...byStatus].map(([status, same]) => [
    status,
    { description: `Code ${same.join(' or ')}`, content: { 'application/json': { schema: errorBody } } },
  ]);
  return { 200: schema, ...Object.fromEntries(errors) };
}

/** Runs a write for a request: one transaction under its token's name, its `If-Match` and its organisation. */
export async function write<T>(
  context: Context,
  request: FastifyRequest,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const identity = identityOf(request);
  const { value, revision } = await change(
    context.store,
    {
      organizationId: identity.organizationId,
      actor: identity.tokenName,
      ifMatch: request.headers['if-match'],
      fromDashboard: request.headers[CLIENT_HEADER] === DASHBOARD,
    },
    work,
  );
  identity.revision = revision;
  return value;
}
