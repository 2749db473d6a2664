/** Wires the service: settings in, a running server out. The tests start the same. */
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import type { Api } from './http/api.ts';
import { createServer } from './http/server.ts';
import { configPath, refreshConfig, writeConfig } from './installation/config-file.ts';
import { type DataDirLock, lockDataDir } from './installation/data-dir-lock.ts';
import { ensureOrganization, requireSameKey } from './installation/first-start.ts';
import { listOrganizationSlugs } from './metadata/organizations.ts';
import { closeStore, openStore, type Store } from './metadata/store.ts';
import { createVault, loadSecretKey } from './secrets/vault.ts';
import type { Settings } from './settings/definition.ts';
import { createAccessTokens } from './tokens/access-tokens.ts';
import { VERSION } from './version.ts';

/** Milliseconds between two looks for connections that have become idle while the service stops. */
const IDLE_SWEEP = 50;

export interface AppOptions {
  /** Unix milliseconds; the clock of the machine unless given. */
  readonly now?: () => number;
  /** Where log lines go; standard output unless given. */
  readonly logTo?: DestinationStream;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:7780` */
  readonly origin: string;
  /** `http://127.0.0.1:7780/api/v4` */
  readonly apiBaseUrl: string;
}

export interface App {
  /** Opens the store, makes what the first start makes, listens. @throws ListenError, DataDirLocked, MigrationError, SecretKeyError */
  start(): Promise<Address>;
  /** Lets requests under way finish, then closes everything. A second call waits for the first. */
  stop(): Promise<void>;
  /** Where it listens; null before `start`. */
  readonly address: Address | null;
  /** The `config.json` for `obsiac -c`; null before `start`. */
  readonly configFile: string | null;
  readonly log: FastifyBaseLogger;
}

/** The address to listen on cannot be had. */
export class ListenError extends Error {
  readonly code = 'cannot_listen';
}

/** What is open while the service runs, in the order in which it is closed. */
interface Running {
  server?: Api;
  store?: Store;
  lock?: DataDirLock;
}

export function createApp(settings: Settings, options: AppOptions = {}): App {
  const log = createLogger(settings, options.logTo);
  const running: Running = {};
  const state: { address: Address | null; configFile: string | null } = { address: null, configFile: null };
  let stopping: Promise<void> | undefined;
  return {
    log,
    get address() {
      return state.address;
    },
    get configFile() {
      return state.configFile;
    },
    start: async () => {
      try {
        await start(settings, options.now ?? Date.now, log, running, state);
        return state.address!;
      } catch (error) {
        await stop(running);
        throw error;
      }
    },
    stop: () => {
      stopping ??= stop(running);
      return stopping;
    },
  };
}

async function start(
  settings: Settings,
  now: () => number,
  log: FastifyBaseLogger,
  running: Running,
  state: { address: Address | null; configFile: string | null },
): Promise<void> {
  mkdirSync(settings.data_dir, { recursive: true, mode: 0o700 });
  running.lock = lockDataDir(settings.data_dir);
  const vault = createVault(loadSecretKey(settings.data_dir, settings.secret_key));
  const store = await openStore({ dataDir: settings.data_dir, databaseUrl: settings.database_url, vault, now });
  running.store = store;
  await requireSameKey(store);
  const tokens = createAccessTokens(vault.deriveKey('access-token'), now);
  const server = await createServer({ store, tokens }, settings, log);
  running.server = server;

  const file = configPath(settings.data_dir, settings.org, await listOrganizationSlugs(store.db));
  const expectedUrl = addressOf(settings, settings.port).apiBaseUrl;
  const created = await ensureOrganization(store, settings.org, (fresh) =>
    writeConfig(file, settings.org, expectedUrl, fresh),
  );
  await listen(server, settings);
  const address = addressOf(settings, (server.server.address() as AddressInfo).port);
  state.address = address;
  state.configFile = file;
  const config = refreshConfig(file, settings.org, address.apiBaseUrl);
  reportStart(log, settings, address, { created, config, file, backend: store.backend.name });
}

async function listen(server: Api, settings: Settings): Promise<void> {
  try {
    await server.listen({ host: settings.host, port: settings.port, listenTextResolver: () => 'listening' });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const where = `${settings.host}:${settings.port}`;
    if (code === 'EADDRINUSE') {
      throw new ListenError(
        `Port ${settings.port} on ${settings.host} is taken by another program. Choose another with --port.`,
        { cause },
      );
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new ListenError(`Cannot listen on ${where} (${code}). Choose another address with --host and --port.`, {
        cause,
      });
    }
    throw cause;
  }
}

function addressOf(settings: Settings, port: number): Address {
  // An address that means "all" cannot be dialled; clients on this machine use the loopback address.
  const dialled = settings.host === '0.0.0.0' ? '127.0.0.1' : settings.host === '::' ? '::1' : settings.host;
  const origin = `http://${dialled.includes(':') ? `[${dialled}]` : dialled}:${port}`;
  return { host: settings.host, port, origin, apiBaseUrl: `${settings.public_url ?? origin}/api/v4` };
}

interface StartReport {
  readonly created: boolean;
  readonly config: ReturnType<typeof refreshConfig>;
  readonly file: string;
  readonly backend: string;
}

function reportStart(log: FastifyBaseLogger, settings: Settings, address: Address, report: StartReport): void {
  if (report.created)
    log.info({ org: settings.org, config: report.file }, 'first start: organisation and tokens created');
  if (report.config === 'unreadable')
    log.warn({ config: report.file }, 'the configuration file is not readable JSON; left as it is');
  if (report.config === 'absent') {
    log.warn({ config: report.file }, 'no configuration file here; make tokens with: obsiac-service token create');
  }
  const { origin, apiBaseUrl } = address;
  log.info(
    { origin, api: apiBaseUrl, org: settings.org, store: report.backend, version: VERSION },
    `listening on ${origin}`,
  );
}

async function stop(running: Running): Promise<void> {
  if (running.server) await closeServer(running.server);
  if (running.store) await closeStore(running.store);
  running.lock?.release();
  delete running.server;
  delete running.store;
  delete running.lock;
}

/** A connection that a client keeps open for its next request must not hold up the end. */
async function closeServer(server: Api): Promise<void> {
  const sweep = setInterval(() => server.server.closeIdleConnections(), IDLE_SWEEP);
  try {
    await server.close();
  } finally {
    clearInterval(sweep);
  }
}

function createLogger(settings: Settings, logTo: DestinationStream | undefined): FastifyBaseLogger {
  const options = {
    level: settings.log_level,
    base: { service: 'obsiac-service' },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { req: () => undefined, res: () => undefined },
  };
  return logTo ? pino(options, logTo) : pino(options);
}
