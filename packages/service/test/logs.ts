/** Starts a whole service that takes logs in, delivers to it as senders do, and looks into its engine. */
import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { createEngineClient } from '../src/engine/index.ts';
import type { Settings } from '../src/settings/definition.ts';
import { type Service, type ServiceOptions, startService } from './service.ts';

export interface IntakeAccess {
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly authorization: string;
  readonly cloudflare_url: string;
}

export interface Delivered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

/** A header whose value is undefined is not sent. */
type Headed = Readonly<Record<string, string | undefined>>;

export interface LogService extends Service {
  readonly access: IntakeAccess;
  /** POST to a path of the intake, with the right header unless others are given. */
  deliver(where: string, body: Uint8Array | string, headers?: Headed): Promise<Delivered>;
  /** Lines as Logpush sends them: gzip NDJSON. */
  push(lines: readonly (string | object)[], query?: string): Promise<Delivered>;
  /** Waits until everything accepted is loaded, and asks the engine. */
  rows<T = Record<string, unknown>>(query: string): Promise<T[]>;
}

export async function startLogService(
  options: ServiceOptions & { settings?: Partial<Settings> } = {},
): Promise<LogService> {
  // Tests deliver records of all times.
  const settings = {
    logs: true,
    disk_reserve: 0,
    engine_memory: 1_073_741_824,
    log_retention: '36500d',
    ...options.settings,
  };
  const service = await startService({ ...options, settings });
  const access = JSON.parse(readFileSync(service.app.intakeFile!, 'utf8')) as IntakeAccess;
  const deliver: LogService['deliver'] = (where, body, headers = { authorization: access.authorization }) =>
    post(`${access.endpoint}${where}`, body, headers);
  const client = createEngineClient(
    { socketPath: path.join(service.dataDir, 'logs', 'engine', 'engine.sock') },
    { requestTimeout: 60_000, maxConnections: 2 },
  );
  return {
    ...service,
    access,
    deliver,
    push: (lines, query = '') => deliver(`/cloudflare${query}`, gzipSync(ndjson(lines)), gzipHeaders(access)),
    rows: async <T>(query: string) => {
      const { store } = service.app.logs!;
      await store.whenReady(AbortSignal.timeout(60_000));
      await store.loaded(AbortSignal.timeout(120_000));
      return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
    },
    stop: async (how) => {
      await client.close();
      await service.stop(how);
    },
  };
}

export function gzipHeaders({ authorization }: IntakeAccess): Record<string, string> {
  return { authorization, 'content-encoding': 'gzip', 'content-type': 'text/plain; charset=utf-8' };
}

export function ndjson(lines: readonly (string | object)[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
}

/** Sends the address as it is given: `fetch` would encode it anew. */
export function post(
  url: string,
  body: Uint8Array | string | AsyncIterable<Uint8Array>,
  given: Headed = {},
): Promise<Delivered> {
  const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { hostname, port } = new URL(url);
  const where = url.slice(url.indexOf('/', 'https://'.length));
  return new Promise((resolve, reject) => {
    const request = httpRequest({ hostname, port, path: where, method: 'POST', headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        const fields = new Headers();
        for (const [name, value] of Object.entries(response.headers)) fields.set(name, String(value));
        resolve({ status: response.statusCode!, headers: fields, text, body: parsed(text) });
      });
    });
    request.on('error', reject);
    void write(request, body);
  });
}

async function write(
  request: ReturnType<typeof httpRequest>,
  body: Uint8Array | string | AsyncIterable<Uint8Array>,
): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) {
    request.end(body);
    return;
  }
  for await (const chunk of body) {
    if (request.destroyed) return;
    if (!request.write(chunk)) await new Promise((resolve) => request.once('drain', resolve).once('close', resolve));
  }
  request.end();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
