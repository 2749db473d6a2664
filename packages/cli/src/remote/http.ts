/** The CLI's connection to a service: a bounded pool of kept-alive connections with time limits. */
import type { Fetch } from '@obsiac/api';

export interface HttpOptions {
  /** At most this many connections to the service. */
  readonly connections?: number;
  /** Milliseconds until a connection must stand, and until an answer must begin or go on. */
  readonly connectTimeoutMs?: number;
  readonly answerTimeoutMs?: number;
}

export interface Http {
  readonly fetch: Fetch;
  /** Closes the connections, so that the process can end. */
  close(): Promise<void>;
}

/** `const http = openHttp(); createClient({ fetch: http.fetch, … })`. Honours `NODE_EXTRA_CA_CERTS`, as Node does. */
export function openHttp(_options: HttpOptions = {}): Http {
  throw new Error('not yet');
}
