import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineLink } from './engine-link.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the link to a server', () => {
  let server: Server;
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function linkTo(answer: Parameters<typeof createServer>[1]): Promise<EngineLink> {
    server = createServer(answer!);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new EngineLink({ dataDirectory: 'unused', engine: { kind: 'server', url }, log: quiet });
  }

  it('is stopped although the server never answers', async () => {
    const asked = Promise.withResolvers<void>();
    const link = await linkTo(() => asked.resolve());
    link.start();
    await asked.promise;
    await link.stop();
    expect(link.state()).toEqual({ phase: 'stopped' });
  });

  it('is stopped between two attempts, and says before why it is not ready', async () => {
    const link = await linkTo((_request, response) => {
      response.writeHead(500, { 'X-ClickHouse-Exception-Code': '210' });
      response.end('Code: 210. DB::NetException: no network. (NETWORK_ERROR)');
    });
    link.start();
    while (link.state().phase !== 'unavailable') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(link.state()).toMatchObject({ reason: expect.stringMatching(/no network/) });
    await link.stop();
    expect(link.state()).toEqual({ phase: 'stopped' });
  });
});
