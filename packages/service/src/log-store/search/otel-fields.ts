/**
 * OpenTelemetry's names for what Cloudflare's fields say: each once as SQL over the columns and once as a function of a record, which must
 * give the same. Semantic conventions 1.3x (https://opentelemetry.io/docs/specs/semconv/); names in `cloudflare.` are this project's own.
 */

/** The value of a column of a record; undefined when it is absent. */
export type ColumnReader = (column: string) => string | number | undefined;

export interface OtelField {
  readonly name: string;
  readonly type: 'text' | 'number';
  /** SQL: String, empty when absent; or a nullable number. */
  readonly sql: string;
  readonly value: (column: ColumnReader) => string | number | undefined;
}

function text(column: ColumnReader, name: string): string {
  return String(column(name) ?? '');
}

/** The column's own value under another name. */
function same(name: string, column: string, type: 'text' | 'number' = 'text'): OtelField {
  return { name, type, sql: column, value: (read) => read(column) };
}

/** A text made of columns; empty is absent. */
function made(name: string, sql: string, value: (read: ColumnReader) => string): OtelField {
  return { name, type: 'text', sql, value: (read) => value(read) || undefined };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'];
const METHOD_LIST = METHODS.map((method) => `'${method}'`).join(', ');

/** `HTTP/1.1` to `1.1`, and `TLSv1.3` to `1.3`. */
function after(value: string, mark: string): string {
  const at = value.indexOf(mark);
  return at === -1 ? '' : value.slice(at + mark.length);
}

function before(value: string, mark: string): string {
  const at = value.indexOf(mark);
  return at === -1 ? value : value.slice(0, at);
}

const afterSql = (column: string, mark: string) =>
  `if(position(${column}, '${mark}') = 0, '', substring(${column}, position(${column}, '${mark}') + ${mark.length}))`;
const beforeSql = (column: string, mark: string) =>
  `if(position(${column}, '${mark}') = 0, ${column}, substring(${column}, 1, position(${column}, '${mark}') - 1))`;

const ascii = {
  upper: (value: string) => value.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  lower: (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
};

function pathOf(read: ColumnReader): string {
  return text(read, 'ClientRequestPath') || before(text(read, 'ClientRequestURI'), '?');
}

function queryOf(read: ColumnReader): string {
  return text(read, 'ClientRequestQuery').replace(/^\?/, '') || after(text(read, 'ClientRequestURI'), '?');
}

const PATH_SQL = `if(ClientRequestPath != '', ClientRequestPath, ${beforeSql('ClientRequestURI', '?')})`;
const BARE_QUERY_SQL = "if(startsWith(ClientRequestQuery, '?'), substring(ClientRequestQuery, 2), ClientRequestQuery)";
const QUERY_SQL = `if(${BARE_QUERY_SQL} != '', ${BARE_QUERY_SQL}, ${afterSql('ClientRequestURI', '?')})`;

function fullUrl(read: ColumnReader): string {
  const [scheme, host] = [text(read, 'ClientRequestScheme'), text(read, 'ClientRequestHost')];
  if (scheme === '' || host === '') return '';
  const target = text(read, 'ClientRequestURI') || text(read, 'ClientRequestPath') + text(read, 'ClientRequestQuery');
  return `${scheme}://${host}${target}`;
}

const FULL_URL_SQL = `if(ClientRequestScheme = '' OR ClientRequestHost = '', '',
  concat(ClientRequestScheme, '://', ClientRequestHost, if(ClientRequestURI != '', ClientRequestURI, concat(ClientRequestPath, ClientRequestQuery))))`;

function triggerOf(event: string): string {
  if (event === '') return '';
  return { fetch: 'http', scheduled: 'timer', alarm: 'timer', queue: 'pubsub' }[event] ?? 'other';
}

const TRIGGER_SQL =
  "multiIf(EventType = '', '', EventType = 'fetch', 'http', EventType IN ('scheduled', 'alarm'), 'timer', EventType = 'queue', 'pubsub', 'other')";

const request: readonly OtelField[] = [
  made(
    'http.request.method',
    `multiIf(ClientRequestMethod = '' OR ClientRequestMethod IN (${METHOD_LIST}), ClientRequestMethod, '_OTHER')`,
    (read) => {
      const method = text(read, 'ClientRequestMethod');
      return method === '' || METHODS.includes(method) ? method : '_OTHER';
    },
  ),
  made(
    'http.request.method_original',
    `if(ClientRequestMethod IN (${METHOD_LIST}), '', ClientRequestMethod)`,
    (read) => {
      const method = text(read, 'ClientRequestMethod');
      return METHODS.includes(method) ? '' : method;
    },
  ),
  same('http.response.status_code', 'EdgeResponseStatus', 'number'),
  made(
    'error.type',
    "if(ifNull(EdgeResponseStatus, 0) >= 500, toString(assumeNotNull(EdgeResponseStatus)), '')",
    (read) => {
      const status = Number(read('EdgeResponseStatus') ?? 0);
      return status >= 500 ? String(status) : '';
    },
  ),
  made('url.full', FULL_URL_SQL, fullUrl),
  same('url.scheme', 'ClientRequestScheme'),
  made('url.path', PATH_SQL, pathOf),
  made('url.query', QUERY_SQL, queryOf),
  same('url.domain', 'ClientRequestHost'),
  same('server.address', 'ClientRequestHost'),
  made(
    'client.address',
    "if(ClientIP != '', ClientIP, SourceIP)",
    (read) => text(read, 'ClientIP') || text(read, 'SourceIP'),
  ),
  same('client.port', 'ClientSrcPort', 'number'),
  same('user_agent.original', 'ClientRequestUserAgent'),
  same('http.request.header.referer', 'ClientRequestReferer'),
  same('http.request.size', 'ClientRequestBytes', 'number'),
  same('http.response.size', 'EdgeResponseBytes', 'number'),
  same('http.response.body.size', 'EdgeResponseBodyBytes', 'number'),
  made(
    'network.protocol.name',
    `lower(if(position(ClientRequestProtocol, '/') = 0, '', ${beforeSql('ClientRequestProtocol', '/')}))`,
    (read) => {
      const protocol = text(read, 'ClientRequestProtocol');
      return protocol.includes('/') ? ascii.lower(before(protocol, '/')) : '';
    },
  ),
  made('network.protocol.version', afterSql('ClientRequestProtocol', '/'), (read) =>
    after(text(read, 'ClientRequestProtocol'), '/'),
  ),
  same('network.peer.address', 'OriginIP'),
  made(
    'tls.protocol.name',
    `lower(if(position(ClientSSLProtocol, 'v') = 0, '', ${beforeSql('ClientSSLProtocol', 'v')}))`,
    (read) => {
      const protocol = text(read, 'ClientSSLProtocol');
      return protocol.includes('v') ? ascii.lower(before(protocol, 'v')) : '';
    },
  ),
  made('tls.protocol.version', afterSql('ClientSSLProtocol', 'v'), (read) =>
    after(text(read, 'ClientSSLProtocol'), 'v'),
  ),
  same('tls.cipher', 'ClientSSLCipher'),
  same('tls.client.ja3', 'JA3Hash'),
];

const place: readonly OtelField[] = [
  made('geo.country.iso_code', 'upper(ClientCountry)', (read) => ascii.upper(text(read, 'ClientCountry'))),
  same('geo.locality.name', 'ClientCity'),
  same('geo.region.iso_code', 'ClientRegionCode'),
  same('geo.location.lat', 'ClientLatitude'),
  same('geo.location.lon', 'ClientLongitude'),
];

const cloudflare: readonly OtelField[] = [
  same('cloudflare.ray_id', 'RayID'),
  same('cloudflare.zone', 'ZoneName'),
  same('cloudflare.colo', 'EdgeColoCode'),
  same('cloudflare.cache.status', 'CacheCacheStatus'),
  same('cloudflare.bot.score', 'BotScore', 'number'),
  same('cloudflare.security.action', 'SecurityAction'),
  same('cloudflare.origin.status_code', 'OriginResponseStatus', 'number'),
];

const others: readonly OtelField[] = [
  same('dns.question.name', 'QueryName'),
  same('faas.name', 'ScriptName'),
  made('faas.trigger', TRIGGER_SQL, (read) => triggerOf(text(read, 'EventType'))),
];

export const OTEL_FIELDS: ReadonlyMap<string, OtelField> = new Map(
  [...request, ...place, ...cloudflare, ...others].map((field) => [field.name, field]),
);
