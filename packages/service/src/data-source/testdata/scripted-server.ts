/** An HTTP(S) server of a test that answers each request as the test says, and remembers what it was asked. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
  /** Counts the connections from 1. */
  readonly connection: number;
}

export type Script = (response: ServerResponse, asked: Asked) => void;

export interface ScriptedServer {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  /** What every later request gets. */
  answer(script: Script): void;
  stop(): Promise<void>;
}

/** @param tls undefined: without TLS */
export async function startScriptedServer(script: Script, tls?: ServerOptions): Promise<ScriptedServer> {
  let answer = script;
  const asked: Asked[] = [];
  const connections = new Map<object, number>();
  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (!connections.has(request.socket)) connections.set(request.socket, connections.size + 1);
    asked.push({
      method: request.method!,
      url: request.url!,
      headers: request.headers,
      form: Object.fromEntries(new URLSearchParams(body)),
      connection: connections.get(request.socket)!,
    });
    answer(response, asked.at(-1)!);
  };
  // A client that goes away in the middle is part of the tests.
  const listener = (request: IncomingMessage, response: ServerResponse) => void onRequest(request, response).catch(() => undefined);
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    asked,
    answer: (next) => {
      answer = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A whole answer with a status, as JSON unless the headers say otherwise. */
export function send(status: number, body: unknown, headers: Record<string, string> = {}): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  };
}

/** The success of a range query. */
export function matrix(result: unknown, more: object = {}): object {
  return { status: 'success', data: { resultType: 'matrix', result }, ...more };
}
