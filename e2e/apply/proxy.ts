/** A proxy in front of a service that does what a bad network does, to the requests a test picks. */
import { createServer, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Passing {
  readonly method: string;
  /** Below the organisation, or the whole path for others. */
  readonly path: string;
  readonly body: string;
  /** Counts requests from 1. */
  readonly number: number;
}

/**
 * `drop`: cut before the service sees it. `lose`: the service acts, the answer is cut. `acted`: like `lose`, and something
 * happens between the two. Or an answer that the proxy makes up.
 */
export type Fate =
  | { readonly acted: () => void }
  | 'pass'
  | 'drop'
  | 'lose'
  | { readonly status: number; readonly body?: unknown; readonly headers?: Record<string, string> };

export interface FaultyProxy {
  /** Stands for the service's base address, with `/api/v4`. */
  readonly base: string;
  readonly seen: Passing[];
  /** Decides what happens to each request; all pass until it is set. May wait, or do something first. */
  fate: (passing: Passing) => Fate | Promise<Fate>;
  stop(): Promise<void>;
}

export async function startProxy(base: () => string): Promise<FaultyProxy> {
  const seen: Passing[] = [];
  const proxy = createServer(async (incoming, outgoing) => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const path = incoming.url!.replace(/^\/api\/v4\/organizations\/[^/]+/, '');
    const passing = { method: incoming.method!, path, body, number: seen.length + 1 };
    seen.push(passing);
    const fate = await result.fate(passing);
    if (fate === 'drop') return void outgoing.socket?.destroy();
    if (typeof fate === 'object' && 'status' in fate) {
      const headers = { 'content-type': 'application/json', ...fate.headers };
      return void outgoing.writeHead(fate.status, headers).end(JSON.stringify(fate.body ?? {}));
    }
    forward(
      new URL(incoming.url!, base()),
      { method: incoming.method!, headers: incoming.headers, body },
      outgoing,
      fate,
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const result: FaultyProxy = {
    base: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/api/v4`,
    seen,
    fate: () => 'pass',
    stop: () =>
      new Promise<void>((resolve) => {
        proxy.close(() => resolve());
        proxy.closeAllConnections();
      }),
  };
  return result;
}

interface Forwarded {
  readonly method: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

function forward(url: URL, { method, headers, body }: Forwarded, outgoing: ServerResponse, fate: Fate): void {
  const request = send(url, { method, headers: { ...headers, host: url.host } }, (answer) => {
    if (fate !== 'pass') {
      answer.resume();
      answer.on('end', () => {
        if (typeof fate === 'object' && 'acted' in fate) fate.acted();
        outgoing.socket?.destroy();
      });
      return;
    }
    outgoing.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.socket?.destroy());
  });
  request.on('error', () => outgoing.socket?.destroy());
  request.end(body);
}
