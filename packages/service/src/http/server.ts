/** The HTTP server: what happens to every request, and where the routes hang. */
import { randomUUID } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyBaseLogger, type FastifyRequest, LogController } from 'fastify';
import type { ZodType } from 'zod';
import { Refusal } from '../refusal.ts';
import type { Settings } from '../settings/definition.ts';
import type { Api, Context, LogContext } from './api.ts';
import { authenticate, identityOf } from './authentication.ts';
import { handleError, invalidRequest } from './errors.ts';
import { healthRoutes } from './health.ts';
import { readJson, requireStorablePath } from './json-body.ts';
import { logRequests } from './logging.ts';
import { answerUnknownRoutes } from './not-found.ts';
import { describeApi } from './openapi.ts';
import { type MeasureRequests, metricsRoute } from './request-metrics.ts';
import { alertRuleRoutes } from './routes/alert-rules.ts';
import { alertStateRoutes } from './routes/alert-states.ts';
import { auditTrailRoutes } from './routes/audit-trail.ts';
import { dataSourceRoutes } from './routes/data-sources.ts';
import { entityRoutes } from './routes/entities.ts';
import { entitySearchRoutes, ruleConversionRoute } from './routes/entity-search.ts';
import { intakeRoutes } from './routes/intake.ts';
import { kpiRoutes } from './routes/kpis.ts';
import { logStreamRoutes } from './routes/log-streams.ts';
import { logRoutes } from './routes/logs.ts';
import { metricIntakeRoutes } from './routes/metric-intake.ts';
import { channelDeleteRoute, notificationSettingRoutes } from './routes/notification-settings.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { organizationRoutes } from './routes/organization.ts';
import { prometheusRoutes } from './routes/prometheus.ts';
import { prometheusAlertRoutes } from './routes/prometheus-alerts.ts';

/** Longest id in a path; the ids given out are shorter. */
const MAX_PARAMETER = 256;

/** A minute in milliseconds: the window of both rate limits. */
const WINDOW = 60_000;

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** What a server of this service is made with. */
export interface ServerOptions {
  readonly settings: Settings;
  readonly log: FastifyBaseLogger;
  readonly measure: MeasureRequests;
  /** PEM; undefined: plain HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

/** The server of the API, and of the intake unless that has a port of its own. */
export async function createServer(context: Context, options: ServerOptions): Promise<Api> {
  const { settings } = options;
  const app = createBareServer(options);
  await describeApi(app);
  metricsRoute(app, context.registry);
  healthRoutes(app, context);
  const { logs, store } = context;
  if (settings.intake_port === undefined) {
    if (logs) await intakeRoutes(app, { store, intake: logs.intake });
    await metricIntakeRoutes(app, context);
  }
  await app.register(rateLimit, { global: false });
  await app.register(prometheusScope(context, settings));
  await app.register(tokenScope(context, settings));
  await app.register(organizationScope(context, settings, organizationResources(settings)), {
    prefix: '/api/v4/organizations/:org',
  });
  await app.register(organizationScope(context, settings, channelDeleteRoute), { prefix: '/api/organizations/:org' });
  await app.register(prometheusAlertScope(context, settings));
  return app;
}

/** The server of an intake that has a port of its own. */
export async function createIntakeServer(
  context: Context & { logs: LogContext },
  options: ServerOptions,
): Promise<Api> {
  const app = createBareServer(options);
  healthRoutes(app, context);
  await intakeRoutes(app, { store: context.store, intake: context.logs.intake });
  await metricIntakeRoutes(app, context);
  return app;
}

/** What happens to every request, whatever its route. */
function createBareServer({ settings, log, measure, tls }: ServerOptions): Api {
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: settings.body_limit,
    trustProxy: settings.trust_proxy,
    genReqId: () => randomUUID(),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAMETER, ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
    frameworkErrors: (error, request, reply) => handleError(error, request, reply),
    ...(tls === undefined ? {} : { https: tls }),
  }) as unknown as Api;
  app.decorateRequest('identity', null);
  app.setErrorHandler((error: Error, request, reply) => handleError(error, request, reply));
  readJson(app);
  checkAgainstSchemas(app);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
    requireStorablePath(request.url);
  });
  logRequests(app);
  measure(app);
  answerUnknownRoutes(app);
  return app;
}

/** Requests are held against their zod schemas; answers are typed and tested, and go out as they are. */
function checkAgainstSchemas(app: Api): void {
  const parts: Record<string, string> = { body: 'body', querystring: 'query', params: 'path', headers: 'header' };
  app.setValidatorCompiler(({ schema, httpPart }) => {
    const part = parts[httpPart ?? 'body']!;
    return (data: unknown) => {
      const result = (schema as unknown as ZodType).safeParse(data);
      return result.success ? { value: result.data } : { error: invalidRequest(part, result.error.issues) };
    };
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
}

function tokenScope(context: Context, settings: Settings) {
  return async (scope: unknown): Promise<void> => {
    const app = scope as Api;
    app.addHook('onRequest', app.rateLimit(limitBy(settings.exchange_rate_limit, (request) => request.ip)));
    oauthRoutes(app, context);
  };
}

function prometheusAlertScope(context: Context, settings: Settings) {
  return async (scope: unknown): Promise<void> => {
    const app = scope as Api;
    const limit = app.rateLimit(limitBy(settings.rate_limit, (request) => identityOf(request).tokenId));
    prometheusAlertRoutes(app, context, limit);
  };
}

function prometheusScope(context: Context, settings: Settings) {
  return async (scope: unknown): Promise<void> => {
    const app = scope as Api;
    prometheusRoutes(
      app,
      context,
      app.rateLimit(limitBy(settings.rate_limit, (request) => identityOf(request).tokenId)),
    );
  };
}

function organizationResources(settings: Settings) {
  return async (app: Api, context: Context): Promise<void> => {
    organizationRoutes(app, context);
    entityRoutes(app, context);
    entitySearchRoutes(app, context);
    kpiRoutes(app, context);
    alertRuleRoutes(app, context);
    alertStateRoutes(app, context);
    notificationSettingRoutes(app, context);
    notificationRoutes(app, context, settings);
    dataSourceRoutes(app, context);
    auditTrailRoutes(app, context);
    logRoutes(app, context);
    logStreamRoutes(app, context);
    await app.register((scope, _options, done) => {
      ruleConversionRoute(scope as unknown as Api);
      done();
    });
  };
}

/** Everything below an organisation: authenticated, counted against the token's limit, stamped with the revision. */
function organizationScope(
  context: Context,
  settings: Settings,
  routes: (app: Api, context: Context) => void | Promise<void>,
) {
  return async (scope: unknown): Promise<void> => {
    const app = scope as Api;
    app.addHook('onRoute', (route) => {
      if (!route.config?.scopes?.length) throw new Error(`${route.url} does not say which scopes may call it`);
    });
    app.addHook('onRequest', async (request) => {
      request.identity = await authenticate(context.store, context.tokens, request);
    });
    app.addHook('onRequest', app.rateLimit(limitBy(settings.rate_limit, (request) => identityOf(request).tokenId)));
    app.addHook('onSend', async (request, reply) => {
      if (request.identity) reply.header('etag', `"${request.identity.revision}"`);
    });
    await routes(app, context);
  };
}

function limitBy(max: number, keyGenerator: (request: FastifyRequest) => string) {
  return {
    max,
    timeWindow: WINDOW,
    keyGenerator,
    errorResponseBuilder: (_request: FastifyRequest, limit: { max: number; ttl: number }) =>
      new Refusal('rate_limited', `More than ${limit.max} requests in a minute; wait and try again.`, {
        retryAfter: Math.max(1, Math.ceil(limit.ttl / 1000)),
      }),
  };
}
