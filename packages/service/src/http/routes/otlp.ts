/** `/v1/logs`: OTLP/HTTP logs in protobuf and JSON, answered in the encoding they came in (OTLP specification 1.x). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Intake } from '../../intake/intake.ts';
import type { OtlpEncoding } from '../../intake/otlp/convert-request.ts';
import { encodeLogsResponse, encodeStatus } from '../../intake/otlp/protobuf.ts';
import { Refusal } from '../../refusal.ts';
import type { Api } from '../api.ts';
import { toRefusal } from '../errors.ts';
import { incoming, requireReadableEncoding } from '../incoming-batch.ts';
import type { IntakeAuthentication } from '../intake-authentication.ts';
import { discardBody } from '../refused-body.ts';
import { metricRefusal } from './metric-intake-refusal.ts';

export const TYPES: Readonly<Record<OtlpEncoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
};

/** google.rpc.Code by HTTP status. */
const RPC_CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 413: 8, 415: 3, 429: 8, 503: 14 };
const RPC_INTERNAL = 13;

export function otlpRoute(app: Api, authenticate: IntakeAuthentication, intake: Intake): void {
  app.post('/v1/logs', { schema: { hide: true }, errorHandler: answerOtlpRefusal }, async (request, reply) => {
    const org = await authenticate(request);
    const encoding = encodingOf(request);
    if (encoding === undefined) {
      const types = Object.values(TYPES).join(' or ');
      throw new Refusal('unsupported_media_type', `Send OTLP with Content-Type ${types}.`);
    }
    requireReadableEncoding(request);
    const rejected = await intake.otlp(incoming(request, org), encoding);
    const message = rejected === 0 ? '' : `${rejected} records are larger than this service takes (intake_line_limit)`;
    void reply.type(TYPES[encoding]);
    if (encoding === 'protobuf') return reply.send(Buffer.from(encodeLogsResponse(rejected, message)));
    const partial = { partialSuccess: { rejectedLogRecords: String(rejected), errorMessage: message } };
    return reply.send(jsonBody(rejected === 0 ? {} : partial));
  });
}

export function encodingOf({ deliveredAs }: FastifyRequest): OtlpEncoding | undefined {
  const type = deliveredAs.split(';', 1)[0]?.trim().toLowerCase();
  if (type === TYPES.json) return 'json';
  return type === TYPES.protobuf || type === 'application/protobuf' ? 'protobuf' : undefined;
}

/** The body of a refusal is a google.rpc.Status; a sender whose type is unknown gets it as JSON. */
export function answerOtlpRefusal(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  const refusal = toRefusal(metricRefusal(error));
  if (refusal.code === 'internal') request.log.error({ err: error }, 'request failed');
  if (!request.raw.complete) discardBody(request, reply);
  if (refusal.retryAfter !== undefined) void reply.header('retry-after', String(refusal.retryAfter));
  if (refusal.status === 401) void reply.header('www-authenticate', 'Basic realm="obsiac"');
  const code = RPC_CODES[refusal.status] ?? RPC_INTERNAL;
  const encoding = encodingOf(request) ?? 'json';
  void reply.code(refusal.status).type(TYPES[encoding]);
  if (encoding === 'protobuf') void reply.send(Buffer.from(encodeStatus(code, refusal.message)));
  else void reply.send(jsonBody({ code, message: refusal.message }));
}

/** As bytes: to a text the framework would add a charset, and the answer's type is to be that of the request. */
export function jsonBody(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
