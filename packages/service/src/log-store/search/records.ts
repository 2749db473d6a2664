/** Turns rows of the log table into records as the API gives them. A record's fields are read from its line, where they have their types. */
import type { LogRecord } from '@obsiac/api';
import { ABSENT_VALUES, RENAMED_FIELDS } from '../columns.ts';
import type { Cell } from './connection.ts';
import { type CellKind, ID_TEXT } from './fields.ts';
import { OTEL_FIELDS } from './otel-fields.ts';

/** The columns of a record, in the order that `toRecord` takes them; as JSONCompactEachRow. */
export const RECORD_COLUMNS: readonly string[] = [
  ID_TEXT,
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
];

type Fields = Record<string, unknown>;

/** @param row cells of `RECORD_COLUMNS`, 64-bit integers as text. */
export function toRecord(row: readonly Cell[]): LogRecord {
  const [
    id,
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
  const fields: Fields = {};
  addLine(fields, dataset as string, raw as string);
  addFlat(fields, attributes, '', false);
  addOtelFields(fields);
  return {
    id: id as string,
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

/** Fields of a line that are shown as records of their own. */
const TAKEN_OUT = new Set(['Logs', 'Exceptions']);

function addLine(into: Fields, dataset: string, raw: string): void {
  const line = parseObject(raw);
  if (line === undefined) return;
  if (dataset === 'otlp') {
    addOtlp(into, line);
    return;
  }
  for (const [given, value] of Object.entries(line)) {
    const name = RENAMED_FIELDS.get(given) ?? given;
    const taken = dataset === 'workers_trace_events' && TAKEN_OUT.has(name);
    if (!taken && value !== ABSENT_VALUES.get(name)) addFlat(into, value, name, name === given);
  }
}

/** The record's own attributes come before the scope's, and those before the resource's of the same name. */
function addOtlp(into: Fields, { resource, scope, eventName, attributes }: Fields): void {
  const { name, version, attributes: ofScope } = (scope ?? {}) as Fields;
  const own = { 'event.name': eventName, 'otel.scope.name': name, 'otel.scope.version': version };
  for (const source of [resource, ofScope, own, attributes]) addFlat(into, source, '', true);
}

/** Integers beyond 2^53 become texts. Undefined: not a JSON object. */
function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = /\d{16}/.test(text)
      ? JSON.parse(text, exactInteger as (key: string, value: unknown) => unknown)
      : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function exactInteger(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  const lossy = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return lossy ? (context?.source ?? value) : value;
}

/** Adds a value under its dotted name, what is in objects under theirs; absent values are left out. */
function addFlat(into: Fields, value: unknown, name: string, replace: boolean): void {
  if (value === null || value === undefined || value === '') return;
  if (Array.isArray(value)) {
    if (value.length > 0) set(into, name, value, replace);
  } else if (typeof value === 'object') {
    for (const [member, inner] of Object.entries(value))
      addFlat(into, inner, name === '' ? member : `${name}.${member}`, replace);
  } else {
    set(into, name, value, replace);
  }
}

/** A field may be called `__proto__`. */
function set(into: Fields, name: string, value: unknown, replace: boolean): void {
  if (!replace && Object.hasOwn(into, name)) return;
  Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

function addOtelFields(fields: Fields): void {
  const read = (column: string) => {
    const value = Object.hasOwn(fields, column) ? fields[column] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? value : undefined;
  };
  const found: [string, string | number][] = [];
  for (const { name, value } of OTEL_FIELDS.values()) {
    const result = value(read);
    if (result !== undefined && result !== '') found.push([name, result]);
  }
  for (const [name, value] of found) set(fields, name, value, false);
}

/** A cell of a result as a JSON value; null when it is absent. Integers beyond 2^53 stay texts. */
export function toJsonValue(cell: Cell, kind: CellKind): unknown {
  if (cell === null || cell === '') return null;
  switch (kind) {
    case 'integer':
      return wholeNumber(String(cell));
    case 'float':
      return Number(cell);
    case 'list':
      return (cell as readonly Cell[]).length === 0 ? null : cell;
    case 'json':
      return /^-?\d+$/.test(cell as string) ? wholeNumber(cell as string) : (JSON.parse(cell as string) as unknown);
    default:
      return cell;
  }
}

function wholeNumber(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}
