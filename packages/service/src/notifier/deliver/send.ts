/** One attempt: one HTTP request, and what its answer means for the message. */
import { type Dispatcher, request } from 'undici';
import { receiverOf } from '../receivers/index.ts';
import { BadDestination, cut, type Delivery, type ReceiverAddresses } from '../receivers/receiver.ts';
import { retryAfterOf } from './backoff.ts';

export type SendResult =
  | { readonly kind: 'delivered' }
  /** `retryAfter` in milliseconds, when the receiver asked for it. */
  | { readonly kind: 'retry'; readonly reason: string; readonly retryAfter?: number | undefined }
  | { readonly kind: 'dead'; readonly reason: string };

export interface SendOptions {
  readonly addresses: ReceiverAddresses;
  readonly dispatcher: Dispatcher;
  /** Milliseconds for the whole attempt. */
  readonly timeout: number;
  readonly nowMs: number;
}

/** What is read of an answer, in bytes. */
const LONGEST_ANSWER = 4096;
const LONGEST_REASON = 300;

/** Sends a message. Never throws; no reason holds a secret of the channel. */
export async function send(channelType: string, delivery: Delivery, options: SendOptions): Promise<SendResult> {
  const receiver = receiverOf(channelType);
  if (receiver === undefined) return { kind: 'dead', reason: unsendable(channelType) };
  try {
    const outgoing = receiver.request(delivery, options.addresses);
    const answer = await exchange(outgoing.url, outgoing.headers, outgoing.body, options);
    const said =
      answer.status < 300 ? '' : cut(withoutSecrets(receiver.explain(answer.body), delivery), LONGEST_REASON);
    return meaningOf(answer, said, options.nowMs);
  } catch (error) {
    if (error instanceof BadDestination) return { kind: 'dead', reason: error.message };
    return { kind: 'retry', reason: failureText(error, options.timeout) };
  }
}

function unsendable(channelType: string): string {
  if (channelType === 'email') return 'E-mail is not built: use a Slack, PagerDuty, Opsgenie or webhook channel.';
  return `There is no receiver of the type "${channelType}".`;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string;
}

async function exchange(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  { dispatcher, timeout }: SendOptions,
): Promise<Answer> {
  const signal = AbortSignal.timeout(timeout);
  const response = await request(url, { method: 'POST', headers, body, dispatcher, signal });
  const retryAfter = response.headers['retry-after'];
  return {
    status: response.statusCode,
    retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
    body: await beginningOf(response.body),
  };
}

async function beginningOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= LONGEST_ANSWER) break;
  }
  return Buffer.concat(chunks).subarray(0, LONGEST_ANSWER).toString('utf8');
}

/** 408, 425, 429 and 5xx may pass; any other refusal would come again. */
function meaningOf({ status, retryAfter }: Answer, said: string, nowMs: number): SendResult {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  const because = said === '' ? '' : ` (${said})`;
  const asked = retryAfterOf(retryAfter, nowMs);
  if (status === 429) {
    return { kind: 'retry', reason: `The receiver takes no more messages for now: 429${because}.`, retryAfter: asked };
  }
  if (status >= 500 || status === 408 || status === 425) {
    return { kind: 'retry', reason: `The receiver failed: ${status}${because}.`, retryAfter: asked };
  }
  if (status >= 300 && status < 400) {
    return {
      kind: 'dead',
      reason: `The receiver answers with a redirection (${status}); give the address it leads to.`,
    };
  }
  return { kind: 'dead', reason: `The receiver refused the message: ${status}${because}.` };
}

const NETWORK: Readonly<Record<string, string>> = {
  ENOTFOUND: 'The name of the receiver is not known to DNS.',
  EAI_AGAIN: 'The name of the receiver could not be looked up.',
  ECONNREFUSED: 'The receiver refuses connections.',
  ECONNRESET: 'The connection to the receiver was cut.',
  EPIPE: 'The connection to the receiver was cut.',
  UND_ERR_SOCKET: 'The connection to the receiver was cut.',
  UND_ERR_CONNECT_TIMEOUT: 'The receiver could not be reached in time.',
  ETIMEDOUT: 'The receiver could not be reached in time.',
  EHOSTUNREACH: 'The receiver cannot be reached.',
  ENETUNREACH: 'The receiver cannot be reached.',
};

/** A sentence from the error's code alone: messages of errors name addresses, and an address may be the secret. */
function failureText(error: unknown, timeout: number): string {
  if (error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')) {
    return `The receiver did not answer within ${timeout / 1000} seconds.`;
  }
  const code = codeOf(error);
  if (code.endsWith('_TIMEOUT')) return NETWORK[code] ?? 'The receiver did not answer in time.';
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|HOSTNAME/.test(code)) {
    return `The certificate of the receiver is not trusted (${code}).`;
  }
  return NETWORK[code] ?? `The receiver could not be asked${code === '' ? '' : ` (${code})`}.`;
}

function codeOf(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    const inner = each instanceof AggregateError ? each.errors[0] : each;
    if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string') return inner.code;
  }
  return '';
}

const MASK = '********';

/** An answer may repeat what it was sent. */
function withoutSecrets(said: string, { destination, webhookHeaders }: Delivery): string {
  const secrets = [destination, ...Object.values(webhookHeaders)];
  if (URL.canParse(destination)) secrets.push(new URL(destination).pathname);
  return secrets
    .filter((secret) => secret.length > 3)
    .reduce((text, secret) => text.replaceAll(secret, MASK), said)
    .replace(/\p{Cc}+/gu, ' ');
}
