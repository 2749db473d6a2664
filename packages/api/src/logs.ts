/**
 * Log search on the wire: `/organizations/{org}/logs/…`, one endpoint per widget of the explorer, all over `(query, from, to)`.
 * Each takes its parameters in the query string of a GET or as the JSON body of a POST; both need the scope read.
 */
import { z } from 'zod';

/**
 * A point in time: RFC 3339 with up to nine digits of fraction; whole numbers of seconds, milliseconds, microseconds or nanoseconds since
 * the Unix epoch, told apart by their size; `now`, `now-15m` (units s, m, h, d, w).
 */
const time = z.union([z.string().min(1).max(64), z.int().transform(String)]);

/** Nanoseconds since the Unix epoch in decimal: a double could not hold them. */
const nanoseconds = z.string().regex(/^-?\d{1,19}$/);

const whole = (minimum: number, maximum: number) => z.coerce.number().int().min(minimum).max(maximum);
const field = z.string().min(1).max(1024);
/** Field names: a list, or in a query string one text with commas between. */
const fields = z
  .union([z.string().transform((text) => text.split(',').map((name) => name.trim())), z.array(z.string())])
  .pipe(z.array(field).max(100));

export const LOG_LIMITS = {
  records: 10_000,
  buckets: 2000,
  facetValues: 100,
  fieldNames: 2000,
  fieldValues: 1000,
  context: 500,
} as const;

/** What every search has. `from` is inclusive, `to` exclusive. */
export const logRange = z.object({
  /** In the query language of docs/query-language.md; empty matches every record. */
  query: z.string().max(16_384).default(''),
  from: time.default('now-1h'),
  to: time.default('now'),
});
export type LogRange = z.input<typeof logRange>;

/** The range that was searched, resolved; answers carry it. */
const resolved = z.object({ from: nanoseconds, to: nanoseconds });

/** A record in OpenTelemetry's log data model. */
export const logRecord = z.object({
  /** Stable: the same record delivered again has the same id. */
  id: z.string(),
  /** When it happened. */
  timestamp: nanoseconds,
  /** When it was received. */
  observed_timestamp: nanoseconds,
  dataset: z.string(),
  /** 1 to 24; 0 when it is not known. */
  severity_number: z.int(),
  severity_text: z.string(),
  service: z.string(),
  /** Lower-case hex; empty when there is none. */
  trace_id: z.string(),
  span_id: z.string(),
  /** The text that words of a query are searched in. */
  body: z.string(),
  /** OpenTelemetry attributes and the record's own fields by name. Integers beyond 2^53 are texts. */
  attributes: z.record(z.string(), z.unknown()),
  /** The line as it was delivered. */
  raw: z.string(),
});
export type LogRecord = z.infer<typeof logRecord>;

/** `/logs/query`. Pipes of the query come before `limit` and `order`. */
export const logQueryRequest = logRange.extend({
  limit: whole(1, LOG_LIMITS.records).default(100),
  /** By time, and records of one nanosecond by id. */
  order: z.enum(['desc', 'asc']).default('desc'),
  /** Records or rows to leave out at the start: for the next page of records that share a nanosecond. */
  offset: whole(0, 1_000_000).optional(),
});
export type LogQueryRequest = z.input<typeof logQueryRequest>;

/** `records` for a query without `stats` and `fields`, else `rows`, whose cells are in the order of `columns`. */
export const logQueryAnswer = z.discriminatedUnion('kind', [
  resolved.extend({ kind: z.literal('records'), records: z.array(logRecord) }),
  resolved.extend({
    kind: z.literal('rows'),
    columns: z.array(z.string()),
    rows: z.array(z.array(z.unknown())),
  }),
]);
export type LogQueryAnswer = z.infer<typeof logQueryAnswer>;

/** `/logs/hits`: records over time. */
export const logHitsRequest = logRange.extend({
  /** Seconds of a bucket. Default: so that there are about `buckets`. */
  step: z.coerce.number().positive().max(31_622_400).optional(),
  buckets: whole(1, LOG_LIMITS.buckets).default(60),
  /** A field: one series for each of its ten most frequent values, and one for the rest. */
  by: field.optional(),
});
export type LogHitsRequest = z.input<typeof logHitsRequest>;

export const logHitsAnswer = resolved.extend({
  /** Seconds of a bucket. */
  step: z.number(),
  /** Start of each bucket. The first may begin before `from`: buckets are aligned to the epoch. */
  timestamps: z.array(nanoseconds),
  series: z.array(
    z.object({
      /** The value of the field `by`; null for all records, or for the rest beside the most frequent values. */
      value: z.string().nullable(),
      /** Records in each bucket. */
      counts: z.array(z.int()),
      total: z.int(),
    }),
  ),
  total: z.int(),
});
export type LogHitsAnswer = z.infer<typeof logHitsAnswer>;

const valueCount = z.object({ value: z.string(), count: z.int() });

/** `/logs/facets`: the most frequent values of fields. */
export const logFacetsRequest = logRange.extend({
  /** Default: those that say most about the records that are there. */
  fields: fields.optional(),
  limit: whole(1, LOG_LIMITS.facetValues).default(10),
});
export type LogFacetsRequest = z.input<typeof logFacetsRequest>;

export const logFacetsAnswer = resolved.extend({
  total: z.int(),
  facets: z.array(z.object({ field: z.string(), values: z.array(valueCount) })),
});
export type LogFacetsAnswer = z.infer<typeof logFacetsAnswer>;

/** `/logs/field_names`: fields that matching records have. */
export const logFieldNamesRequest = logRange.extend({ limit: whole(1, LOG_LIMITS.fieldNames).default(500) });
export type LogFieldNamesRequest = z.input<typeof logFieldNamesRequest>;

export const logFieldNamesAnswer = resolved.extend({
  /** `count`: records that have the field. */
  fields: z.array(z.object({ name: z.string(), count: z.int() })),
});
export type LogFieldNamesAnswer = z.infer<typeof logFieldNamesAnswer>;

/** `/logs/field_values`: values of one field, the most frequent first. */
export const logFieldValuesRequest = logRange.extend({
  field,
  /** Only values that begin so. */
  prefix: z.string().max(1024).default(''),
  limit: whole(1, LOG_LIMITS.fieldValues).default(50),
});
export type LogFieldValuesRequest = z.input<typeof logFieldValuesRequest>;

export const logFieldValuesAnswer = resolved.extend({ values: z.array(valueCount) });
export type LogFieldValuesAnswer = z.infer<typeof logFieldValuesAnswer>;

/** `/logs/context`: what was logged before and after a record. */
export const logContextRequest = z.object({
  id: z.string().min(1).max(128),
  timestamp: time,
  /** Fields in which the neighbours must agree with the record, for example `ClientIP`. Default: its dataset alone. */
  same: fields.optional(),
  before: whole(0, LOG_LIMITS.context).default(10),
  after: whole(0, LOG_LIMITS.context).default(10),
});
export type LogContextRequest = z.input<typeof logContextRequest>;

/** All three oldest first. */
export const logContextAnswer = z.object({ before: z.array(logRecord), record: logRecord, after: z.array(logRecord) });
export type LogContextAnswer = z.infer<typeof logContextAnswer>;

/**
 * `/logs/tail`: server-sent events. `event: record` has a `logRecord` as data; `event: dropped` has `{"count": n}`, records left out since
 * they came faster than they could be sent; `event: error` has an error body and is the last. A comment comes every 15 seconds.
 */
export const logTailRequest = z.object({
  query: logRange.shape.query,
  /** Records received before this moment are not sent. */
  from: time.default('now'),
});
export type LogTailRequest = z.input<typeof logTailRequest>;

/**
 * `/logs/export`: streamed, oldest first.
 * - `raw`: lines as they were delivered, byte for byte.
 * - `ndjson`: a `logRecord` to a line, or a row as an object.
 * - `csv`: RFC 4180 with a header line; records have the columns `fields`, or else timestamp, dataset, severity_text, service, body, raw.
 */
export const logExportRequest = logRange.extend({
  format: z.enum(['raw', 'ndjson', 'csv']).default('raw'),
  fields: fields.optional(),
  /** Records at most. Default: all. */
  limit: whole(1, Number.MAX_SAFE_INTEGER).optional(),
});
export type LogExportRequest = z.input<typeof logExportRequest>;

/** The answer of `POST /cloudflare`. */
export const logIntakeAnswer = z.object({
  /** Records that are stored for good. */
  accepted: z.int(),
  /** Lines that are no records; kept beside the log with their reasons. */
  rejected: z.int(),
});
export type LogIntakeAnswer = z.infer<typeof logIntakeAnswer>;
