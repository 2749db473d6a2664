/** What a data source that is asked over HTTP is made from: its row with opened secrets, and what its flavour adds. */
import { isIP } from 'node:net';
import type { DATA_SOURCE_FLAVOURS, DataSourceProperties } from '@obsiac/api';

export interface HttpSourceConfig {
  /** Base address: the API is found under its path, at `api/v1`. */
  readonly url: string;
  /** As on the wire, secrets readable. */
  readonly properties: DataSourceProperties;
}

export type HttpFlavour = Exclude<(typeof DATA_SOURCE_FLAVOURS)[number], 'embedded' | 'logs'>;

interface FlavourTraits {
  /** In sentences. */
  readonly title: string;
  /** Sent with each query. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Seconds. */
  readonly evaluationDelay: number;
}

const DELAY = 60;

const FLAVOURS: Readonly<Record<HttpFlavour, FlavourTraits>> = {
  prometheus: { title: 'Prometheus', parameters: {}, evaluationDelay: DELAY },
  // Its cache of results would keep minutes whose samples came late as they were before.
  victoriametrics: { title: 'VictoriaMetrics', parameters: { nocache: '1' }, evaluationDelay: 30 },
  // Its own default answers what it has when a store is away, and counts replicas of a series apart when told so.
  thanos: { title: 'Thanos', parameters: { partial_response: 'false', dedup: 'true' }, evaluationDelay: DELAY },
  mimir: { title: 'Mimir', parameters: {}, evaluationDelay: DELAY },
};

const TIMEOUT = 15;
const CONCURRENCY = 8;
const MAX_CONCURRENCY = 32;

/** Everything that the requests to one data source have in common. */
export interface Endpoint extends FlavourTraits {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Host and port as people write them, for sentences. */
  readonly host: string;
  /** Path and query string of `query_range`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What no sentence may hold. */
  readonly secrets: readonly string[];
  readonly tls: NonNullable<DataSourceProperties['tls']>;
  /** Milliseconds for one query. */
  readonly timeout: number;
  readonly concurrency: number;
}

/** The query string of the address, such as `?tenant=a`, is kept; its fragment is not. */
export function endpointOf({ url, properties }: HttpSourceConfig): Endpoint {
  const address = new URL(url);
  const traits = FLAVOURS[flavourOf(properties)];
  return {
    ...traits,
    evaluationDelay: properties.evaluation_delay_seconds ?? traits.evaluationDelay,
    origin: address.origin,
    host: address.host,
    target: `${address.pathname.replace(/\/+$/, '')}/api/v1/query_range${address.search}`,
    headers: headersOf(properties),
    secrets: secretsOf(properties),
    tls: properties.tls ?? {},
    timeout: (properties.timeout_seconds ?? TIMEOUT) * 1000,
    concurrency: Math.min(properties.concurrency ?? CONCURRENCY, MAX_CONCURRENCY),
  };
}

/** A data source without a flavour is a Prometheus. */
function flavourOf({ flavour }: DataSourceProperties): HttpFlavour {
  return flavour === undefined || flavour === 'embedded' || flavour === 'logs' ? 'prometheus' : flavour;
}

/** How a query proves who asks. A header of one's own goes before a token, a token before user and password. */
export function authorizationOf(properties: DataSourceProperties): 'none' | 'header' | 'bearer' | 'basic' {
  const names = Object.keys(properties.headers ?? {});
  if (names.some((name) => name.toLowerCase() === 'authorization')) return 'header';
  if (properties.bearer_token) return 'bearer';
  return properties.username || properties.password ? 'basic' : 'none';
}

function headersOf(properties: DataSourceProperties): Record<string, string> {
  const given = Object.entries(properties.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = Object.fromEntries(given);
  const proof = authorizationOf(properties);
  if (proof === 'bearer') headers['authorization'] = `Bearer ${properties.bearer_token}`;
  if (proof === 'basic') headers['authorization'] = `Basic ${basicOf(properties)}`;
  return headers;
}

function basicOf({ username = '', password = '' }: DataSourceProperties): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}

function secretsOf(properties: DataSourceProperties): string[] {
  const { password, bearer_token, headers = {}, tls } = properties;
  const basic = authorizationOf(properties) === 'basic' ? basicOf(properties) : undefined;
  return [password, bearer_token, tls?.client_key, basic, ...Object.values(headers)].filter(
    (secret) => secret !== undefined && secret !== '',
  ) as string[];
}

/** Headers that belong to the request itself. */
const RESERVED = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** A part of the properties that cannot be sent. */
export interface ConfigProblem {
  /** Below `properties`. */
  readonly path: string;
  readonly message: string;
}

/** The first thing about headers and credentials that HTTP cannot carry. */
export function headerProblem(properties: DataSourceProperties): ConfigProblem | undefined {
  for (const [name, value] of Object.entries(properties.headers ?? {})) {
    const path = `headers.${name}`;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return { path, message: 'is not the name of an HTTP header' };
    if (RESERVED.has(name.toLowerCase())) return { path, message: 'is set by the request itself' };
    if (!isFieldValue(value)) return { path, message: 'has characters that an HTTP header cannot carry' };
  }
  if (properties.bearer_token !== undefined && !/^[\x21-\x7e]*$/.test(properties.bearer_token)) {
    return { path: 'bearer_token', message: 'must be printable ASCII without spaces' };
  }
  if (properties.username?.includes(':')) return { path: 'username', message: 'cannot hold a colon' };
  return undefined;
}

/** RFC 9110 section 5.5: visible characters of Latin-1, spaces and tabs inside. */
function isFieldValue(value: string): boolean {
  return /^(?:[\x21-\x7e\x80-\xff](?:[\t \x21-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value);
}

/** The server name of TLS is a name: an address cannot be asked for. */
export function isServerName(name: string): boolean {
  return /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/i.test(name) && isIP(name) === 0;
}
