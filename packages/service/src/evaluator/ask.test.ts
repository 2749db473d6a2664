import { afterEach, describe, expect, it } from 'vitest';
import { createHttpSource } from '../data-source/http-source.ts';
import type { ResolvedSource } from '../data-source/sources.ts';
import { matrix, type ScriptedServer, send, startScriptedServer } from '../data-source/testdata/scripted-server.ts';
import { createAsk } from './ask.ts';

const OK = send(200, matrix([]));

describe('asking a data source', () => {
  let server: ScriptedServer;
  const opened: ResolvedSource[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(({ client }) => client.close()));
    await server.stop();
  });

  function source(concurrency: number): ResolvedSource {
    const client = createHttpSource({ url: server.url, properties: { concurrency } });
    const resolved = { id: 'one', name: 'metrics', flavour: 'prometheus', client, concurrency } as const;
    opened.push(resolved);
    return resolved;
  }

  it('goes on with as many queries at a time as the source says now', async () => {
    let open = 0;
    let most = 0;
    server = await startScriptedServer((response, asked) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        OK(response, asked);
      }, 5);
    });
    const ask = createAsk({ measure: () => undefined, retryDelay: () => 1 });
    const { signal } = new AbortController();
    const mostOf = async (concurrency: number) => {
      const resolved = source(concurrency);
      most = 0;
      await Promise.all(
        Array.from({ length: 20 }, () => ask(resolved, { query: 'up', start: 0, end: 60, step: 60, signal })),
      );
      return most;
    };
    expect(await mostOf(2)).toBe(2);
    expect(await mostOf(5)).toBe(5);
    expect(await mostOf(1)).toBe(1);
  });

  it('asks once more after a failure of the source, and not after a refusal of the query', async () => {
    const ask = createAsk({ measure: () => undefined, retryDelay: () => 1 });
    const { signal } = new AbortController();
    const request = { query: 'up', start: 0, end: 60, step: 60, signal };
    server = await startScriptedServer(send(500, { status: 'error', error: 'broken' }));
    const resolved = source(1);
    await expect(ask(resolved, request)).rejects.toThrow();
    expect(server.asked).toHaveLength(2);
    server.answer(send(400, { status: 'error', errorType: 'bad_data', error: 'no query' }));
    await expect(ask(resolved, request)).rejects.toThrow();
    expect(server.asked).toHaveLength(3);
  });
});
