/** Turns rows of the log table into records as the API gives them. */
import type { LogRecord } from '@obsiac/api';
import { quoteIdentifier } from '../../engine/index.ts';
import { COLUMNS } from '../columns.ts';
import type { Cell } from './connection.ts';
import { OTEL_FIELDS } from './otel-fields.ts';
import type { CellKind } from './statement.ts';

const FIXED = [
  'lower(hex(id))',
  'part',
  'toUnixTimestamp64Nano(timestamp)',
  'toUnixTimestamp64Nano(observed_timestamp)',
  'dataset',
  'severity_number',
  'severity_text',
  'service',
  'trace_id',
  'span_id',
  'body',
  'raw',
  'attributes',
] as const;

/** The columns of a record, in the order that `toRecord` takes them; as JSONCompactEachRow. */
export const RECORD_COLUMNS: readonly string[] = [...FIXED, ...[...COLUMNS.keys()].map(quoteIdentifier)];

const FIELD_NAMES = [...COLUMNS.entries()];

/** @param row cells of `RECORD_COLUMNS`, 64-bit integers as text. */
export function toRecord(row: readonly Cell[]): LogRecord {
  const [
    id,
    part,
    timestamp,
    observed,
    dataset,
    severityNumber,
    severityText,
    service,
    traceId,
    spanId,
    body,
    raw,
    attributes,
  ] = row;
  const fields: Record<string, unknown> = {};
  FIELD_NAMES.forEach(([name, kind], index) => {
    const value = toJsonValue(
      row[FIXED.length + index] as Cell,
      kind === 'time' ? 'integer' : kind === 'keyword' ? 'text' : kind,
    );
    if (value !== null) fields[name] = value;
  });
  addOtelFields(fields);
  addAttributes(fields, attributes as Cell, '');
  return {
    id: recordId(id as string, part as number),
    timestamp: timestamp as string,
    observed_timestamp: observed as string,
    dataset: dataset as string,
    severity_number: severityNumber as number,
    severity_text: severityText as string,
    service: service as string,
    trace_id: traceId as string,
    span_id: spanId as string,
    body: body as string,
    attributes: fields,
    raw: raw as string,
  };
}

/** A record that was taken out of its line has the line's own id no more: its hash holds its number. */
export function recordId(hash: string, part: number): string {
  return part === 0 ? hash : `${hash}-${part}`;
}

/** The hash and part of an id; undefined when it is none. */
export function parseRecordId(id: string): { readonly hash: string; readonly part: number } | undefined {
  const match = /^([0-9a-f]{16})(?:-([1-9]\d{0,4}))?$/.exec(id);
  return match === null ? undefined : { hash: match[1] as string, part: Number(match[2] ?? 0) };
}

function addOtelFields(fields: Record<string, unknown>): void {
  const read = (column: string) => fields[column] as string | number | undefined;
  const found: [string, unknown][] = [];
  for (const { name, value } of OTEL_FIELDS.values()) {
    const result = value(read);
    if (result !== undefined && result !== '') found.push([name, result]);
  }
  for (const [name, value] of found) fields[name] = value;
}

/** Nested objects become dotted names. */
function addAttributes(into: Record<string, unknown>, value: Cell, prefix: string): void {
  for (const [name, member] of Object.entries(value as Record<string, Cell>)) {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (typeof member === 'object' && member !== null && !Array.isArray(member)) addAttributes(into, member, path);
    else Object.defineProperty(into, path, { value: member, enumerable: true, configurable: true, writable: true });
  }
}

/** A cell of a result as a JSON value; null when it is absent. Integers beyond 2^53 stay texts. */
export function toJsonValue(cell: Cell, kind: CellKind): unknown {
  if (cell === null || cell === '') return null;
  switch (kind) {
    case 'integer': {
      const number = Number(cell);
      return Number.isSafeInteger(number) ? number : String(cell);
    }
    case 'float':
      return Number(cell);
    case 'list':
      return (cell as readonly Cell[]).length === 0 ? null : cell;
    default:
      return cell;
  }
}
