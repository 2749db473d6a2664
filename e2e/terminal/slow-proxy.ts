/** A proxy that makes each write to a service slow, so that an apply can be interrupted in its middle, and keeps what was asked. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SlowProxy {
  /** `http://127.0.0.1:PORT/api/v4` */
  readonly apiBaseUrl: string;
  /** `METHOD /path` of every request so far. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

export async function startSlowProxy(apiBaseUrl: string, delayMs: number): Promise<SlowProxy> {
  const target = new URL(apiBaseUrl);
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(`${incoming.method} ${incoming.url}`);
    const isWrite = incoming.method !== 'GET' && incoming.url?.endsWith('/oauth/access_token') === false;
    const forward = () => {
      const onward = request(
        {
          host: target.hostname,
          port: target.port,
          path: incoming.url,
          method: incoming.method,
          headers: incoming.headers,
        },
        (answer) => {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(outgoing);
        },
      );
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    };
    setTimeout(forward, isWrite ? delayMs : 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiBaseUrl: `http://127.0.0.1:${port}/api/v4`,
    requests,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
