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
  return {
    requests: () => requests,
    async ask(url, request, asked) {
      requests += 1;
      let where: 'asking' | 'answer' = 'asking';
      try {
        const response = await fetch(url, request);
        where = 'answer';
        const { status, headers } = response;
        const contentType = headers.get('content-type') ?? '';
        const retryAfter = headers.get('retry-after');
        return {
          status,
          contentType,
          retryAfter,
          revision: revisionOf(headers.get('etag')),
          text: await response.text(),
        };
      } catch (error) {
        if (request.signal?.aborted) throw new ApiError('cancelled', 'The request was cancelled.', { ambiguous: true });
        throw transportFailure(error, asked.origin, where);
      }
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
