/** One HTTP exchange: a request out, an answer in, and what each can go wrong with. Nothing is repeated here. */
import { UnreadableAnswer } from './answers.ts';
import { ApiError } from './api-error.ts';
import { type Answer, type Asked, badAnswer, isWebPage, notTheApi, refusal } from './refusal.ts';
import { transportFailure } from './transport-failure.ts';

/** The part of a response that the client uses; a response of `fetch` fits. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** The answer as it comes; needed for exports and live tails alone. Read either this or `text`. */
  readonly body?: AsyncIterable<Uint8Array> | null;
}

export interface HttpRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export type Fetch = (url: string, request: HttpRequest) => Promise<HttpAnswer>;

export interface Transport {
  /** Throws `ApiError` when no whole answer came; an answer of any status is an answer. */
  ask(url: string, request: HttpRequest, asked: Asked): Promise<Answer>;
  /** Gives the body of a success as it comes; any other answer is a whole one. Throws `ApiError` when none began. */
  open(url: string, request: HttpRequest, asked: Asked): Promise<Answer | AsyncIterable<Uint8Array>>;
  /** The answer's JSON as `reader` understands it. Throws `ApiError` for a refusal and for what cannot be read. */
  read<T>(answer: Answer, asked: Asked, reader: (json: unknown) => T): T;
  requests(): number;
}

function revisionOf(etag: string | null): number | null {
  const match = /^(?:W\/)?"?(\d+)"?$/.exec(etag ?? '');
  return match === null ? null : Number(match[1]);
}

/** `redact` takes every known token out of a text before it may get into a message. */
export function createTransport(fetch: Fetch, now: () => number, redact: (text: string) => string): Transport {
  let requests = 0;
  const begin = async (url: string, request: HttpRequest, asked: Asked): Promise<HttpAnswer> => {
    requests += 1;
    try {
      return await fetch(url, request);
    } catch (error) {
      throw failure(error, request, asked, 'asking');
    }
  };
  const whole = async (response: HttpAnswer, request: HttpRequest, asked: Asked): Promise<Answer> => {
    const { status, headers } = response;
    try {
      return {
        status,
        contentType: headers.get('content-type') ?? '',
        retryAfter: headers.get('retry-after'),
        revision: revisionOf(headers.get('etag')),
        text: await response.text(),
      };
    } catch (error) {
      throw failure(error, request, asked, 'answer');
    }
  };
  return {
    requests: () => requests,
    ask: async (url, request, asked) => whole(await begin(url, request, asked), request, asked),
    async open(url, request, asked) {
      const response = await begin(url, request, asked);
      const { body, status } = response;
      if (status < 200 || status >= 300 || body === undefined || body === null) return whole(response, request, asked);
      return chunksOf(body, request, asked);
    },
    read(answer, asked, reader) {
      if (answer.status >= 400) throw refusal({ ...answer, text: redact(answer.text) }, asked, now());
      if (answer.status >= 300) throw badAnswer(asked, answer.status, `it redirects (${answer.status})`);
      if (isWebPage(answer)) throw notTheApi(asked, answer.status);
      try {
        return reader(answer.text === '' ? undefined : JSON.parse(answer.text));
      } catch (error) {
        throw badAnswer(
          asked,
          answer.status,
          error instanceof UnreadableAnswer ? error.message : 'it is not whole JSON',
        );
      }
    },
  };
}

function failure(error: unknown, request: HttpRequest, asked: Asked, where: 'asking' | 'answer'): ApiError {
  if (request.signal?.aborted) return new ApiError('cancelled', 'The request was cancelled.', { ambiguous: true });
  return transportFailure(error, asked.origin, where);
}

async function* chunksOf(
  body: AsyncIterable<Uint8Array>,
  request: HttpRequest,
  asked: Asked,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failure(error, request, asked, 'answer');
  }
}
