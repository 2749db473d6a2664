/** Stands between the service and a metrics server, and fails as data sources do. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * `refused`: nobody listens. `cut`: the connection ends without an answer. `silent`: no answer ever comes. `partial`: the answer says that it leaves
 * out data. `unauthorized`, `error`, `busy`: the status 401, 500, 503. `half`: the answer stops in its middle.
 */
export type Fault = 'none' | 'refused' | 'cut' | 'silent' | 'partial' | 'unauthorized' | 'error' | 'busy' | 'half';

export interface FaultySource {
  readonly url: string;
  /** Queries that came. */
  readonly queries: readonly Query[];
  fail(fault: Fault): Promise<void>;
  stop(): Promise<void>;
}

export interface Query {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** @param target base address of the real server */
export async function startFaultySource(target: string): Promise<FaultySource> {
  const source = new Relay(target);
  await source.open(0);
  return source;
}

const STATUS: Readonly<Partial<Record<Fault, number>>> = { unauthorized: 401, error: 500, busy: 503 };

class Relay implements FaultySource {
  readonly queries: Query[] = [];
  readonly #target: string;
  #fault: Fault = 'none';
  #server: Server | undefined;
  #port = 0;

  constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(port: number): Promise<void> {
    const server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  async fail(fault: Fault): Promise<void> {
    const isOpen = this.#server !== undefined;
    this.#fault = fault;
    if (fault === 'refused') await this.stop();
    else if (!isOpen) await this.open(this.#port);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { authorization } = request.headers;
    this.queries.push({ path: request.url ?? '', authorization, form: new URLSearchParams(body) });
    const status = STATUS[this.#fault];
    if (this.#fault === 'silent') return;
    if (this.#fault === 'cut') {
      request.socket.destroy();
      return;
    }
    if (status !== undefined) {
      response.writeHead(status, { 'content-type': 'text/plain' }).end('not now');
      return;
    }
    const answer = await fetch(`${this.#target}${request.url}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const full = await answer.text();
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    if (this.#fault === 'partial') response.end(full.replace('{', '{"isPartial":true,'));
    else if (this.#fault === 'half') response.end(full.slice(0, full.length / 2));
    else response.end(full);
  }
}
