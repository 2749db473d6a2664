/** A proxy that makes each write to a service slow, so that an apply can be interrupted in its middle. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SlowProxy {
  /** `http://127.0.0.1:PORT/api/v4` */
  readonly apiBaseUrl: string;
  stop(): Promise<void>;
}

export async function startSlowProxy(apiBaseUrl: string, delayMs: number): Promise<SlowProxy> {
  const target = new URL(apiBaseUrl);
  const server = createServer((incoming, outgoing) => {
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
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
