/** One client for both engines: the embedded one behind its private socket, and a ClickHouse server at an address. */
import { Agent, type AgentOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

/** Where the engine listens: a unix socket, or the URL of a server with user and password in it. */
export type EngineAddress = { readonly socketPath: string } | { readonly url: string };

export interface ClientOptions {
  readonly database?: string;
  /** Milliseconds after which a request without an answer is given up. */
  readonly requestTimeout: number;
  readonly maxConnections: number;
}

class SocketAgent extends Agent {
  readonly #socketPath: string;

  constructor(socketPath: string, options: AgentOptions) {
    super(options);
    this.#socketPath = socketPath;
  }

  override createConnection(): Socket {
    return connect(this.#socketPath);
  }
}

/** A client that answers 64-bit integers as strings, so that no digit is lost. */
export function createEngineClient(address: EngineAddress, options: ClientOptions): ClickHouseClient {
  const common = {
    ...(options.database === undefined ? {} : { database: options.database }),
    request_timeout: options.requestTimeout,
    max_open_connections: options.maxConnections,
    compression: { request: false, response: false },
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
  } as const;
  if ('url' in address) return createClient({ ...common, url: address.url });
  return createClient({
    ...common,
    url: 'http://engine.invalid',
    http_agent: new SocketAgent(address.socketPath, { keepAlive: true, maxSockets: options.maxConnections }),
    set_basic_auth_header: false,
  });
}
