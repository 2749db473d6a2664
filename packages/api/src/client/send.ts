/** Sends one request of a client: token, headers, retries, and the reading of the answer. */
import type { Scope } from '../tokens.ts';
import { type AccessTokens, createAccessTokens, type ExchangeAnswer, exchangeAnswer } from './access-tokens.ts';
import { read, UnreadableAnswer } from './answers.ts';
import { ApiError, factsOf } from './api-error.ts';
import type { Asked } from './refusal.ts';
import { type RetryPolicy, retry } from './retry.ts';
import { createTransport, type Fetch, type HttpRequest, type Transport } from './transport.ts';

/** One member of `api_config`. */
export interface Credential {
  readonly refresh_token: string;
  /** With `/api/v4`. */
  readonly api_base_url: string;
  readonly org: string;
}

export interface Call<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/organizations/{org}`, beginning with a slash, or empty; a query string may follow. */
  readonly path: string;
  readonly scope: Scope;
  readonly body?: unknown;
  readonly ifMatch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly read: (json: unknown) => T;
  /** For a POST: finds what an earlier attempt without an answer may have made. */
  readonly recover?: () => Promise<T | undefined>;
  /** Sent a single time, whatever comes: the caller repeats. */
  readonly once?: boolean;
}

/** A request whose answer is read as it comes. */
export type StreamCall = Pick<Call<never>, 'method' | 'path' | 'scope' | 'body' | 'signal'> & {
  readonly accept: string;
};

export interface Sent<T> {
  readonly value: T;
  /** The organisation's revision as the answer's `ETag` has it; null when it has none. */
  readonly revision: number | null;
}

export interface Sender {
  send<T>(call: Call<T>): Promise<Sent<T>>;
  /** The body of the answer as it comes. It is asked for when the first part is; a body that breaks off is not asked for again. */
  stream(call: StreamCall): AsyncIterable<Uint8Array>;
  requests(): number;
}

export interface SenderOptions {
  readonly fetch: Fetch;
  readonly credential: (scope: Scope) => Credential;
  readonly userAgent: string;
  readonly policy: RetryPolicy;
}

/** The part of a sender that all its requests share. */
interface Common {
  readonly transport: Transport;
  readonly policy: RetryPolicy;
  readonly userAgent: string;
  readonly credential: (scope: Scope) => Credential;
}

export function createSender(options: SenderOptions): Sender {
  const { policy, userAgent } = options;
  const credentials = new Map<Scope, Credential>();
  const credential = (scope: Scope): Credential => {
    const known = credentials.get(scope) ?? options.credential(scope);
    credentials.set(scope, known);
    return known;
  };
  const redact = (text: string): string => {
    const secrets = [...tokens.seen(), ...[...credentials.values()].map((each) => each.refresh_token)];
    return secrets.filter((each) => each !== '').reduce((line, secret) => line.replaceAll(secret, '[redacted]'), text);
  };
  const transport = createTransport(options.fetch, policy.now, redact);
  const common = { transport, policy, userAgent, credential };
  const tokens = createAccessTokens((scope) => exchange(scope, common), policy.now);
  let pausedUntil = 0;
  const onFailure = (error: ApiError): void => {
    if (error.code === 'rate_limited') pausedUntil = Math.max(pausedUntil, policy.now() + (error.retryAfterMs ?? 0));
  };

  /** One 429 with Retry-After holds back every request of this client, not only the one that met it. */
  const waitForTurn = async (signal: AbortSignal | undefined): Promise<void> => {
    const pause = pausedUntil - policy.now();
    if (pause > 0) await policy.sleep(pause, signal);
    if (signal?.aborted) throw new ApiError('cancelled', 'The request was cancelled.');
  };

  return {
    requests: transport.requests,
    async *stream(call) {
      const { signal } = call;
      const send = async () => {
        await waitForTurn(signal);
        return open(call, tokens, common);
      };
      yield* await retry({ send, signal, onFailure }, policy);
    },
    async send(call) {
      const { recover, signal } = call;
      const send = async () => {
        await waitForTurn(signal);
        return attempt(call, tokens, common);
      };
      const found = recover && (async () => wrapFound(await recover()));
      return retry(
        { send, recover: found, signal, onFailure },
        call.once === true ? { ...policy, maxAttempts: 1, maxTotalMs: 0 } : policy,
      );
    },
  };
}

/** Sends once; a token that is refused is exchanged anew once, since it may have expired on the way or been signed with an old key. */
async function attempt<T>(call: Call<T>, tokens: AccessTokens, common: Common): Promise<Sent<T>> {
  const { url, asked } = addressed(call, common);
  for (let renewed = false; ; renewed = true) {
    const token = await tokens.get(call.scope);
    const answer = await common.transport.ask(url, requestOf(call, token, common.userAgent), asked);
    if (answer.status === 401 && !renewed) tokens.forget(call.scope, token);
    else return { value: common.transport.read(answer, asked, call.read), revision: answer.revision };
  }
}

/** As `attempt`, for an answer that is read as it comes. */
async function open(call: StreamCall, tokens: AccessTokens, common: Common): Promise<AsyncIterable<Uint8Array>> {
  const { url, asked } = addressed(call, common);
  for (let renewed = false; ; renewed = true) {
    const token = await tokens.get(call.scope);
    const request = requestOf(call, token, common.userAgent);
    const headers = { ...request.headers, accept: call.accept };
    const opened = await common.transport.open(url, { ...request, headers }, asked);
    if (!('status' in opened)) return opened;
    if (opened.status !== 401 || renewed) return common.transport.read(opened, asked, refuseWholeAnswer);
    tokens.forget(call.scope, token);
  }
}

function refuseWholeAnswer(): never {
  throw new UnreadableAnswer('it has no body that can be read as it comes');
}

function addressed(call: StreamCall | Call<unknown>, common: Common): { url: string; asked: Asked } {
  const { api_base_url, org } = common.credential(call.scope);
  const url = `${addressOf(api_base_url)}/organizations/${encodeURIComponent(org)}${call.path}`;
  const { origin, pathname } = new URL(url);
  return { url, asked: { method: call.method, origin, path: pathname, org, scope: call.scope } };
}

/** Repeating is left to the request that needs the token: what it wanted to send has not been sent when this fails. */
async function exchange(scope: Scope, common: Common): Promise<ExchangeAnswer> {
  const { refresh_token, api_base_url, org } = common.credential(scope);
  const url = new URL(`${addressOf(api_base_url)}/oauth/access_token`);
  const asked = { method: 'POST', origin: url.origin, path: url.pathname, org, scope };
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'user-agent': common.userAgent };
  const body = JSON.stringify({ refresh_token });
  try {
    const answer = await common.transport.ask(url.href, { method: 'POST', headers, body }, asked);
    return common.transport.read(answer, asked, (json) => read(exchangeAnswer, json));
  } catch (error) {
    throw error instanceof ApiError ? aboutExchange(error, asked) : error;
  }
}

function wrapFound<T>(value: T | undefined): Sent<T> | undefined {
  return value === undefined ? undefined : { value, revision: null };
}

function addressOf(baseUrl: string): string {
  const protocol = URL.canParse(baseUrl) ? new URL(baseUrl).protocol : '';
  if (protocol === 'http:' || protocol === 'https:') return baseUrl.replace(/\/+$/, '');
  const example = 'https://obsiac.example.com/api/v4';
  throw new ApiError(
    'unreachable',
    `"${baseUrl}" is not an address. Set api_base_url in the config file, for example to ${example}.`,
  );
}

function requestOf(call: Omit<Call<unknown>, 'read'>, token: string, userAgent: string): HttpRequest {
  const headers: Record<string, string> = {
    'x-last9-api-token': `Bearer ${token}`,
    accept: 'application/json',
    'user-agent': userAgent,
  };
  if (call.body !== undefined) headers['content-type'] = 'application/json';
  if (call.ifMatch !== undefined) headers['if-match'] = `"${call.ifMatch}"`;
  const body = call.body === undefined ? {} : { body: JSON.stringify(call.body) };
  return { method: call.method, headers, ...body, ...(call.signal === undefined ? {} : { signal: call.signal }) };
}

/** A refused exchange is always about the refresh token, whatever the status. */
function aboutExchange(error: ApiError, asked: Asked): ApiError {
  const aboutToken = ['bad_request', 'credentials_refused', 'scope_too_low', 'conflict'].includes(error.code);
  if (aboutToken) {
    const advice = `Create a new ${asked.scope} token on the API access page and put it into api_config.${asked.scope} of the config file.`;
    return new ApiError(
      'credentials_refused',
      `${asked.origin} refused the ${asked.scope} token of api_config.${asked.scope}. ${advice}`,
      {
        status: error.status,
      },
    );
  }
  if (error.code !== 'not_found')
    return new ApiError(error.code, error.message, { ...factsOf(error), ambiguous: false });
  const message = `There is no token exchange at ${asked.origin}${asked.path}. Check api_base_url in the config file: it ends in /api/v4.`;
  return new ApiError('not_the_api', message, { status: error.status });
}
