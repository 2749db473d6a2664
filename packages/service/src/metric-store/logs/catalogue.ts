/** The metrics that are computed from stored logs: which there are, what each counts, and which labels they have. */

export interface LogLabel {
  readonly name: string;
  /** Its value of a record in SQL, a text; empty when the record has none. */
  readonly sql: string;
  /** Every series has it. One that is not for all is there when a query names it. */
  readonly always: boolean;
  /** What a record is about, and not what became of it: a selector that finds no record with it has no series at all. */
  readonly identity: boolean;
}

export interface LogMetric {
  readonly name: string;
  readonly dataset: LogDataset;
  readonly help: string;
  /** A histogram is the metrics `_bucket`, `_sum` and `_count` of its name. */
  readonly kind: 'counter' | 'histogram';
  /** What is summed, or observed, of a record; null when it has none. Undefined: records are counted. */
  readonly value: string | undefined;
}

export interface LogDataset {
  readonly name: string;
  readonly labels: readonly LogLabel[];
  /** Which of its rows are records of their own. */
  readonly where: string;
}

const text = (column: string) => `CAST(${column}, 'String')`;
const number = (column: string) => `ifNull(toString(${column}), '')`;
const statusClass = (column: string) => `ifNull(concat(toString(intDiv(${column}, 100)), 'xx'), '')`;

type Kind = 'identity' | 'always' | 'named';

function label(name: string, sql: string, ...kinds: Kind[]): LogLabel {
  return { name, sql, always: kinds.includes('always'), identity: kinds.includes('identity') };
}

const zone = label('zone', text('ZoneName'), 'identity', 'always');
const host = label('host', `lower(${text('ClientRequestHost')})`, 'identity', 'named');
const country = label('country', `upper(${text('ClientCountry')})`, 'named');
const method = (...kinds: Kind[]) => label('method', `upper(${text('ClientRequestMethod')})`, ...kinds);
const status = (...kinds: Kind[]) => label('status', number('EdgeResponseStatus'), ...kinds);
const statusOf = (...kinds: Kind[]) => label('status_class', statusClass('EdgeResponseStatus'), ...kinds);

const HTTP: LogDataset = {
  name: 'http_requests',
  where: '1',
  labels: [
    zone,
    method('always'),
    status('always'),
    statusOf('always'),
    label('cache_status', `lower(${text('CacheCacheStatus')})`, 'always'),
    host,
    country,
    label('colo', text('EdgeColoCode'), 'named'),
    label('protocol', text('ClientRequestProtocol'), 'named'),
    label('device_type', text('ClientDeviceType'), 'named'),
    label('request_source', text('ClientRequestSource'), 'named'),
    label('origin_status', number('OriginResponseStatus'), 'named'),
    label('security_action', text('SecurityAction'), 'named'),
  ],
};

const FIREWALL: LogDataset = {
  name: 'firewall_events',
  where: '1',
  labels: [
    zone,
    label('action', `lower(${text('Action')})`, 'always'),
    label('source', `lower(${text('Source')})`, 'always'),
    host,
    method('named'),
    country,
    label('colo', text('EdgeColoCode'), 'named'),
    label('rule_id', text('RuleID'), 'named'),
    status('named'),
    statusOf('named'),
  ],
};

/** Numbers of IANA's registries (DNS parameters) with the names that people use. */
const QUERY_TYPES = {
  1: 'A',
  2: 'NS',
  5: 'CNAME',
  6: 'SOA',
  12: 'PTR',
  15: 'MX',
  16: 'TXT',
  28: 'AAAA',
  33: 'SRV',
  35: 'NAPTR',
  43: 'DS',
  46: 'RRSIG',
  48: 'DNSKEY',
  64: 'SVCB',
  65: 'HTTPS',
  255: 'ANY',
  257: 'CAA',
};
const RESPONSE_CODES = { 0: 'NOERROR', 1: 'FORMERR', 2: 'SERVFAIL', 3: 'NXDOMAIN', 4: 'NOTIMP', 5: 'REFUSED' };

function named(column: string, names: Readonly<Record<number, string>>): string {
  const numbers = Object.keys(names).join(', ');
  const texts = Object.values(names)
    .map((name) => `'${name}'`)
    .join(', ');
  return `transform(ifNull(${column}, -1), [${numbers}], [${texts}], ${number(column)})`;
}

const DNS: LogDataset = {
  name: 'dns_logs',
  where: '1',
  labels: [
    label('query_type', named('QueryType', QUERY_TYPES), 'always'),
    label('response_code', named('ResponseCode', RESPONSE_CODES), 'always'),
    label('cached', number('ResponseCached'), 'named'),
    label('colo', text('ColoCode'), 'named'),
  ],
};

const WORKERS: LogDataset = {
  name: 'workers_trace_events',
  // Console lines and exceptions are rows of their own beside their run.
  where: 'part = 0',
  labels: [
    label('script', text('ScriptName'), 'identity', 'always'),
    label('outcome', text('Outcome'), 'always'),
    label('event_type', text('EventType'), 'always'),
    label('entrypoint', text('Entrypoint'), 'named'),
    label('dispatch_namespace', text('DispatchNamespace'), 'identity', 'named'),
    method('named'),
    status('named'),
    statusOf('named'),
  ],
};

/** Seconds; the default buckets of Prometheus' clients, with further ones above for what waits for an origin. */
export const BUCKETS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** From the edge's clock at the start of a request to the end of its answer. */
const EDGE_SECONDS = `if(EdgeEndTimestamp >= toUnixTimestamp64Nano(timestamp), (EdgeEndTimestamp - toUnixTimestamp64Nano(timestamp)) / 1e9, NULL)`;
/** Of requests that an origin answered: others tell a duration of 0, or none. */
const ORIGIN_SECONDS = `if(isNotNull(OriginResponseStatus) OR coalesce(OriginResponseDurationMs, OriginResponseTime, 0) > 0, coalesce(OriginResponseDurationMs / 1e3, OriginResponseTime / 1e9), NULL)`;

function metric(
  dataset: LogDataset,
  name: string,
  help: string,
  value?: string,
  kind: LogMetric['kind'] = 'counter',
): LogMetric {
  return { name, dataset, help, kind, value };
}

export const CATALOGUE: readonly LogMetric[] = [
  metric(HTTP, 'edge_requests_total', 'Requests that the edge answered.'),
  metric(HTTP, 'edge_response_bytes_total', 'Bytes that the edge sent to clients.', 'EdgeResponseBytes'),
  metric(HTTP, 'edge_request_bytes_total', 'Bytes that clients sent to the edge.', 'ClientRequestBytes'),
  metric(HTTP, 'edge_origin_response_bytes_total', 'Bytes that origins sent to the edge.', 'OriginResponseBytes'),
  metric(
    HTTP,
    'edge_request_duration_seconds',
    'Time from the start of a request at the edge to the end of its answer.',
    EDGE_SECONDS,
    'histogram',
  ),
  metric(
    HTTP,
    'edge_time_to_first_byte_seconds',
    'Time from the start of a request at the edge to the first byte of its answer.',
    'EdgeTimeToFirstByteMs / 1e3',
    'histogram',
  ),
  metric(
    HTTP,
    'edge_origin_response_duration_seconds',
    'Time that origins took to answer the edge, of requests that an origin answered.',
    ORIGIN_SECONDS,
    'histogram',
  ),
  metric(
    FIREWALL,
    'edge_firewall_events_total',
    'Events of the firewall; a request that several rules match has several.',
  ),
  metric(DNS, 'edge_dns_queries_total', 'DNS queries that were answered.'),
  metric(WORKERS, 'edge_worker_invocations_total', 'Runs of workers.'),
  metric(WORKERS, 'edge_worker_cpu_seconds', 'CPU time of a run of a worker.', 'CPUTimeMs / 1e3', 'histogram'),
  metric(WORKERS, 'edge_worker_wall_seconds', 'Wall time of a run of a worker.', 'WallTimeMs / 1e3', 'histogram'),
];

export type LogMetricPart = 'total' | 'bucket' | 'sum' | 'count';

/** One metric as queries name it. */
export interface NamedMetric {
  readonly name: string;
  readonly metric: LogMetric;
  readonly part: LogMetricPart;
}

/** Everything that a query can name. */
export const NAMED_METRICS: readonly NamedMetric[] = CATALOGUE.flatMap((each): NamedMetric[] => {
  if (each.kind === 'counter') return [{ name: each.name, metric: each, part: 'total' }];
  return (['bucket', 'sum', 'count'] as const).map((part) => ({ name: `${each.name}_${part}`, metric: each, part }));
});

/** Upper bounds of buckets as the label `le` has them. */
export const BOUNDS: readonly string[] = [...BUCKETS.map(String), '+Inf'];
