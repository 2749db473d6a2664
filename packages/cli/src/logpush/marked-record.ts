/** The record that `logpush check` sends and looks for. */
import { randomBytes } from 'node:crypto';

/** Hosts under `.invalid` never exist (RFC 2606), so that no real record looks like it. */
const CHECK_HOST = 'obsiac-check.invalid';

export interface MarkedRecord {
  readonly line: string;
  /** Finds this record and no other. */
  readonly query: string;
}

/** A record of `http_requests` with a ray id of its own. @param now Unix milliseconds */
export function markedRecord(now: number, mark: string = randomBytes(8).toString('hex')): MarkedRecord {
  const at = BigInt(now) * 1_000_000n;
  const line = `{"ClientRequestHost":"${CHECK_HOST}","ClientRequestMethod":"GET","ClientRequestURI":"/","EdgeResponseStatus":200,"EdgeStartTimestamp":${at},"EdgeEndTimestamp":${at + 1_000_000n},"RayID":"${mark}"}\n`;
  return { line, query: `RayID:${mark} ClientRequestHost:${CHECK_HOST}` };
}

/** What Cloudflare uploads, compressed, before it takes a job. */
export const TEST_FILE = '{"content":"tests"}\n';
