/** The client's side of log search. */
import type { z } from 'zod';
import {
  type LogContextAnswer,
  type LogContextRequest,
  type LogExportRequest,
  type LogFacetsAnswer,
  type LogFacetsRequest,
  type LogFieldNamesAnswer,
  type LogFieldNamesRequest,
  type LogFieldValuesAnswer,
  type LogFieldValuesRequest,
  type LogHitsAnswer,
  type LogHitsRequest,
  type LogQueryAnswer,
  type LogQueryRequest,
  type LogRecord,
  type LogTailRequest,
  logContextAnswer,
  logFacetsAnswer,
  logFieldNamesAnswer,
  logFieldValuesAnswer,
  logHitsAnswer,
  logQueryAnswer,
  logRecord,
} from '../logs.ts';
import { read } from './answers.ts';
import { ApiError } from './api-error.ts';
import { readEvents } from './events.ts';
import type { Sender } from './send.ts';

/** `dropped`: records left out since they came faster than they could be sent. */
export type LogTailEvent =
  | { readonly kind: 'record'; readonly record: LogRecord }
  | { readonly kind: 'dropped'; readonly count: number };

interface LogAsk {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Searches with the read token. A query that is none gives an `ApiError` of code `bad_request` whose `details` have `from` and `to`.
 * Breaking off a loop over `tail` or `export`, or the signal, ends the work in the service.
 */
export interface LogsClient {
  query(request: LogQueryRequest, ask?: LogAsk): Promise<LogQueryAnswer>;
  hits(request: LogHitsRequest, ask?: LogAsk): Promise<LogHitsAnswer>;
  facets(request: LogFacetsRequest, ask?: LogAsk): Promise<LogFacetsAnswer>;
  fieldNames(request: LogFieldNamesRequest, ask?: LogAsk): Promise<LogFieldNamesAnswer>;
  fieldValues(request: LogFieldValuesRequest, ask?: LogAsk): Promise<LogFieldValuesAnswer>;
  context(request: LogContextRequest, ask?: LogAsk): Promise<LogContextAnswer>;
  /** Ends only by the signal, by breaking off, or with an `ApiError`. */
  tail(request: LogTailRequest, ask?: LogAsk): AsyncIterable<LogTailEvent>;
  /** The bytes of the export as they come. */
  export(request: LogExportRequest, ask?: LogAsk): AsyncIterable<Uint8Array>;
}

export function createLogsClient(sender: Sender): LogsClient {
  const asking =
    <Request, Schema extends z.ZodType>(path: string, answer: Schema) =>
    async (request: Request, { signal }: LogAsk = {}): Promise<z.output<Schema>> => {
      const call = { method: 'POST', path: `/logs/${path}`, scope: 'read', body: request, signal } as const;
      return (await sender.send({ ...call, read: (json) => read(answer, json) })).value;
    };
  const streaming = (path: string, accept: string, body: unknown, { signal }: LogAsk): AsyncIterable<Uint8Array> =>
    sender.stream({ method: 'POST', path: `/logs/${path}`, scope: 'read', body, signal, accept });
  return {
    query: asking('query', logQueryAnswer),
    hits: asking('hits', logHitsAnswer),
    facets: asking('facets', logFacetsAnswer),
    fieldNames: asking('field_names', logFieldNamesAnswer),
    fieldValues: asking('field_values', logFieldValuesAnswer),
    context: asking('context', logContextAnswer),
    tail: (request, ask = {}) => tailEvents(streaming('tail', 'text/event-stream', request, ask)),
    export: (request, ask = {}) => streaming('export', '*/*', request, ask),
  };
}

async function* tailEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<LogTailEvent> {
  for await (const { event, data } of readEvents(chunks)) {
    const json: unknown = JSON.parse(data);
    if (event === 'record') yield { kind: 'record', record: read(logRecord, json) };
    else if (event === 'dropped') yield { kind: 'dropped', count: Number((json as { count: unknown }).count) };
    else if (event === 'error') {
      throw new ApiError('service_error', String((json as { error: unknown }).error), { retryable: true });
    }
  }
}
