/** Lets a client that is still sending read why its body was refused. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** How much of a refused body is read and thrown away, in bytes. */
const MOST_DISCARDED = 64 * 1024 * 1024;

/**
 * Reads on, and keeps nothing. Closing at once while the client still writes makes its system report a broken
 * connection, and the answer is lost. A client that sends without end is cut off.
 */
export function discardBody(request: FastifyRequest, reply: FastifyReply): void {
  reply.removeHeader('connection');
  let left = MOST_DISCARDED;
  request.raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.raw.destroy();
  });
}
