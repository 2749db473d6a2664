/** Wires the service: settings in, a running server out. The tests start the same. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { Registry } from 'prom-client';
import { type Alerting, openAlerting } from './alerting.ts';
import type { Api, Context, LogContext, MetricContext } from './http/api.ts';
import { createRequestMetrics } from './http/request-metrics.ts';
import { createIntakeServer, createServer, type ServerOptions } from './http/server.ts';
import { configPath, refreshConfig, writeConfig } from './installation/config-file.ts';
import { type DataDirLock, lockDataDir } from './installation/data-dir-lock.ts';
import { ensureOrganization, requireSameKey } from './installation/first-start.ts';
import { ensureIntakeFile, intakeFilePath } from './installation/intake-file.ts';
import { listen, originOf, readTls } from './listen.ts';
import { openLogIntake } from './log-intake.ts';
import { listOrganizationSlugs } from './metadata/organizations.ts';
import { closeStore, openStore, type Store } from './metadata/store.ts';
import { createEmbeddedSource, createLogsSource } from './metric-store/index.ts';
import { openMetrics } from './metrics.ts';
import { createVault, loadSecretKey } from './secrets/vault.ts';
import type { Settings } from './settings/definition.ts';
import { createAccessTokens } from './tokens/access-tokens.ts';
import { VERSION } from './version.ts';

export { ListenError } from './listen.ts';

/** Milliseconds between two looks for connections that have become idle while the service stops. */
const IDLE_SWEEP = 50;

export interface AppOptions {
  /** Unix milliseconds; the clock of the machine unless given. */
  readonly now?: () => number;
  /** Where log lines go; standard output unless given. */
  readonly logTo?: DestinationStream;
  /** False: rules are evaluated and messages delivered only when `alerting` is told so, for tests with a clock of their own. */
  readonly background?: boolean;
  /** Milliseconds before a failed query of a rule is asked again; random unless given. */
  readonly retryDelay?: () => number;
}

export interface Address {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:7780` */
  readonly origin: string;
  /** `http://127.0.0.1:7780/api/v4` */
  readonly apiBaseUrl: string;
  /** Where logs are delivered, without the path; undefined when they are not taken in. */
  readonly intakeOrigin: string | undefined;
}

export interface App {
  /** Opens the store, makes what the first start makes, listens. @throws ListenError, Refusal, DataDirLocked, MigrationError, SecretKeyError */
  start(): Promise<Address>;
  /** Lets requests under way finish, then closes everything. A second call waits for the first. */
  stop(): Promise<void>;
  /** Where it listens; null before `start`. */
  readonly address: Address | null;
  /** The `config.json` for `obsiac -c`; null before `start`. */
  readonly configFile: string | null;
  /** `intake.json`, for senders of logs; null before `start`, and when logs are not taken in. */
  readonly intakeFile: string | null;
  /** What takes logs in and keeps them; undefined before `start`, and when logs are not taken in. */
  readonly logs: LogContext | undefined;
  /** What evaluates rules and tells people; undefined before `start`. */
  readonly alerting: Alerting | undefined;
  readonly log: FastifyBaseLogger;
}

/** What is open while the service runs, in the order in which it is closed. */
interface Running {
  server?: Api;
  intakeServer?: Api;
  alerting?: Alerting;
  metrics?: MetricContext;
  logs?: LogContext;
  store?: Store;
  lock?: DataDirLock;
}

interface State {
  address: Address | null;
  configFile: string | null;
  intakeFile: string | null;
}

export function createApp(settings: Settings, options: AppOptions = {}): App {
  const log = createLogger(settings, options.logTo);
  const running: Running = {};
  const state: State = { address: null, configFile: null, intakeFile: null };
  let stopping: Promise<void> | undefined;
  return {
    log,
    get address() {
      return state.address;
    },
    get configFile() {
      return state.configFile;
    },
    get intakeFile() {
      return state.intakeFile;
    },
    get logs() {
      return running.logs;
    },
    get alerting() {
      return running.alerting;
    },
    start: async () => {
      try {
        await start(settings, options, log, running, state);
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
  options: AppOptions,
  log: FastifyBaseLogger,
  running: Running,
  state: State,
): Promise<void> {
  const now = options.now ?? Date.now;
  mkdirSync(settings.data_dir, { recursive: true, mode: 0o700 });
  running.lock = lockDataDir(settings.data_dir);
  const vault = createVault(loadSecretKey(settings.data_dir, settings.secret_key));
  const store = await openStore({ dataDir: settings.data_dir, databaseUrl: settings.database_url, vault, now });
  running.store = store;
  await requireSameKey(store);
  const registry = new Registry();
  if (settings.logs) running.logs = await openLogIntake(settings, registry, log, now);
  const tokens = createAccessTokens(vault.deriveKey('access-token'), now);
  if (running.logs) running.metrics = openMetrics(settings, running.logs, registry, log, now);
  const origin = () => state.address?.origin ?? '';
  const own = running.metrics?.store;
  running.alerting = openAlerting(settings, {
    store,
    registry,
    log,
    origin,
    publicUrl: () => settings.public_url ?? origin(),
    embedded: (org, evaluationDelay) => createEmbeddedSource({ reader: own?.embedded, org, origin, evaluationDelay }),
    logs: (org, evaluationDelay) => createLogsSource({ reader: own?.logs, org, origin, evaluationDelay }),
    retryDelay: options.retryDelay,
  });
  const { alerting, logs, metrics } = running;
  await makeServers({ store, tokens, registry, logs, metrics, evaluator: alerting.evaluator }, settings, log, running);

  const file = configPath(settings.data_dir, settings.org, await listOrganizationSlugs(store.db));
  const expectedUrl = addressOf(settings, settings.port, undefined).apiBaseUrl;
  const created = await ensureOrganization(store, settings.org, (fresh) =>
    writeConfig(file, settings.org, expectedUrl, fresh),
  );
  const address = await listenAll(settings, running);
  state.address = address;
  state.configFile = file;
  const config = refreshConfig(file, settings.org, address.apiBaseUrl);
  if (address.intakeOrigin !== undefined) {
    state.intakeFile = intakeFilePath(settings.data_dir, settings.org, path.basename(file) === 'config.json');
    await ensureIntakeFile(store, settings.org, state.intakeFile, intakeUrl(settings, address.intakeOrigin));
  }
  reportStart(log, settings, address, { created, config, file, backend: store.backend.name });
  // After all that answers: the engine takes seconds, and batches wait for it in the spool.
  running.logs?.store.start();
  running.metrics?.store.start();
  if (options.background ?? true) running.alerting.start();
}

async function makeServers(
  context: Context,
  settings: Settings,
  log: FastifyBaseLogger,
  running: Running,
): Promise<void> {
  const tls = readTls(settings.tls_cert, settings.tls_key);
  const measure = createRequestMetrics(context.registry);
  const apart = settings.intake_port !== undefined && context.logs !== undefined;
  const options: ServerOptions = { settings, log, measure, tls: apart ? undefined : tls };
  running.server = await createServer(context, options);
  if (apart)
    running.intakeServer = await createIntakeServer(context as Context & { logs: LogContext }, { ...options, tls });
}

async function listenAll(settings: Settings, { server, intakeServer, logs }: Running): Promise<Address> {
  const port = await listen(server!, settings);
  if (!intakeServer || settings.intake_port === undefined) {
    const address = addressOf(settings, port, undefined);
    return logs ? { ...address, intakeOrigin: address.origin } : address;
  }
  const host = settings.intake_host ?? settings.host;
  const intakePort = await listen(intakeServer, { host, port: settings.intake_port }, '--intake-port');
  return addressOf(settings, port, originOf({ host, port: intakePort }, settings.tls_cert ? 'https' : 'http'));
}

function addressOf(settings: Settings, port: number, intakeOrigin: string | undefined): Address {
  const secure = settings.tls_cert !== undefined && (settings.intake_port === undefined || !settings.logs);
  const origin = originOf({ host: settings.host, port }, secure ? 'https' : 'http');
  const apiBaseUrl = `${settings.public_url ?? origin}/api/v4`;
  return { host: settings.host, port, origin, apiBaseUrl, intakeOrigin };
}

/** The address that senders are told. */
function intakeUrl(settings: Settings, origin: string): string {
  const shared = settings.intake_port === undefined ? settings.public_url : undefined;
  return settings.intake_public_url ?? shared ?? origin;
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
  const { origin, apiBaseUrl, intakeOrigin } = address;
  log.info(
    { origin, api: apiBaseUrl, intake: intakeOrigin, org: settings.org, store: report.backend, version: VERSION },
    `listening on ${origin}`,
  );
}

async function stop(running: Running): Promise<void> {
  if (running.intakeServer) await closeServer(running.intakeServer);
  if (running.server) await closeServer(running.server);
  if (running.alerting) await running.alerting.stop();
  if (running.metrics) await running.metrics.store.stop();
  if (running.logs) await running.logs.store.stop();
  if (running.store) await closeStore(running.store);
  running.lock?.release();
  delete running.server;
  delete running.intakeServer;
  delete running.alerting;
  delete running.metrics;
  delete running.logs;
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
