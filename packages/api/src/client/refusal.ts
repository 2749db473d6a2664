/** Turns an answer that is not a success, or not what was asked for, into an error with a code and a sentence. */
import { ApiError, type ApiErrorCode, type ApiErrorDetail } from './api-error.ts';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  /** The value of `Retry-After`, or null. */
  readonly retryAfter: string | null;
  /** The organisation's revision, from `ETag`; null when there is none. */
  readonly revision: number | null;
  readonly text: string;
}

export interface Asked {
  readonly method: string;
  readonly origin: string;
  /** Path without the query string. */
  readonly path: string;
  readonly org: string;
  /** `read`, `write` or `delete`: the token that was used. */
  readonly scope: string;
}

interface Said {
  readonly sentence: string;
  readonly code: string;
  readonly details: readonly ApiErrorDetail[];
}

/** Milliseconds that `Retry-After` asks for: seconds or an HTTP date (RFC 9110, 10.2.3). Undefined: absent or unreadable. */
function retryAfterMs(value: string | null, now: number): number | undefined {
  if (value === null || value.trim() === '') return undefined;
  const seconds = Number(value.trim());
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Whether the text is a web page: the address then is not that of the API. */
export function isWebPage(answer: Answer): boolean {
  return /\bhtml\b/i.test(answer.contentType) || /^\s*<(!doctype|html|head|body)/i.test(answer.text);
}

const LONGEST_QUOTE = 500;

function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > LONGEST_QUOTE ? `${line.slice(0, LONGEST_QUOTE)}…` : line;
}

function detailsOf(value: unknown): ApiErrorDetail[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { path, message, from, to } = each as Record<string, unknown>;
    if (typeof message !== 'string') return [];
    const place = typeof from === 'number' && typeof to === 'number' ? { from, to } : {};
    return [{ path: typeof path === 'string' ? path : '', message: quote(message), ...place }];
  });
}

/** What the body says, in any of the shapes in use: `{error: "…"}`, `{error: {message, code}}`, `{message}`, or bare text. */
function said(answer: Answer): Said {
  if (isWebPage(answer)) return { sentence: '', code: '', details: [] };
  try {
    const body = JSON.parse(answer.text) as Record<string, unknown> | null;
    const error = body?.['error'];
    const inner = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
    const sentence = [error, inner?.['message'], body?.['message']].find((each) => typeof each === 'string');
    const code = [body?.['code'], inner?.['code']].find((each) => typeof each === 'string');
    return {
      sentence: quote((sentence as string) ?? ''),
      code: (code as string) ?? '',
      details: detailsOf(body?.['details']),
    };
  } catch {
    return { sentence: quote(answer.text), code: '', details: [] };
  }
}

function withReason(start: string, reason: string, advice = ''): string {
  const middle = reason === '' ? '.' : `: ${reason.replace(/[.\s]+$/, '')}.`;
  return `${start}${middle}${advice === '' ? '' : ` ${advice}`}`;
}

/** Lists that every organisation has: a 404 there is about the organisation or the address, never an empty list. */
const ALWAYS_THERE = /\/organizations\/[^/]+\/(entities|alert-rules|notification_settings|datasources)$/;

function notFound(asked: Asked, words: Said): ApiError {
  if (words.code === 'unknown_organization' || (asked.method === 'GET' && ALWAYS_THERE.test(asked.path))) {
    const advice =
      'Check "org" and "api_base_url" in the config file: org is the slug in the dashboard address after /organizations/.';
    const message = `${asked.origin} has no organization "${asked.org}". ${advice}`;
    return new ApiError('unknown_organization', message, { status: 404 });
  }
  return new ApiError('not_found', withReason(`Not found: ${asked.method} ${asked.path}`, words.sentence), {
    status: 404,
  });
}

const PLAIN: Readonly<Record<number, readonly [ApiErrorCode, string, string?]>> = {
  409: ['conflict', 'The service refused, since it would clash with what it holds'],
  412: ['revision_moved', 'The organization has changed since the plan was made, so nothing was sent. Run plan again'],
  413: ['bad_request', 'The service refused the request as too large'],
};

function credentialsRefused(asked: Asked, answer: Answer, words: Said): ApiError {
  if (answer.status === 403) {
    const start = `The ${asked.scope} token may not do ${asked.method} ${asked.path}`;
    const advice = `Check that api_config.${asked.scope} in the config file holds a ${asked.scope} token of organization "${asked.org}".`;
    return new ApiError('scope_too_low', withReason(start, words.sentence, advice), { status: 403 });
  }
  const advice = `Create a new ${asked.scope} token on the API access page and put it into api_config.${asked.scope} of the config file.`;
  return new ApiError(
    'credentials_refused',
    withReason(`${asked.origin} refused the ${asked.scope} token`, words.sentence, advice),
    {
      status: answer.status,
    },
  );
}

/** The error for a status of 400 or more. */
export function refusal(answer: Answer, asked: Asked, now: number): ApiError {
  const words = said(answer);
  const { status } = answer;
  if (status === 429) {
    return new ApiError('rate_limited', withReason(`${asked.origin} asks for fewer requests (429)`, words.sentence), {
      status,
      retryable: true,
      retryAfterMs: retryAfterMs(answer.retryAfter, now),
    });
  }
  if (status >= 500) {
    const reason = isWebPage(answer)
      ? 'it answered with a web page, as a proxy does while the service is down'
      : words.sentence;
    return new ApiError('service_error', withReason(`${asked.origin} failed with status ${status}`, reason), {
      status,
      retryable: status === 502 || status === 503 || status === 504,
      // A 503 of our own means "not done"; one of a proxy in front may come after the work was done.
      ambiguous: true,
      retryAfterMs: retryAfterMs(answer.retryAfter, now),
    });
  }
  if (isWebPage(answer)) return notTheApi(asked, status);
  if (status === 401 || status === 403 || words.code === 'invalid_access_token')
    return credentialsRefused(asked, answer, words);
  if (status === 404) return notFound(asked, words);
  const [code, start, advice] = PLAIN[status] ?? [
    'bad_request',
    `The service refused ${asked.method} ${asked.path} (${status})`,
  ];
  const listed = words.details.map((detail) =>
    detail.path === '' ? detail.message : `${detail.path}: ${detail.message}`,
  );
  const news = listed.filter((detail) => !words.sentence.includes(detail));
  const reason = [words.sentence, ...news].filter((part) => part !== '').join('; ');
  return new ApiError(code, withReason(start, reason, advice), { status, details: words.details });
}

/** A web page where JSON was due. */
export function notTheApi(asked: Asked, status: number): ApiError {
  const advice = 'This is not the API. Check api_base_url in the config file: it ends in /api/v4.';
  return new ApiError('not_the_api', `${asked.origin}${asked.path} answered with a web page. ${advice}`, { status });
}

/** A success whose body cannot be read as what was asked for. `problem` names a place and a reason, never the content. */
export function badAnswer(asked: Asked, status: number, problem: string): ApiError {
  const start = `${asked.origin} gave an answer to ${asked.method} ${asked.path} that cannot be read: ${problem}`;
  const advice = 'Check api_base_url, and that the service has the same version as this tool.';
  return new ApiError('bad_answer', `${start}. ${advice}`, {
    status,
    ambiguous: true,
    retryable: asked.method === 'GET',
  });
}
