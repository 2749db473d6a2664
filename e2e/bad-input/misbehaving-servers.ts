/** Servers that do what the real service never does: small, on loopback, one kind of misbehaviour each. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import path from 'node:path';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
};

const html = (status: number, body: string): Answer => {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html' }).end(body);
  };
};

/** A valid answer to the exchange of a token, so that the misbehaviour comes after it. */
const exchanged = json(200, {
  access_token: 'access',
  refresh_token: 'refresh',
  expires_at: 4_102_444_800,
  issued_at: 1_700_000_000,
  type: 'Bearer',
  scopes: ['read'],
});

/**
 * Requests come many at a time, and the first answer that fails is told. So that it is always the same one, the list of
 * alert managers alone is answered; the others wait until the client hangs up.
 */
const afterExchange = (answer: Answer): Answer => {
  return (request, response) => {
    if (request.url?.endsWith('/oauth/access_token') === true) exchanged(request, response);
    else if (request.url?.endsWith('/entities') === true) answer(request, response);
  };
};

/** Reads the whole request, then answers: an answer before the end would be a second misbehaviour. */
const polite = (answer: Answer): Answer => {
  return (request, response) => {
    request.resume().on('end', () => answer(request, response));
  };
};

const MAINTENANCE = '<html><body><h1>Maintenance Mode</h1></body></html>';

const ANSWERS = {
  html: html(200, '<!doctype html><title>Sign in</title>'),
  'html-after-exchange': afterExchange(html(200, '<!doctype html><title>Sign in</title>')),
  maintenance: html(502, MAINTENANCE),
  redirect: (_request: IncomingMessage, response: ServerResponse) => {
    response.writeHead(302, { location: 'https://login.example.com/' }).end();
  },
  'not-found': html(404, '<h1>404</h1>'),
  empty: afterExchange((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end();
  }),
  'wrong-shape': afterExchange(json(200, { entities: 'many' })),
  'too-many-requests': json(429, { error: 'Too many requests', code: 'rate_limited' }, { 'retry-after': '3600' }),
  unavailable: json(503, { error: 'The store cannot be reached', code: 'unavailable' }),
  'unavailable-for-long': json(503, { error: 'Upgrading', code: 'unavailable' }, { 'retry-after': '3600' }),
  'internal-error': afterExchange(json(500, { error: 'Something broke', code: 'internal' })),
  'expired-token': afterExchange(json(401, { error: 'Authorization token is expired', code: 'token_expired' })),
  cut: (request: IncomingMessage) => {
    request.socket.destroy();
  },
  'cut-in-the-answer': afterExchange((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"entities": [');
    setTimeout(() => response.destroy(), 20);
  }),
} as const satisfies Record<string, Answer>;

export type Misbehaviour = keyof typeof ANSWERS | 'tls-self-signed' | 'no-tls' | 'nobody' | 'not-http';

export interface Misbehaving {
  readonly apiBaseUrl: string;
  readonly port: number;
  stop(): Promise<void>;
}

export function isMisbehaviour(name: string): name is Misbehaviour {
  return name in ANSWERS || ['tls-self-signed', 'no-tls', 'nobody', 'not-http'].includes(name);
}

export async function startMisbehaving(kind: Misbehaviour): Promise<Misbehaving> {
  switch (kind) {
    case 'tls-self-signed': {
      const pem = (part: string) => readFileSync(path.join(import.meta.dirname, 'testdata', `self-signed.${part}.pem`));
      return listening(createTlsServer({ key: pem('key'), cert: pem('cert') }, polite(exchanged)), 'https');
    }
    case 'no-tls':
      return listening(createServer(polite(exchanged)), 'https');
    case 'not-http':
      return listening(
        createTcpServer((socket) => {
          socket.on('error', () => undefined).resume();
          socket.end('220 mail.example.com ESMTP\r\n');
        }),
        'http',
      );
    case 'nobody': {
      // A port that was free a moment ago: nobody listens there.
      const server = await listening(createServer(), 'http');
      await server.stop();
      return { ...server, stop: () => Promise.resolve() };
    }
    default:
      return listening(createServer(polite(ANSWERS[kind])), 'http');
  }
}

interface Listener {
  listen(port: number, host: string, listening: () => void): unknown;
  address(): unknown;
  close(closed: () => void): unknown;
}

async function listening(server: Listener, scheme: 'http' | 'https'): Promise<Misbehaving> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    apiBaseUrl: `${scheme}://127.0.0.1:${port}/api/v4`,
    port,
    stop: async () => {
      (server as Partial<Server>).closeAllConnections?.();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
