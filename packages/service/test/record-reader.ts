/** What a delivery means to the query language: its rows as intake normalises them, and their fields. Knows nothing of SQL. */
import type { FieldReader, FieldValue } from '@obsiac/model';
import { isObject, parseExact } from '../src/intake/normalise/exact-json.ts';
import { otlpRow } from '../src/intake/normalise/otlp.ts';
import { datasetOf, rowsOf } from '../src/intake/normalise/record.ts';
import { decodeLogsRequestJson } from '../src/intake/otlp/json.ts';
import { COLUMNS, RENAMED_FIELDS, type RecordRow } from '../src/log-store/index.ts';
import { OTEL_FIELDS } from '../src/log-store/search/otel-fields.ts';
import type { Delivery } from './log-lines.ts';

/** A record as the store should have it. */
export interface ExpectedRecord {
  readonly row: RecordRow;
  readonly dataset: string;
  /** Sixteen hex digits, as the store gives them; see `identify`. */
  id: string;
}

const NEVER = '0';

/** The records that a delivery makes. All generated records have a time of their own. */
export function expectedRecords(delivery: Delivery): ExpectedRecord[] {
  if (delivery.kind === 'otlp') {
    const records = decodeLogsRequestJson(delivery.request);
    return records.map((record) => ({ row: otlpRow(record, NEVER), dataset: 'otlp', id: '' }));
  }
  return delivery.lines.flatMap((line) => {
    const record = parseExact(line);
    if (!isObject(record)) throw new Error(`not a record: ${line}`);
    const dataset = delivery.dataset ?? datasetOf(Object.keys(record));
    return rowsOf(dataset, record, { raw: line }, NEVER).map((row) => ({ row, dataset, id: '' }));
  });
}

/** By what a record is found in the store: its line, and the number of its part. */
export function recordKey(dataset: string, raw: string, part: number): string {
  return JSON.stringify([dataset, raw, part]);
}

/** Datasets and the field that says their records' time: it is the time, exact. */
const TIME_FIELDS: Readonly<Record<string, string>> = {
  http_requests: 'EdgeStartTimestamp',
  firewall_events: 'Datetime',
  dns_logs: 'Timestamp',
};

const TEXT_PARTS = ['body', 'service', 'severity_text', 'trace_id', 'span_id', 'raw'];

const PARTS = new Set([...TEXT_PARTS, 'id', 'dataset', 'timestamp', 'service.name', 'severity_number', 'part']);

/** The fields of a record by name, each worked out once. */
export function readerOf({ row, dataset, id }: ExpectedRecord): FieldReader {
  const column = (name: string): FieldValue | undefined => {
    const found = row[name];
    if (found === undefined || found === null || found === '') return undefined;
    if (Array.isArray(found) && found.length === 0) return undefined;
    const kind = COLUMNS.get(name);
    return kind === 'integer' || kind === 'time' ? BigInt(found as string) : (found as FieldValue);
  };
  const attributes = row.attributes as Readonly<Record<string, FieldValue>>;
  const attribute = (name: string) => {
    const found = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return Array.isArray(found) && found.length === 0 ? undefined : found;
  };
  const part = (name: string): FieldValue | undefined => {
    if (name === 'id') return id;
    if (name === 'dataset') return dataset;
    if (name === 'timestamp') return BigInt(row.timestamp);
    if (name === 'service.name') return column('service');
    if (name === 'severity_number') return row.severity_number ?? 0;
    if (name === 'part') return row.part ?? 0;
    return TEXT_PARTS.includes(name) ? column(name) : undefined;
  };
  const read = (asked: string): FieldValue | undefined => {
    const name = RENAMED_FIELDS.get(asked) ?? asked;
    if (PARTS.has(name)) return part(name);
    if (COLUMNS.has(name)) return column(name);
    if (TIME_FIELDS[dataset] === name) return BigInt(row.timestamp);
    const otel = OTEL_FIELDS.get(name)?.value((of) => {
      const cell = column(of);
      return typeof cell === 'bigint' ? Number(cell) : (cell as string | number | undefined);
    });
    return otel === undefined || otel === '' ? attribute(name) : otel;
  };
  const known = new Map<string, FieldValue | undefined>();
  return (name) => {
    if (!known.has(name)) known.set(name, read(name));
    return known.get(name);
  };
}
