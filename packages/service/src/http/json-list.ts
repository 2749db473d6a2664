/** Long lists as JSON, page by page, so that ten thousand rules neither block the event loop nor fill the memory. */
import { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Objects read and printed between two breaths of the event loop: some 10 ms of work. */
const PAGE = 500;

interface Identified {
  readonly id: string;
}

/** Gives the objects after an id, at most `limit` of them, in the order of their ids. */
export type ReadPage<T extends Identified> = (after: string, limit: number) => Promise<T[]>;

/** Sends `before`, the objects with commas between them, and `after`: for example `[`, `]`. */
export async function sendList<T extends Identified>(
  reply: FastifyReply,
  before: string,
  after: string,
  readPage: ReadPage<T>,
): Promise<FastifyReply> {
  void reply.type('application/json; charset=utf-8');
  const first = await readPage('', PAGE);
  if (first.length < PAGE) return reply.send(before + print(first) + after);
  return reply.send(Readable.from(chunks(before, after, first, readPage)));
}

async function* chunks<T extends Identified>(
  before: string,
  after: string,
  first: T[],
  readPage: ReadPage<T>,
): AsyncGenerator<string> {
  yield before + print(first);
  for (let page = first; page.length === PAGE; ) {
    await breathe();
    page = await readPage(page.at(-1)!.id, PAGE);
    if (page.length > 0) yield `,${print(page)}`;
  }
  yield after;
}

function print(objects: readonly unknown[]): string {
  return objects.map((object) => JSON.stringify(object)).join(',');
}
