/** Prometheus' query API over the service's own metrics: `/api/v1/…`, and `/prometheus/{data source}/api/v1/…`. */
import { instantToApi, queryInstant, queryRange, rangeToApi } from '@obsiac/promql';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { MetricReader } from '../../metric-store/index.ts';
import { VERSION } from '../../version.ts';
import type { Api, Context } from '../api.ts';
import { READ } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { ApiFailure, answerFailure, success } from './prometheus-answers.ts';
import type { AddRoute, Asked } from './prometheus-asked.ts';
import { identify, tokenOf } from './prometheus-authentication.ts';
import { annotated, truncated } from './prometheus-limits.ts';
import { badParameter, Parameters } from './prometheus-parameters.ts';
import { seriesRoutes } from './prometheus-series.ts';

/** The version of Prometheus whose API and language these are; clients choose their features by it. */
const SPOKEN_VERSION = '3.5.0';
/** As in Prometheus. */
const MOST_POINTS = 11_000;

const PREFIXES = ['/api/v1', '/prometheus/:source/api/v1'];

/** Registers the routes in a scope of their own. @param limit counts requests, once the token is known */
export function prometheusRoutes(app: Api, context: Context, limit: onRequestHookHandler): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  app.setErrorHandler(answerFailure);
  app.addHook('onRequest', async (request) => {
    const token = tokenOf(request);
    if (token === undefined) {
      throw new ApiFailure(
        'unauthorized',
        'Send a token with the scope read: as Bearer, or as the password of Basic authorization with any user name.',
      );
    }
    request.identity = await identify(context.store, context.tokens, token, ['read', 'write']);
  });
  app.addHook('onRequest', limit);
  const add: AddRoute = (method, path, handler) => {
    const answer = async (request: FastifyRequest, reply: FastifyReply) => handler(askedBy(context, request, reply));
    for (const prefix of PREFIXES) {
      const options = { config: READ, schema: { hide: true } };
      app.get(`${prefix}${path}`, options, answer);
      if (method === 'GET or POST') app.post(`${prefix}${path}`, options, answer);
    }
  };
  queryRoutes(add);
  seriesRoutes(add);
  statusRoutes(add);
}

function askedBy(context: Context, request: FastifyRequest, reply: FastifyReply): Asked {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new ApiFailure('canceled', 'The client closed the connection.'));
  });
  return {
    reader: readerOf(context, request),
    org: identityOf(request).organizationId,
    parameters: new Parameters(request),
    label: (request.params as { readonly name?: string }).name ?? '',
    signal: gone.signal,
    now: context.store.now(),
  };
}

function readerOf({ metrics }: Context, request: FastifyRequest): MetricReader {
  const { source = 'embedded' } = request.params as { readonly source?: string };
  if (source !== 'embedded' && source !== 'logs') {
    throw new ApiFailure('not_found', `There is no data source "${source}" here; there are embedded and logs.`);
  }
  if (metrics === undefined) {
    throw new ApiFailure(
      'unavailable',
      'This service keeps no metrics: it was started without its log engine (setting logs).',
    );
  }
  return metrics.store[source];
}

function queryRoutes(add: AddRoute): void {
  add('GET or POST', '/query', async (asked) => {
    const { parameters, reader, org, signal, now } = asked;
    const limit = parameters.limit();
    const time = parameters.time('time', now);
    const options = evaluation(asked);
    const { expr } = parameters.expression();
    const storage = reader.storage({ org, expr, step: undefined });
    const result = await queryInstant(expr, { ...options, storage, time, signal });
    return success(...truncated(instantToApi(result), limit, annotated(parameters.text('query'), result.annotations)));
  });
  add('GET or POST', '/query_range', async (asked) => {
    const { parameters, reader, org, signal } = asked;
    const limit = parameters.limit();
    const { start, end, step } = rangeOf(parameters);
    const options = evaluation(asked);
    const { expr, type } = parameters.expression();
    if (type === 'string' || type === 'matrix') {
      const found = type === 'string' ? 'string' : 'range vector';
      throw badParameter(
        'query',
        `invalid expression type "${found}" for range query, must be Scalar or instant Vector`,
      );
    }
    const storage = reader.storage({ org, expr, step });
    const result = await queryRange(expr, { ...options, storage, start, end, step, signal });
    return success(...truncated(rangeToApi(result), limit, annotated(parameters.text('query'), result.annotations)));
  });
  // Exemplars are not kept; a client that asks for them beside a query must not fail for it.
  add('GET or POST', '/query_exemplars', async () => success([]));
}

function rangeOf(parameters: Parameters): { readonly start: number; readonly end: number; readonly step: number } {
  const start = parameters.time('start');
  const end = parameters.time('end');
  if (end < start) throw badParameter('end', 'end timestamp must not be before start time');
  const step = parameters.duration('step');
  if (step === undefined) throw badParameter('step', 'cannot parse "" to a valid duration');
  if (step <= 0) {
    throw badParameter(
      'step',
      'zero or negative query resolution step widths are not accepted. Try a positive integer',
    );
  }
  if ((end - start) / step > MOST_POINTS) {
    throw new ApiFailure(
      'bad_data',
      'exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)',
    );
  }
  return { start, end, step };
}

/** Limits of the service, and what of them the request lowers. */
function evaluation({ parameters, reader }: Asked) {
  const timeout = Math.min(parameters.duration('timeout') ?? Number.POSITIVE_INFINITY, reader.limits.timeout);
  const lookback = parameters.duration('lookback_delta');
  return { limits: { ...reader.limits, timeout }, ...(lookback !== undefined && lookback > 0 && { lookback }) };
}

function statusRoutes(add: AddRoute): void {
  add('GET', '/status/buildinfo', async () =>
    success({
      version: SPOKEN_VERSION,
      revision: `obsiac-${VERSION}`,
      branch: '',
      buildUser: '',
      buildDate: '',
      goVersion: '',
    }),
  );
}
