/** Stands for the edge network's API and for an intake: answers what the test says and keeps what it was asked. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface StubServer {
  readonly origin: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** A server on a free port; `reply` sees each request with its number from 0. Null cuts the connection. */
export async function startStub(reply: (request: SeenRequest, index: number) => Reply | null): Promise<StubServer> {
  const seen: SeenRequest[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const kept = { method, url, headers, body: Buffer.concat(chunks) };
      const answer = reply(kept, seen.push(kept) - 1);
      if (answer === null) {
        request.socket.destroy();
        return;
      }
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Cloudflare's envelope. */
export const succeeded = (result: unknown): Reply => ({
  body: JSON.stringify({ success: true, errors: [], messages: [], result }),
});

export const failed = (status: number, code: number, message: string): Reply => ({
  status,
  body: JSON.stringify({ success: false, errors: [{ code, message }], messages: [], result: null }),
});
