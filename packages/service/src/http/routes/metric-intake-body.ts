/** Reads the body of a request that brings metrics: bounded in size and in the memory of all requests together. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import type { Lease } from '../../intake/byte-budget.ts';
import { UndecodableMetrics } from '../../metric-store/index.ts';
import { Refusal } from '../../refusal.ts';
import { incoming } from '../incoming-batch.ts';

const unzip = promisify(gunzip);

/** What is made of a body (decoded samples, rows for the engine) takes up to about this many times its bytes. */
export const WORKING_FACTOR = 6;

/** The body as it was sent. @throws Refusal `body_too_large`, `unavailable` */
export async function readBody(request: FastifyRequest, limit: number, lease: Lease): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > limit) throw tooLarge(limit, 'as it was sent');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming(request, '').body) {
    bytes += chunk.length;
    if (bytes > limit) throw tooLarge(limit, 'as it was sent');
    await lease.grow(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A body that begins as gzip does, decompressed; any other as it is. @throws Refusal, UndecodableMetrics */
export async function gunzipped(body: Buffer, limit: number): Promise<Buffer> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return await unzip(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit, 'after decompression');
    throw new UndecodableMetrics(`The gzip body cannot be decompressed (${(error as Error).message}).`, error);
  }
}

export function tooLarge(limit: number, when: string): Refusal {
  return new Refusal(
    'body_too_large',
    `The request is larger than ${limit} bytes ${when} (setting metric_body_limit). Send fewer samples at once.`,
  );
}
