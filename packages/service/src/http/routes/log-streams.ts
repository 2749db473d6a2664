/** Log search whose answer has no end or no bound: the live tail as server-sent events, and exports. */
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import * as wire from '@obsiac/api';
import type { Query } from '@obsiac/model';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { TailBatch } from '../../log-store/index.ts';
import { Refusal } from '../../refusal.ts';
import { type Api, type Context, READ, reads } from '../api.ts';
import { readQuery, toSearchRefusal } from '../log-errors.ts';
import { parseTime } from '../log-time.ts';
import { type Asked, askedBy, clientGone, common, SEARCH_CODES } from './logs.ts';

/** Milliseconds between two comments of a tail: proxies close connections that are silent. */
const HEARTBEAT = 15_000;

const TYPES = { raw: 'application/x-ndjson', ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;

export function logStreamRoutes(app: Api, context: Context): void {
  const tails = new Set<AbortController>();
  // A tail ends by itself only when its client goes: it must not hold up the end of the service.
  app.addHook('preClose', async () => {
    for (const tail of tails) tail.abort(new Error('the service stops'));
  });
  both(app, 'tail', 'Follow logs', wire.logTailRequest, ['text/event-stream'], async (request, reply, input) => {
    const asked = askedBy(context, request, reply);
    const query = readQuery(input.query, `${asked.part}.query`);
    if (query.pipes.length > 0) throw new Refusal('query_invalid', 'A query that is followed has no pipes.');
    const from = parseTime(input.from, `${asked.part}.from`, asked.now);
    const stop = new AbortController();
    tails.add(stop);
    const signal = AbortSignal.any([asked.signal, stop.signal]);
    signal.addEventListener('abort', () => tails.delete(stop), { once: true });
    reply.raw.once('close', () => stop.abort(new Error('the answer ended')));
    const events = tailEvents({ ...asked, signal }, { query, from });
    return reply.type('text/event-stream').send(Readable.from(events, { objectMode: false }));
  });
  both(
    app,
    'export',
    'Export logs',
    wire.logExportRequest,
    ['application/x-ndjson', 'text/csv'],
    async (request, reply, input) => {
      const asked = askedBy(context, request, reply);
      const { format, fields, limit } = input;
      const bounds = { ...(fields === undefined ? {} : { fields }), ...(limit === undefined ? {} : { limit }) };
      const chunks = await begun(asked, () => asked.search.export({ ...common(input, asked), format, ...bounds }));
      const name = `logs.${format === 'csv' ? 'csv' : 'ndjson'}`;
      void reply.header('content-disposition', `attachment; filename="${name}"`).type(TYPES[format]);
      return reply.send(Readable.from(chunks, { objectMode: false }));
    },
  );
}

type Work<Input extends z.ZodType> = (
  request: FastifyRequest,
  reply: FastifyReply,
  input: z.output<Input>,
) => Promise<FastifyReply>;

/** @param types content types of the answer */
function both<Input extends z.ZodType>(
  app: Api,
  name: string,
  summary: string,
  input: Input,
  types: readonly string[],
  work: Work<Input>,
): void {
  const content = Object.fromEntries(types.map((type) => [type, { schema: z.string() }]));
  const refusals = reads(wire.errorBody, 'bad_request', 'query_invalid', ...SEARCH_CODES);
  const response = { ...refusals, 200: { description: 'As it comes', content } } as unknown as typeof refusals;
  const tags = ['Logs'];
  app.get(
    `/logs/${name}`,
    { config: READ, schema: { tags, summary, querystring: input, response } },
    (request, reply) => work(request, reply, request.query as z.output<Input>),
  );
  app.post(
    `/logs/${name}`,
    { config: READ, schema: { tags, summary: `${summary} with body`, body: input, response } },
    (request, reply) => work(request, reply, request.body as z.output<Input>),
  );
}

/** Milliseconds that the status waits for the first part. Clients give up on an answer that does not begin. */
const BEGIN_WITHIN = 20_000;

/** Waits for the first part, so that what goes wrong before it is a refusal and not a broken answer; but not for ever. */
async function begun(asked: Asked, start: () => AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  try {
    const chunks = start();
    const first = chunks.next();
    await Promise.race([first, setTimeout(BEGIN_WITHIN, undefined, { ref: false })]);
    return afterFirst(first, chunks);
  } catch (error) {
    throw asked.signal.aborted ? clientGone() : toSearchRefusal(error);
  }
}

async function* afterFirst(
  first: Promise<IteratorResult<Buffer>>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* rest;
}

async function* tailEvents(
  { search, org, signal }: Asked,
  follow: { query: Query; from: bigint },
): AsyncGenerator<Buffer> {
  // At once, so that the client knows that it is connected.
  yield Buffer.from(': following\n\n');
  try {
    for await (const batch of withHeartbeat(search.tail({ ...follow, org, signal }))) {
      if (batch === 'heartbeat') yield Buffer.from(':\n\n');
      else {
        if (batch.dropped > 0) yield event('dropped', { count: batch.dropped });
        if (batch.records.length > 0) yield Buffer.concat(batch.records.map((record) => event('record', record)));
      }
    }
  } catch (error) {
    if (signal.aborted) return;
    const refusal = toSearchRefusal(error);
    if (!(refusal instanceof Refusal)) throw error;
    yield event('error', { error: refusal.message, code: refusal.code });
  }
}

/** The batches, and a heartbeat for each stretch of time without one. */
async function* withHeartbeat(batches: AsyncGenerator<TailBatch>): AsyncGenerator<TailBatch | 'heartbeat'> {
  try {
    for (let pending = batches.next(); ; ) {
      let timer: NodeJS.Timeout | undefined;
      const silence = new Promise<'heartbeat'>((resolve) => {
        timer = globalThis.setTimeout(resolve, HEARTBEAT, 'heartbeat');
      });
      const first = await Promise.race([pending, silence]);
      clearTimeout(timer);
      if (first === 'heartbeat') {
        yield first;
        continue;
      }
      if (first.done === true) return;
      yield first.value;
      pending = batches.next();
    }
  } finally {
    // Not waited for: it comes back when its signal aborts.
    void batches.return(undefined);
  }
}

function event(name: string, data: unknown): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
