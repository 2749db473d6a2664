/** A request that delivers logs, as intake takes it. */
import type { FastifyRequest } from 'fastify';
import type { IncomingBatch } from '../intake/intake.ts';
import { Refusal } from '../refusal.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The content type of a delivered batch, as sent. */
    deliveredAs: string;
  }
}

/** Milliseconds without a byte of the body after which a sender is given up. */
const LONGEST_SILENCE = 60_000;

/** Gzip is found by its first bytes; an encoding that is not gzip would otherwise be taken for broken lines. */
export function requireReadableEncoding(request: FastifyRequest): void {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (['identity', 'gzip', 'x-gzip', ''].includes(encoding)) return;
  throw new Refusal('unsupported_media_type', `Content-Encoding ${encoding} is not read here; send gzip or none.`);
}

/** @param org id of the organisation */
export function incoming(request: FastifyRequest, org: string): IncomingBatch {
  return {
    org,
    body: watched(request),
    declaredBytes: Number(request.headers['content-length'] ?? 0),
    receivedAt: String(BigInt(Date.now()) * 1_000_000n),
  };
}

async function* watched({ raw }: FastifyRequest): AsyncGenerator<Buffer> {
  const silence = setTimeout(() => raw.destroy(), LONGEST_SILENCE);
  try {
    // The connection must outlive a refusal in the middle of the body.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      silence.refresh();
      yield chunk as Buffer;
    }
  } catch (cause) {
    throw new Refusal('bad_request', 'The sender broke off before the body was whole.', { cause });
  } finally {
    clearTimeout(silence);
  }
}
