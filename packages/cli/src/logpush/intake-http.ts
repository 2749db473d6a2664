/** Uploads batches to an intake as Logpush does: gzip NDJSON by POST, and again after 503. */

import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Agent, request } from 'undici';

export type IntakeErrorCode =
  | 'intake_unreachable'
  | 'intake_not_trusted'
  | 'intake_credentials_refused'
  | 'intake_not_found'
  | 'intake_refused'
  | 'intake_overloaded'
  | 'intake_failed';

/** The intake, or the way to it, refused. No credential is in any text. */
export class IntakeError extends Error {
  override readonly name = 'IntakeError';
  readonly code: IntakeErrorCode;
  readonly detail: string;

  constructor(code: IntakeErrorCode, summary: string, detail: string) {
    super(summary);
    this.code = code;
    this.detail = detail;
  }
}

export interface IntakeAnswer {
  readonly status: number;
  /** Records that the intake took and did not take; undefined when its answer does not say. */
  readonly accepted: number | undefined;
  readonly rejected: number | undefined;
}

export interface IntakeOptions {
  /** With `header_Authorization` and all. */
  readonly destination: string;
  readonly authorization: string;
  readonly connections?: number;
  readonly signal: AbortSignal;
  /** Milliseconds that a batch may be tried for, while the intake asks to wait or cannot be reached. 0: one attempt. */
  readonly patienceMs: number;
  /** Told before each wait. */
  readonly onWait?: (milliseconds: number) => void;
}

export interface IntakeSender {
  /** Throws `IntakeError`. */
  send(text: string): Promise<IntakeAnswer & { readonly bytes: number }>;
  close(): Promise<void>;
}

const compress = promisify(gzip);
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
const RETRYABLE = new Set([429, 502, 503, 504]);

export function openIntake(options: IntakeOptions): IntakeSender {
  const { signal, patienceMs } = options;
  const agent = new Agent({
    connections: options.connections ?? 1,
    connect: { timeout: 10_000 },
    headersTimeout: 120_000,
    bodyTimeout: 120_000,
  });
  /** An address that never answered is more likely wrong than restarting. */
  let answered = false;
  return {
    send: async (text) => {
      const body = await compress(text);
      const until = performance.now() + patienceMs;
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await attemptOnce(agent, options, body);
        answered ||= !(outcome instanceof Refused) || outcome.answered;
        if (!(outcome instanceof Refused)) return { ...outcome, bytes: body.length };
        const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt);
        const wait = outcome.waitMs ?? backoff * (0.5 + Math.random() / 2);
        if (!outcome.retryable || !answered || performance.now() + wait > until) throw outcome.error;
        options.onWait?.(wait);
        await sleep(wait, undefined, { signal });
      }
    },
    close: () => agent.destroy(),
  };
}

/** One attempt that did not succeed. */
class Refused {
  readonly error: IntakeError;
  readonly retryable: boolean;
  /** What `Retry-After` asks for. */
  readonly waitMs: number | undefined;
  /** Something listens there and speaks HTTP. */
  readonly answered: boolean;
  constructor(error: IntakeError, retryable: boolean, waitMs?: number) {
    this.answered = error.code !== 'intake_unreachable' && error.code !== 'intake_not_trusted';
    this.error = error;
    this.retryable = retryable;
    this.waitMs = waitMs;
  }
}

async function attemptOnce(agent: Agent, options: IntakeOptions, body: Buffer): Promise<IntakeAnswer | Refused> {
  const { destination, authorization, signal } = options;
  const { host, origin } = new URL(destination);
  try {
    const answer = await request(destination, {
      dispatcher: agent,
      method: 'POST',
      headers: { authorization, 'content-encoding': 'gzip', 'content-type': 'application/octet-stream' },
      body,
      signal,
    });
    const text = await answer.body.text();
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) return { status, ...countsOf(text) };
    const { error } = refusalOf(status, origin, String(answer.headers['location'] ?? ''), sentenceOf(text));
    return new Refused(error, RETRYABLE.has(status), retryAfterMs(answer.headers['retry-after'], Date.now()));
  } catch (error) {
    if (signal.aborted) throw error;
    return connectionRefusal(error as NodeJS.ErrnoException, host);
  }
}

function countsOf(text: string): Pick<IntakeAnswer, 'accepted' | 'rejected'> {
  const nothing = { accepted: undefined, rejected: undefined };
  try {
    const { accepted, rejected } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return typeof accepted === 'number' ? { accepted, rejected: typeof rejected === 'number' ? rejected : 0 } : nothing;
  } catch {
    return nothing; // Another product's intake may answer anything.
  }
}

/** What the intake said, short and on one line. */
function sentenceOf(text: string): string {
  let said = text;
  try {
    const document = JSON.parse(text) as { error?: unknown; message?: unknown };
    said = String(document.error ?? document.message ?? text);
  } catch {
    // Not JSON: the text itself, unless it is a page.
  }
  const line = said.replace(/\s+/g, ' ').trim().slice(0, 300);
  return line === '' || /^<(!doctype|html)/i.test(line) ? '' : ` It said: ${/[.!?]$/.test(line) ? line : `${line}.`}`;
}

/** Milliseconds that `Retry-After` asks for: seconds or a date (RFC 9110, 10.2.3), half an hour at most. */
export function retryAfterMs(value: string | string[] | undefined, now: number): number | undefined {
  const text = (Array.isArray(value) ? value[0] : value)?.trim();
  if (text === undefined || text === '') return undefined;
  const milliseconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.min(Math.max(0, milliseconds), 1_800_000);
}

function refusalOf(status: number, origin: string, location: string, said: string): { error: IntakeError } {
  const refuse = (code: IntakeErrorCode, summary: string, detail: string) => ({
    error: new IntakeError(code, summary, detail),
  });
  if (status === 401 || status === 403) {
    return refuse(
      'intake_credentials_refused',
      'The intake refused the credentials',
      `It answered ${status}.${said} "obsiac-service intake create" makes new credentials; intake.json has those of the first start.`,
    );
  }
  if (status >= 300 && status < 400) {
    const to = URL.canParse(location, origin) ? new URL(location, origin).origin : 'somewhere else';
    return refuse(
      'intake_refused',
      'The intake sends uploads elsewhere',
      `It answered ${status}, to ${to}. Name the final address.`,
    );
  }
  if (status === 404 || status === 405) {
    return refuse(
      'intake_not_found',
      'There is no intake at this address',
      `${origin} answered ${status}.${said} The intake is at /cloudflare on the address of the service; a proxy in front must pass it on.`,
    );
  }
  if (status === 413) {
    return refuse(
      'intake_refused',
      'The batch is too large for the intake',
      `It answered 413.${said} Send smaller batches, or raise the limit of the service and of a proxy in front of it.`,
    );
  }
  if (status === 429 || status === 503) {
    return refuse('intake_overloaded', 'The intake asks to wait', `It answered ${status}.${said}`);
  }
  if (status >= 500) {
    return refuse('intake_failed', 'The intake failed', `It answered ${status}.${said} Its log says why.`);
  }
  return refuse('intake_refused', 'The intake refused the upload', `It answered ${status}.${said}`);
}

const TLS_CODES = /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH)/;

function connectionRefusal(error: NodeJS.ErrnoException, host: string): Refused {
  const code = error.code ?? '';
  const unreachable = (detail: string, retryable = true) =>
    new Refused(new IntakeError('intake_unreachable', `The intake at ${host} cannot be reached`, detail), retryable);
  if (TLS_CODES.test(code)) {
    const detail = `${error.message}. Cloudflare accepts only certificates that are publicly trusted, for exactly this name, with their whole chain.`;
    return new Refused(
      new IntakeError('intake_not_trusted', `The certificate of ${host} is not trusted`, detail),
      false,
    );
  }
  switch (code) {
    case 'ENOTFOUND':
      return unreachable(`The name ${host} does not exist in the DNS. Check the address.`, false);
    case 'EAI_AGAIN':
      return unreachable('The DNS did not answer.');
    case 'ECONNREFUSED':
      return unreachable('Nothing listens there. Is the service running, on this port?');
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return unreachable('The connection was cut.');
    case 'EPROTO':
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return unreachable(
        'It does not speak TLS on this port. A service without --tls-cert needs a proxy in front, or http:// here.',
        false,
      );
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return unreachable('It did not answer in time. A firewall in between may drop the packets.');
    default:
      return unreachable(`${error.message}.`);
  }
}
