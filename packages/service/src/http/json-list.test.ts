import fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { pagesOf, sendList } from './json-list.ts';

const objects = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index + 1, text: `"${index}` }));

let app: FastifyInstance;
afterEach(() => app.close());

/** Serves the list that `pages` makes and answers with what a client got. */
async function request(pages: () => AsyncGenerator<readonly unknown[], void>) {
  app = fastify();
  app.get('/', (_request, reply) => sendList(reply, '{"list":[', '],"end":1}', pages()));
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  return fetch(origin);
}

const paged = (all: { id: number }[]) => () =>
  pagesOf<number>(async (after, limit) => all.filter((each) => each.id > (after ?? 0)).slice(0, limit));

describe('a list', () => {
  it.each([0, 1, 499, 500, 501, 1000, 1501])('of %d objects arrives whole', async (count) => {
    const response = await request(paged(objects(count)));
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toEqual({ list: objects(count), end: 1 });
  });

  it('goes in one piece with its length when it is short, and as a stream when it is long', async () => {
    const short = await request(paged(objects(3)));
    expect(Number(short.headers.get('content-length'))).toBe((await short.text()).length);
    await app.close();
    const long = await request(paged(objects(2000)));
    expect(long.headers.get('content-length')).toBeNull();
    expect(((await long.json()) as { list: unknown[] }).list).toHaveLength(2000);
  });

  it('joins pages of any size, empty ones too', async () => {
    const response = await request(async function* () {
      yield [];
      yield [1];
      yield [];
      yield [2, 3];
      yield [];
      yield [4];
    });
    expect(await response.json()).toEqual({ list: [1, 2, 3, 4], end: 1 });
  });

  it('answers an error when reading fails at once', async () => {
    const response = await request(async function* () {
      yield* [] as unknown[][];
      throw new Error('no store');
    });
    expect(response.status).toBe(500);
  });

  it('is cut off, never completed, when reading fails on the way', async () => {
    const response = await request(async function* () {
      for (let page = 0; page < 3; page += 1) yield objects(500);
      throw new Error('no store');
    });
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow();
  });
});
