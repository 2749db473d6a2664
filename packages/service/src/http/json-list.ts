/** Long lists as JSON, page by page, so that ten thousand rules neither block the event loop nor fill the memory. */
import { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';

/** Objects read and printed between two breaths of the event loop: some 10 ms of work. */
const PAGE = 500;

type Pages = AsyncGenerator<readonly unknown[], void>;

/** Gives the objects after an id (undefined: from the first), at most `limit` of them, in the order of their ids. */
export type ReadPage<Id> = (after: Id | undefined, limit: number) => Promise<readonly { readonly id: Id }[]>;

/** Reads page after page until one is not full. */
export async function* pagesOf<Id>(readPage: ReadPage<Id>): Pages {
  for (let after: Id | undefined; ; ) {
    const page = await readPage(after, PAGE);
    yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
    await breathe();
  }
}

/** Sends `before`, all objects with commas between them, and `after`: for example `[` and `]`. A short list goes in one piece. */
export async function sendList(
  reply: FastifyReply,
  before: string,
  after: string,
  pages: Pages,
): Promise<FastifyReply> {
  void reply.type('application/json; charset=utf-8');
  const texts = print(before, after, pages);
  const pieces = [(await texts.next()).value, (await texts.next()).value, await texts.next()] as const;
  const [first, second, third] = pieces;
  const head = `${first ?? ''}${second ?? ''}`;
  if (third.done) return reply.send(head);
  return reply.send(Readable.from(concatenate(`${head}${third.value}`, texts)));
}

async function* print(before: string, after: string, pages: Pages): AsyncGenerator<string, void> {
  let lead = before;
  for await (const page of pages) {
    if (page.length === 0) continue;
    yield lead + page.map((object) => JSON.stringify(object)).join(',');
    lead = ',';
  }
  yield lead === before ? before + after : after;
}

async function* concatenate(head: string, rest: AsyncGenerator<string, void>): AsyncGenerator<string> {
  yield head;
  yield* rest;
}
