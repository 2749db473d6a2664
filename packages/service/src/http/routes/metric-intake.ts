/** Where metrics are sent: `/api/v1/write` for Prometheus remote write, `/v1/metrics` for OTLP. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Lease } from '../../intake/byte-budget.ts';
import type { Store } from '../../metadata/store.ts';
import {
  decodeWriteRequest,
  decodeWriteRequestV2,
  decompressSnappy,
  type IncomingMetrics,
  snappyLength,
  type Written,
} from '../../metric-store/index.ts';
import { Refusal } from '../../refusal.ts';
import type { AccessTokens } from '../../tokens/access-tokens.ts';
import type { Api, MetricContext } from '../api.ts';
import { handleError } from '../errors.ts';
import { createIntakeAuthentication, type IntakeAuthentication } from '../intake-authentication.ts';
import { discardBody } from '../refused-body.ts';
import { readBody, tooLarge, WORKING_FACTOR } from './metric-intake-body.ts';
import { otlpMetricsRoute } from './metric-intake-otlp.ts';
import { metricRefusal, refusedSentence } from './metric-intake-refusal.ts';
import { identify, tokenOf } from './prometheus-authentication.ts';

export interface MetricIntakeContext {
  readonly store: Store;
  readonly tokens: AccessTokens;
  /** Undefined: this service keeps no metrics. */
  readonly metrics: MetricContext | undefined;
}

/** Registers both routes, in a scope of their own: bodies are read as they come, whatever their content type. */
export async function metricIntakeRoutes(app: Api, context: MetricIntakeContext): Promise<void> {
  const authenticate = metricAuthentication(context);
  await app.register((scope, _options, done) => {
    const inner = scope as unknown as Api;
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    inner.decorateRequest('deliveredAs', '');
    inner.addHook('onRequest', async (request) => {
      request.deliveredAs = request.headers['content-type'] ?? '';
      request.raw.headers['content-type'] = 'application/octet-stream';
    });
    const metrics = () => {
      if (context.metrics !== undefined) return context.metrics;
      // A status on which senders give up: it will not pass.
      throw new Refusal(
        'not_found',
        'This service keeps no metrics: it was started without its log engine (setting logs).',
      );
    };
    remoteWriteRoute(inner, authenticate, metrics);
    otlpMetricsRoute(inner, authenticate, metrics);
    done();
  });
}

/** A token with the scope write, as Bearer; else Basic credentials of a log sender, as for `/cloudflare`. */
function metricAuthentication({ store, tokens }: MetricIntakeContext): IntakeAuthentication {
  const byPassword = createIntakeAuthentication(store);
  return async (request) => {
    if (!/^bearer /i.test(request.headers.authorization ?? '')) return byPassword(request);
    const token = tokenOf(request);
    if (token === undefined) throw new Refusal('no_credentials', 'The header Authorization has no token.');
    return (await identify(store, tokens, token, ['write'])).organizationId;
  };
}

function remoteWriteRoute(app: Api, authenticate: IntakeAuthentication, open: () => MetricContext): void {
  app.post('/api/v1/write', { schema: { hide: true }, errorHandler: answerRefusal }, async (request, reply) => {
    const org = await authenticate(request);
    const metrics = open();
    const version = protocolVersion(request);
    const lease = metrics.budget.lease();
    try {
      const written = await metrics.store.write(org, await decode(request, version, metrics, lease));
      if (version === 2) reply.headers(writtenHeaders(written));
      const refused = refusedSentence(written);
      if (refused !== undefined) throw new Refusal('bad_request', refused);
      return reply.code(204).send();
    } finally {
      lease.release();
    }
  });
}

/** Remote write 2.0 says how much was written, also beside a refusal. */
function writtenHeaders({ stored }: Written): Record<string, string> {
  return {
    'x-prometheus-remote-write-samples-written': String(stored),
    'x-prometheus-remote-write-histograms-written': '0',
    'x-prometheus-remote-write-exemplars-written': '0',
  };
}

const MESSAGES: Readonly<Record<string, 1 | 2>> = {
  'prometheus.WriteRequest': 1,
  'io.prometheus.write.v2.Request': 2,
};

/** By the content type, as the specification of remote write 2.0 has it. @throws Refusal 415, on which senders fall back to 1.0 */
function protocolVersion(request: FastifyRequest): 1 | 2 {
  const [type = '', ...parameters] = request.deliveredAs.split(';').map((part) => part.trim());
  const encoding = (request.headers['content-encoding'] ?? 'snappy').trim().toLowerCase();
  if (encoding !== 'snappy') {
    throw new Refusal('unsupported_media_type', `Content-Encoding ${encoding} is not read here; send snappy.`);
  }
  if (type !== '' && type.toLowerCase() !== 'application/x-protobuf') {
    throw new Refusal('unsupported_media_type', 'Send remote write with Content-Type application/x-protobuf.');
  }
  const name = parameters.find((part) => /^proto=/i.test(part))?.slice('proto='.length) ?? 'prometheus.WriteRequest';
  const version = MESSAGES[name];
  if (version !== undefined) return version;
  throw new Refusal('unsupported_media_type', `The message ${name} is not read here; send prometheus.WriteRequest.`);
}

async function decode(
  request: FastifyRequest,
  version: 1 | 2,
  { limits }: MetricContext,
  lease: Lease,
): Promise<IncomingMetrics> {
  const body = await readBody(request, limits.body, lease);
  const { length } = snappyLength(body);
  if (length > limits.body) throw tooLarge(limits.body, 'after decompression');
  await lease.reserve(length * WORKING_FACTOR);
  const plain = decompressSnappy(body, limits.body);
  return version === 2 ? decodeWriteRequestV2(plain) : decodeWriteRequest(plain);
}

function answerRefusal(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  if (!request.raw.complete) discardBody(request, reply);
  handleError(metricRefusal(error), request, reply, 'Basic realm="obsiac"');
}
