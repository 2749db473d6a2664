/** `/v1/metrics`: OTLP/HTTP metrics in protobuf and JSON, answered in the encoding they came in (OTLP specification 1.x). */
import type { FastifyRequest } from 'fastify';
import type { Lease } from '../../intake/byte-budget.ts';
import { encodeLogsResponse } from '../../intake/otlp/protobuf.ts';
import {
  type Converted,
  convertMetrics,
  DeltaSums,
  decodeMetricsRequest,
  decodeMetricsRequestJson,
} from '../../metric-store/index.ts';
import { Refusal } from '../../refusal.ts';
import type { Api, MetricContext } from '../api.ts';
import { requireReadableEncoding } from '../incoming-batch.ts';
import type { IntakeAuthentication } from '../intake-authentication.ts';
import { gunzipped, readBody, WORKING_FACTOR } from './metric-intake-body.ts';
import { refusedSentence } from './metric-intake-refusal.ts';
import { answerOtlpRefusal, encodingOf, jsonBody, TYPES } from './otlp.ts';

export function otlpMetricsRoute(app: Api, authenticate: IntakeAuthentication, open: () => MetricContext): void {
  const deltas = new DeltaSums();
  app.post('/v1/metrics', { schema: { hide: true }, errorHandler: answerOtlpRefusal }, async (request, reply) => {
    const org = await authenticate(request);
    const metrics = open();
    const encoding = encodingOf(request);
    if (encoding === undefined) {
      const types = Object.values(TYPES).join(' or ');
      throw new Refusal('unsupported_media_type', `Send OTLP with Content-Type ${types}.`);
    }
    requireReadableEncoding(request);
    const lease = metrics.budget.lease();
    try {
      const converted = await decode(request, org, encoding, { metrics, deltas, lease });
      const written = await metrics.store.write(org, converted).catch((error: unknown) => {
        converted.undo();
        throw error;
      });
      const rejected = written.refused.reduce((sum, { samples }) => sum + samples, 0);
      const message = refusedSentence(written) ?? '';
      void reply.type(TYPES[encoding]);
      // The answer has the fields of the one about logs, by the same numbers.
      if (encoding === 'protobuf') return reply.send(Buffer.from(encodeLogsResponse(rejected, message)));
      const partial = { partialSuccess: { rejectedDataPoints: String(rejected), errorMessage: message } };
      return reply.send(jsonBody(rejected === 0 ? {} : partial));
    } finally {
      lease.release();
    }
  });
}

async function decode(
  request: FastifyRequest,
  org: string,
  encoding: 'protobuf' | 'json',
  { metrics, deltas, lease }: { metrics: MetricContext; deltas: DeltaSums; lease: Lease },
): Promise<Converted> {
  const { body: limit } = metrics.limits;
  const body = await gunzipped(await readBody(request, limit, lease), limit);
  await lease.reserve(body.length * WORKING_FACTOR);
  const decoded =
    encoding === 'json' ? decodeMetricsRequestJson(body.toString('utf8')) : await decodeMetricsRequest(body);
  return convertMetrics(decoded, org, deltas);
}
