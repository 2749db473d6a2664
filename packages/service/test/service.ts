/** Starts a whole service for a test, on either store, and calls it as a client would. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SCOPES, type Scope } from '@obsiac/api';
import { type Postgres, postgresBinaries, startPostgres } from '../../../tasks/postgres.ts';
import { type App, createApp } from '../src/app.ts';
import { ensureOrganization } from '../src/installation/first-start.ts';
import { closeStore, openStore, type Store } from '../src/metadata/store.ts';
import { createVault, loadSecretKey } from '../src/secrets/vault.ts';
import { type Settings, settingsSchema } from '../src/settings/definition.ts';

export const BACKENDS = ['sqlite', 'postgresql'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** True where the tests of a store cannot run; with `CI=true` that throws instead. */
export function cannotRun(backend: BackendName): boolean {
  return backend === 'postgresql' && 'missing' in postgresBinaries();
}

let postgres: Promise<Postgres> | undefined;

/** An empty database for a test: undefined is SQLite in the data directory. One server serves a test file. */
export async function databaseFor(backend: BackendName): Promise<string | undefined> {
  if (backend === 'sqlite') return undefined;
  const found = postgresBinaries();
  if ('missing' in found) throw new Error(found.missing);
  postgres ??= startPostgres(found.bin);
  return (await postgres).createDatabase();
}

/** For `afterAll`. */
export async function stopDatabases(): Promise<void> {
  await (await postgres)?.stop();
  postgres = undefined;
}

/** The server behind `databaseFor('postgresql')`, once it has been asked for. */
export async function postgresServer(): Promise<Postgres> {
  if (!postgres) throw new Error('no test has asked for PostgreSQL yet');
  return postgres;
}

export function temporaryDir(): string {
  return mkdtempSync(path.join(tmpdir(), 'obsiac-service-'));
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

interface CallOptions {
  readonly body?: unknown;
  /** Sent as it is, instead of `body` as JSON. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined: no token. */
  readonly token?: string | undefined;
}

export interface ServiceOptions {
  readonly backend?: BackendName;
  readonly databaseUrl?: string | undefined;
  readonly settings?: Partial<Settings>;
  /** Kept from an earlier service; else a new one that `stop` removes. */
  readonly dataDir?: string;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** False: rules are evaluated only when the test says so. */
  readonly background?: boolean;
}

export interface Service {
  readonly app: App;
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly origin: string;
  readonly logs: string[];
  /** Access tokens by scope. */
  readonly tokens: Record<Scope, string>;
  readonly refreshTokens: Record<Scope, string>;
  /** Calls any path, with no token unless one is given. */
  fetch(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Calls a path below the organisation with the token of a scope. */
  call(scope: Scope, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  exchange(refreshToken: string): Promise<Answer>;
  /** A second organisation in the same store, with access tokens. */
  addOrganization(slug: string): Promise<Record<Scope, string>>;
  /** The store itself, beside the running service. The caller closes it. */
  openStore(): Promise<Store>;
  stop(options?: { keep?: boolean }): Promise<void>;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const dataDir = options.dataDir ?? temporaryDir();
  const databaseUrl = options.databaseUrl ?? (await databaseFor(options.backend ?? 'sqlite'));
  const settings: Settings = {
    ...settingsSchema.parse({ data_dir: dataDir, port: 0, database_url: databaseUrl, logs: false }),
    ...options.settings,
  };
  const logs: string[] = [];
  const now = options.now ?? Date.now;
  const app = createApp(settings, {
    now,
    logTo: { write: (line) => void logs.push(line) },
    background: options.background ?? true,
    retryDelay: () => 1,
  });
  const { origin } = await app.start();
  const fetchIt = (method: string, where: string, call: CallOptions = {}) => send(origin, method, where, call);
  const exchange = (refreshToken: string) =>
    fetchIt('POST', '/api/v4/oauth/access_token', { body: { refresh_token: refreshToken } });
  const accessTokens = async (refreshTokens: Record<Scope, string>) => {
    const answers = await Promise.all(SCOPES.map((scope) => exchange(refreshTokens[scope])));
    return byScope((scope) => answers[SCOPES.indexOf(scope)]!.body.access_token as string);
  };
  const refreshTokens = readTokens(app.configFile!);
  const tokens = await accessTokens(refreshTokens);
  const open = () =>
    openStore({ dataDir, databaseUrl, now, vault: createVault(loadSecretKey(dataDir, settings.secret_key)) });
  return {
    app,
    dataDir,
    databaseUrl,
    origin,
    logs,
    tokens,
    refreshTokens,
    fetch: fetchIt,
    call: (scope, method, where, body, headers = {}) =>
      fetchIt(method, `/api/v4/organizations/${settings.org}${where}`, { token: tokens[scope], body, headers }),
    exchange,
    addOrganization: async (slug) => {
      const store = await open();
      let made: Record<Scope, string> | undefined;
      await ensureOrganization(store, slug, (fresh) => {
        made = fresh;
      });
      await closeStore(store);
      return accessTokens(made!);
    },
    openStore: open,
    stop: async ({ keep = false } = {}) => {
      await app.stop();
      if (!keep) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The refresh tokens of a `config.json`. */
export function readTokens(configFile: string): Record<Scope, string> {
  const config = JSON.parse(readFileSync(configFile, 'utf8')) as {
    api_config: Record<Scope, { refresh_token: string }>;
  };
  return byScope((scope) => config.api_config[scope].refresh_token);
}

function byScope<T>(make: (scope: Scope) => T): Record<Scope, T> {
  return { read: make('read'), write: make('write'), delete: make('delete') };
}

async function send(origin: string, method: string, where: string, call: CallOptions): Promise<Answer> {
  const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  const response = await fetch(`${origin}${where}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.token === undefined ? {} : { 'x-last9-api-token': `Bearer ${call.token}` }),
      ...call.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed };
}

/** An entity document that is whole; change what the test is about. */
export function entityBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'Checkout', type: 'service', external_ref: 'checkout', entity_class: 'alert-manager', ...change };
}

/** A rule document that is whole, over the indicator `Errors`. */
export function ruleBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    rule_name: 'Too many errors',
    primary_indicator: 'Errors',
    condition: 'expr > 5.000000',
    alert_condition: 'count_true(result) >= 5',
    eval_window: 10,
    ...change,
  };
}

export function kpiBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  return { name: 'Errors', definition: { query: 'sum(rate(errors_total[5m]))', unit: 'count' }, ...change };
}
