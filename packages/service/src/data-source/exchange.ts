/** One HTTP request and its whole answer, bounded in time and bytes, on a pool of kept connections. */
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { SourceError } from './source.ts';

export interface ExchangeRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ExchangeLimits {
  readonly signal: AbortSignal;
  /** Milliseconds, from now until the answer is there. */
  readonly timeout: number;
  /** Bytes of a 200, after decompression. */
  readonly maxBytes: number;
}

export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. Of a refusal at most its beginning. */
  readonly body: Buffer;
}

/** What is read of an answer that is not a 200. */
const REFUSAL_BYTES = 64 * 1024;

/**
 * Posts a form. The request is sent a second time when the connection ends before the first byte of an answer: a server may close a
 * kept connection at the moment that it is used again, and a query changes nothing.
 * @throws SourceError `timeout`, `cancelled`, `too_large`, `bad_answer`; Unanswered; else the error of the connection
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  limits: ExchangeLimits,
): Promise<Exchanged> {
  const deadline = performance.now() + limits.timeout;
  const first = await once(dispatcher, request, limits, limits.timeout).catch((error: unknown) => {
    if (error instanceof Unanswered) return error;
    throw error;
  });
  if (!(first instanceof Unanswered)) return decompressed(first, limits.maxBytes);
  const left = Math.max(1, deadline - performance.now());
  const second = await once(dispatcher, request, limits, left);
  return decompressed(second, limits.maxBytes);
}

/** The request was sent, and the connection ended without a byte of answer. */
export class Unanswered extends Error {}

/** @param left milliseconds */
function once(
  dispatcher: Dispatcher,
  request: ExchangeRequest,
  limits: ExchangeLimits,
  left: number,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const { signal } = limits;
    if (signal.aborted) return reject(abortedBy(signal));
    const answer = new AnswerCollector(limits.maxBytes, finish);
    const timer = setTimeout(() => answer.fail(timedOut(limits.timeout, answer.isSent)), left);
    const onAbort = () => answer.fail(abortedBy(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    function finish(outcome: Exchanged | Error): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    }
    // No time-outs of undici's own: one clock tells people one figure.
    const options = { method: 'POST' as const, headersTimeout: 0, bodyTimeout: 0, ...request };
    try {
      dispatcher.dispatch(options, answer);
    } catch (error) {
      answer.fail(error as Error);
    }
  });
}

/** Takes an answer from undici piece by piece and tells its end once. */
class AnswerCollector implements Dispatcher.DispatchHandler {
  isSent = false;
  readonly #maxBytes: number;
  #finish: ((outcome: Exchanged | Error) => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, finish: (outcome: Exchanged | Error) => void) {
    this.#maxBytes = maxBytes;
    this.#finish = finish;
  }

  /** Ends the exchange from outside; the connection is not used again. */
  fail(error: Error): void {
    this.#end(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.isSent = true;
    if (this.#finish === undefined) controller.abort(new Error('given up while it waited for a connection'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    if (status === 200 && Number(headers['content-length'] ?? 0) > this.#maxBytes) this.fail(tooLarge(this.#maxBytes));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#status !== 200 && this.#bytes >= REFUSAL_BYTES) {
      this.#end(this.#answer());
      this.#controller?.abort(new Error('enough was read'));
    } else if (this.#bytes > this.#maxBytes) {
      this.fail(tooLarge(this.#maxBytes));
    }
  }

  onResponseEnd(): void {
    this.#end(this.#answer());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    const isUnanswered = this.isSent && this.#status === 0 && isCut(error);
    this.#end(isUnanswered ? new Unanswered(error.message, { cause: error }) : error);
  }

  #answer(): Exchanged {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    return { status: this.#status, headers: this.#headers, body };
  }

  #end(outcome: Exchanged | Error): void {
    const finish = this.#finish;
    this.#finish = undefined;
    this.#chunks = [];
    finish?.(outcome);
  }
}

/** True for a connection that ended while it was used. */
export function isCut(error: Error & { code?: string }): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '');
}

const unzip = { gzip: promisify(gunzip), deflate: promisify(inflate) };

/** On the thread pool, bounded: a small answer may unfold to any size. */
async function decompressed(answer: Exchanged, maxBytes: number): Promise<Exchanged> {
  const encoding = String(answer.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || answer.body.length === 0) return answer;
  const decode = encoding === 'gzip' || encoding === 'x-gzip' ? unzip.gzip : encoding === 'deflate' && unzip.deflate;
  if (!decode) {
    throw new SourceError('bad_answer', `The answer is compressed with ${encoding}, which was not asked for.`);
  }
  try {
    return { ...answer, body: await decode(answer.body, { maxOutputLength: maxBytes }) };
  } catch (cause) {
    // Only the beginning of a refusal was read, and its status says enough.
    if (answer.status !== 200) return { ...answer, body: Buffer.alloc(0) };
    if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new SourceError('bad_answer', `The answer says that it is compressed with ${encoding} and is not.`, {
      cause,
    });
  }
}

function tooLarge(maxBytes: number): SourceError {
  const size = maxBytes >= 1e6 ? `${Math.round(maxBytes / 1e5) / 10} MB` : `${maxBytes} bytes`;
  return new SourceError('too_large', `The answer is larger than ${size}: let the query give fewer series.`);
}

function timedOut(timeout: number, isSent: boolean): SourceError {
  const seconds = `${Math.round(timeout / 100) / 10} s`;
  if (isSent) return new SourceError('timeout', `There was no whole answer within ${seconds}.`);
  return new SourceError('unreachable', `There was no connection within ${seconds}.`);
}

/** A signal of `AbortSignal.timeout` is a time-out, any other a cancellation. */
export function abortedBy(signal: AbortSignal): SourceError {
  const cause: unknown = signal.reason;
  if (cause instanceof SourceError) return cause;
  if ((cause as Error | undefined)?.name === 'TimeoutError') {
    return new SourceError('timeout', 'There was no answer before the time for it was over.', { cause });
  }
  return new SourceError('cancelled', 'The query was cancelled.', { cause });
}
