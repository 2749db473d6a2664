/** Turns what went wrong with a query over HTTP into a closed code and a sentence that says what to mend. */
import { type Exchanged, isCut, Unanswered } from './exchange.ts';
import type { Endpoint } from './http-config.ts';
import { SourceError, type SourceErrorCode } from './source.ts';

/** Longest part of a sentence that comes from the server. */
const MOST_TOLD = 500;

const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself; give it as tls.ca_cert',
  SELF_SIGNED_CERT_IN_CHAIN: 'comes from an authority that is not trusted; give the authority as tls.ca_cert',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes from an authority that is not trusted; give the authority as tls.ca_cert',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'comes from an authority that is not trusted; give the authority as tls.ca_cert',
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
};

const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  EHOSTUNREACH: 'cannot be reached: there is no route to it',
  ENETUNREACH: 'cannot be reached: there is no route to it',
  ETIMEDOUT: 'does not answer to connections',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer to connections',
};

/** An error of the connection, whatever layer it comes from. Errors that are told already pass. */
export function connectionError(error: unknown, endpoint: Pick<Endpoint, 'host' | 'origin' | 'tls'>): SourceError {
  if (error instanceof SourceError) return error;
  const { host, origin, tls } = endpoint;
  if (error instanceof Unanswered) {
    const wantsCertificate = origin.startsWith('https:') && !tls.client_cert;
    const hint = wantsCertificate ? '; perhaps it wants a client certificate, tls.client_cert' : '';
    return new SourceError('unreachable', `${host} cut the connection without an answer${hint}.`, {
      cause: error.cause,
    });
  }
  return new SourceError('unreachable', connectionSentence(error as NodeJS.ErrnoException, host), { cause: error });
}

function connectionSentence(error: NodeJS.ErrnoException, host: string): string {
  const code = error.code ?? '';
  if (code === 'ENOTFOUND') return `The name of ${host} is not known to DNS.`;
  if (code === 'EAI_AGAIN') return `DNS does not answer to the question where ${host} is.`;
  if (NETWORK_ERRORS[code] !== undefined) return `${host} ${NETWORK_ERRORS[code]}.`;
  const certificate = CERTIFICATE_ERRORS[code];
  if (certificate !== undefined) return `The certificate of ${host} ${certificate}.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `The certificate of ${host} is for another name; give the name it has as tls.server_name. ${clipped(error.message)}`;
  }
  if (/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE|BAD_CERTIFICATE|UNKNOWN_CA/i.test(`${code} ${error.message}`)) {
    return `${host} does not accept the TLS client certificate, or wants one: see tls.client_cert. (${code})`;
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/i.test(`${code} ${error.message}`)) {
    return `${host} does not speak TLS: is its address http:// rather than https://?`;
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) {
    return `The TLS connection to ${host} failed: ${clipped(error.message)}`;
  }
  if (isCut(error) || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return `${host} cut the connection before its answer was whole.`;
  }
  if (error.name === 'HTTPParserError') return `${host} does not answer in HTTP: ${clipped(error.message)}`;
  return `The request to ${host} failed: ${clipped(error.message)}${code === '' ? '' : ` (${code})`}`;
}

/** The API's own body of an error. Source: Prometheus documentation, "HTTP API", "Format overview". */
interface ApiError {
  readonly errorType: string;
  readonly error: string;
}

/**
 * An answer that is no success.
 * @param now unix milliseconds, for a `Retry-After` that is a date
 */
export function statusError(answer: Exchanged, endpoint: Pick<Endpoint, 'host' | 'title'>, now: number): SourceError {
  const { status } = answer;
  const told = apiErrorOf(answer.body);
  const said = told?.error ?? plainTextOf(answer);
  const sentence = (what: string) => `${endpoint.host} ${what}${said === '' ? '.' : `: ${clipped(said)}`}`;
  const refused = (code: SourceErrorCode, what: string) => new SourceError(code, sentence(what));

  if (status === 401 || status === 403) return refused('refused_credentials', `refuses the credentials (${status})`);
  if (status === 429 || (status === 503 && answer.headers['retry-after'] !== undefined)) {
    const retryAfter = retryAfterOf(answer.headers['retry-after'], now);
    return new SourceError('overloaded', sentence(`asks for fewer requests (${status})`), {
      ...(retryAfter === undefined ? {} : { retryAfter }),
    });
  }
  if (status >= 300 && status < 400) return redirected(answer, endpoint.host);
  if (status === 408 || status === 504) return refused('timeout', `gave the query up (${status})`);
  if (status === 413) return refused('too_large', 'takes no query of this size (413)');
  if (told !== undefined) return apiError(told, status, endpoint, refused);
  if (status >= 500) return refused('server_error', `answers with the error ${status}`);
  if (status === 404 || status === 405) {
    return refused(
      'bad_answer',
      `has no query API at this address (${status}); does the path of the address miss a part?`,
    );
  }
  return refused('bad_answer', `answers with ${status} and not as a Prometheus API does`);
}

/** An error in the API's own form, with whatever status. */
export function apiError(
  told: ApiError,
  status: number,
  { host, title }: Pick<Endpoint, 'host' | 'title'>,
  refused: (code: SourceErrorCode, what: string) => SourceError = (code, what) =>
    new SourceError(code, `${host} ${what}: ${clipped(told.error)}`),
): SourceError {
  if (told.errorType === 'timeout' || isTimeout(told.error)) return refused('timeout', 'gave the query up');
  // Thanos answers 422 when a store behind it does not, as it does for a query that cannot be evaluated.
  if (isStorageFailure(told.error)) return refused('server_error', 'cannot read its own storage');
  if (status >= 500 || told.errorType === 'internal' || told.errorType === 'unavailable') {
    return refused('server_error', status === 200 ? 'answers with an error' : `answers with the error ${status}`);
  }
  if (status === 404) return refused('bad_answer', 'has no query API at this address (404)');
  return new SourceError('bad_query', `${title} refuses the query: ${clipped(told.error)}`);
}

function isTimeout(sentence: string): boolean {
  return /\b(?:timeout|deadline) exceeded\b|\bquery timed out\b/i.test(sentence);
}

function isStorageFailure(sentence: string): boolean {
  return /\brpc error: code = |\bexpanding series: |\bremote_?read: /i.test(sentence);
}

function apiErrorOf(body: Buffer): ApiError | undefined {
  try {
    const { error, errorType } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
    if (typeof error !== 'string' || error === '') return undefined;
    return { error, errorType: typeof errorType === 'string' ? errorType : '' };
  } catch {
    return undefined;
  }
}

/** Pages for browsers say nothing that belongs into a sentence. */
function plainTextOf({ headers, body }: Exchanged): string {
  const text = body.toString('utf8').trim();
  const isMarkup = /html|xml/i.test(String(headers['content-type'] ?? '')) || text.startsWith('<');
  return isMarkup ? '' : text;
}

/** A redirect would carry the credentials to an address that nobody gave. */
function redirected({ status, headers }: Exchanged, host: string): SourceError {
  const location = String(headers.location ?? '');
  const base = `http://${host}`;
  const target = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const where = target === undefined ? '' : ` to ${target.host === host ? '' : target.origin}${target.pathname}`;
  return new SourceError(
    'bad_answer',
    `${host} redirects${clipped(where)} (${status}), which is not followed: is it a login page, or has the API another address?`,
  );
}

/** Milliseconds. Source: RFC 9110 section 10.2.3. */
function retryAfterOf(header: string | string[] | undefined, now: number): number | undefined {
  const text = String(header ?? '').trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** One line of bounded length. */
export function clipped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  const line = text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trimEnd();
  return line.length <= MOST_TOLD ? line : `${line.slice(0, MOST_TOLD)}…`;
}

/** Shorter ones would take pieces out of ordinary words; tenants are often called `1`. */
const SHORTEST_SECRET = 4;

/** The text with every secret of the data source taken out, in case the server repeats one. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  return long.sort((a, b) => b.length - a.length).reduce((left, secret) => left.replaceAll(secret, '********'), text);
}
