/** Log search: one endpoint for each widget of the explorer, by GET and by POST. */
import * as wire from '@obsiac/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { LogSearch } from '../../log-store/index.ts';
import { notFound, Refusal } from '../../refusal.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { identityOf } from '../authentication.ts';
import { readQuery, toSearchRefusal } from '../log-errors.ts';
import { parseRange, parseTime, stepFor } from '../log-time.ts';

/** What a search is made of besides its own parameters. */
export interface Asked {
  readonly search: LogSearch;
  readonly org: string;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** `query` or `body`: where the parameters stand. */
  readonly part: string;
  /** Nanoseconds since the Unix epoch. */
  readonly now: bigint;
}

export function logRoutes(app: Api, context: Context): void {
  const at = endpoints(app, context);
  at('query', 'Query logs', wire.logQueryRequest, wire.logQueryAnswer, (input, asked) => {
    const { limit, order, offset } = input;
    return asked.search.query({ ...common(input, asked), limit, order, ...(offset ? { offset } : {}) });
  });
  at('hits', 'Count logs over time', wire.logHitsRequest, wire.logHitsAnswer, (input, asked) => {
    const search = common(input, asked);
    const seconds = input.step ?? stepFor(search, input.buckets);
    const step = BigInt(Math.max(1, Math.round(seconds * 1e9)));
    return asked.search.hits({ ...search, step, ...(input.by === undefined ? {} : { by: input.by }) });
  });
  at('facets', 'Find the frequent values of log fields', wire.logFacetsRequest, wire.logFacetsAnswer, (input, asked) =>
    asked.search.facets({
      ...common(input, asked),
      limit: input.limit,
      ...(input.fields === undefined ? {} : { fields: input.fields }),
    }),
  );
  at('field_names', 'List log fields', wire.logFieldNamesRequest, wire.logFieldNamesAnswer, (input, asked) =>
    asked.search.fieldNames({ ...common(input, asked), limit: input.limit }),
  );
  at(
    'field_values',
    'List the values of a log field',
    wire.logFieldValuesRequest,
    wire.logFieldValuesAnswer,
    (input, asked) => {
      const { field, prefix, limit } = input;
      return asked.search.fieldValues({ ...common(input, asked), field, prefix, limit });
    },
  );
  at('context', 'Show what was logged around a record', wire.logContextRequest, wire.logContextAnswer, contextOf);
}

async function contextOf(input: z.output<typeof wire.logContextRequest>, asked: Asked) {
  const { id, before, after, same } = input;
  const timestamp = parseTime(input.timestamp, `${asked.part}.timestamp`, asked.now);
  const place = { org: asked.org, id, timestamp, before, after, signal: asked.signal };
  const found = await asked.search.context({ ...place, ...(same === undefined ? {} : { same }) });
  if (found === undefined) throw notFound('log record', id);
  return found;
}

/** @throws Refusal */
export function common(input: { query: string; from: string; to: string }, { org, signal, part, now }: Asked) {
  const query = readQuery(input.query, `${part}.query`);
  return { org, signal, query, ...parseRange(input, part, now) };
}

function endpoints(app: Api, context: Context) {
  return <Input extends z.ZodType, Answer extends z.ZodType>(
    name: string,
    summary: string,
    input: Input,
    answer: Answer,
    work: (input: z.output<Input>, asked: Asked) => Promise<z.output<Answer>>,
  ): void => {
    const response = reads(answer, 'bad_request', 'query_invalid', 'not_found', ...SEARCH_CODES);
    const handler = async (request: FastifyRequest, reply: FastifyReply) => {
      const asked = askedBy(context, request, reply);
      try {
        return await work((request.method === 'GET' ? request.query : request.body) as z.output<Input>, asked);
      } catch (error) {
        throw asked.signal.aborted ? clientGone() : toSearchRefusal(error);
      }
    };
    const tags = ['Logs'];
    app.get(`/logs/${name}`, { config: READ, schema: { tags, summary, querystring: input, response } }, handler);
    const byBody = { tags, summary: `${summary} with body`, body: input, response };
    app.post(`/logs/${name}`, { config: READ, schema: byBody }, handler);
  };
}

/** Codes that any search may be refused with. */
export const SEARCH_CODES = ['query_timeout', 'query_too_large', 'not_implemented'] as const;

/** Nobody reads this; it keeps a search that was given up out of the log of failures. */
export function clientGone(): Refusal {
  return new Refusal('bad_request', 'The client closed the connection.');
}

/** @throws Refusal `not_implemented` when this service keeps no logs */
export function askedBy({ logs, store }: Context, request: FastifyRequest, reply: FastifyReply): Asked {
  if (logs === undefined) {
    throw new Refusal('not_implemented', 'This service takes in no logs (setting logs), so there are none to search.');
  }
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client closed the connection'));
  });
  return {
    search: logs.store.search,
    org: identityOf(request).organizationId,
    signal: gone.signal,
    part: request.method === 'GET' ? 'query' : 'body',
    now: BigInt(store.now()) * 1_000_000n,
  };
}
