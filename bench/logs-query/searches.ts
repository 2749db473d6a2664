/** The searches that are measured, each with its target, and what zgrep and jq need for the same answer from gzip files. */

export interface Found {
  readonly id: string;
  readonly timestamp: string;
  readonly attributes: { readonly [field: string]: unknown };
}

/** Records of which one is asked for in each round, so that no round finds the answer of the one before it in a cache. */
export interface Round {
  readonly number: number;
  /** In the store. */
  readonly record: Found;
}

export interface Measured {
  readonly name: string;
  /** Milliseconds, warm, at 10 million records. */
  readonly target: number;
  readonly widget: 'hits' | 'facets' | 'query' | 'context';
  readonly body: (round: Round) => object;
  /** Whether the answer can be right. */
  readonly finds: (answer: unknown, round: Round) => boolean;
  /** A shell command over the file `$1`; `record` is one of those in it. */
  readonly peer: (record: Found) => string;
}

const FACETS = [
  'EdgeResponseStatus',
  'ClientRequestMethod',
  'ClientRequestHost',
  'ClientCountry',
  'CacheCacheStatus',
  'EdgeColoCode',
  'SecurityAction',
  'ClientDeviceType',
];
const total = (answer: unknown) => (answer as { readonly total: number }).total > 0;
/** A pattern may match nothing. */
const any = () => true;
const hundred = (answer: unknown) => (answer as { readonly records: readonly Found[] }).records.length === 100;
const rows = (answer: unknown) => (answer as { readonly rows: readonly unknown[] }).rows.length > 0;
const itself = (answer: unknown, { record }: Round) =>
  (answer as { readonly records: readonly Found[] }).records.some(({ id }) => id === record.id);
const inTheMiddle = (answer: unknown, { record }: Round) =>
  (answer as { readonly record: Found }).record.id === record.id;
const LOOKUP_MS = 200;
const SEARCH_MS = 1000;
const BY_MINUTE = '(.EdgeStartTimestamp / 60000000000 | floor)';
const COUNT = 'sort | uniq -c';

const text = (record: Found, field: string) => String(record.attributes[field]);
/** The last path segment's end: found in few records. */
const rare = (record: Found) => text(record, 'RayID').slice(3, 11);
/** Found in most records; of another length in each round. */
const common = ({ number }: Round) => 'products'.slice(number % 3, 6 + (number % 2));
const pattern = ({ number }: Round) => `^/products/[0-9]${number % 10}[0-9]7${number % 7}$`;

export const SEARCHES: readonly Measured[] = [
  {
    name: 'histogram, all records',
    target: LOOKUP_MS,
    widget: 'hits',
    body: () => ({}),
    finds: total,
    peer: () => `zcat $1 | jq '${BY_MINUTE}' | ${COUNT}`,
  },
  {
    name: 'histogram, status 5xx',
    target: LOOKUP_MS,
    widget: 'hits',
    body: () => ({ query: 'EdgeResponseStatus:>=500' }),
    finds: total,
    peer: () => `zcat $1 | jq 'select(.EdgeResponseStatus >= 500) | ${BY_MINUTE}' | ${COUNT}`,
  },
  {
    name: 'facets of 8 fields',
    target: SEARCH_MS,
    widget: 'facets',
    body: () => ({ fields: FACETS }),
    finds: total,
    peer: () => {
      const values = FACETS.map((field) => `"${field} \\(.${field})"`).join(', ');
      return `zcat $1 | jq -r '${values}' | ${COUNT} | sort -rn`;
    },
  },
  {
    name: 'ray id, in its field',
    target: LOOKUP_MS,
    widget: 'query',
    body: ({ record }) => ({ query: `RayID:${text(record, 'RayID')}` }),
    finds: itself,
    peer: (record) => `zgrep -F '"RayID":"${text(record, 'RayID')}"' $1`,
  },
  {
    name: 'ray id, as a word',
    target: LOOKUP_MS,
    widget: 'query',
    body: ({ record }) => ({ query: text(record, 'RayID') }),
    finds: itself,
    peer: (record) => `zgrep -iwF '${text(record, 'RayID')}' $1`,
  },
  {
    name: 'rare substring, records',
    target: SEARCH_MS,
    widget: 'query',
    body: ({ record }) => ({ query: `*${rare(record)}*` }),
    finds: itself,
    peer: (record) => `zgrep -iF '${rare(record)}' $1`,
  },
  {
    name: 'rare substring, histogram',
    target: SEARCH_MS,
    widget: 'hits',
    body: ({ record }) => ({ query: `*${rare(record)}*` }),
    finds: total,
    peer: (record) => `zgrep -iF '${rare(record)}' $1 | jq '${BY_MINUTE}' | ${COUNT}`,
  },
  {
    name: 'common substring, records',
    target: SEARCH_MS,
    widget: 'query',
    body: (round) => ({ query: `*${common(round)}*` }),
    finds: hundred,
    peer: () => "zgrep -iF 'products' $1 | tail -n 100",
  },
  {
    name: 'common substring, histogram',
    target: SEARCH_MS,
    widget: 'hits',
    body: (round) => ({ query: `*${common(round)}*` }),
    finds: total,
    peer: () => `zgrep -iF 'products' $1 | jq '${BY_MINUTE}' | ${COUNT}`,
  },
  {
    name: 'regex, records',
    target: SEARCH_MS,
    widget: 'query',
    body: (round) => ({ query: `ClientRequestURI:~"${pattern(round)}"` }),
    finds: any,
    peer: () => `zgrep -E '"ClientRequestURI":"/products/[0-9]1[0-9]71"' $1`,
  },
  {
    name: 'regex, histogram',
    target: SEARCH_MS,
    widget: 'hits',
    body: (round) => ({ query: `ClientRequestURI:~"${pattern(round)}"` }),
    finds: any,
    peer: () => `zgrep -E '"ClientRequestURI":"/products/[0-9]1[0-9]71"' $1 | jq '${BY_MINUTE}' | ${COUNT}`,
  },
  {
    name: 'newest 100',
    target: SEARCH_MS,
    widget: 'query',
    body: () => ({ limit: 100 }),
    finds: hundred,
    peer: () => 'zcat $1 | tail -n 100',
  },
  {
    name: 'p95 by host',
    target: SEARCH_MS,
    widget: 'query',
    body: () => ({ query: '* | stats p95(EdgeTimeToFirstByteMs) as p95 by (ClientRequestHost)' }),
    finds: rows,
    peer: () =>
      `zcat $1 | jq -r '"\\(.ClientRequestHost) \\(.EdgeTimeToFirstByteMs)"' | sort -k1,1 -k2,2n | awk '{ values[$1] = values[$1] " " $2 } END { for (host in values) { count = split(values[host], all, " "); print host, all[int(count * 0.95 + 0.5)] } }'`,
  },
  {
    name: 'context of a record',
    target: LOOKUP_MS,
    widget: 'context',
    body: ({ record }) => ({ id: record.id, timestamp: record.timestamp }),
    finds: inTheMiddle,
    peer: (record) => `zgrep -F -B 10 -A 10 '"RayID":"${text(record, 'RayID')}"' $1`,
  },
];
