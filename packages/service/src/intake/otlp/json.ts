/** Decodes OTLP/HTTP in JSON: lowerCamelCase keys, hex ids, 64-bit integers as text or number, bytes in base64. */
import type { FieldValue } from '@obsiac/model';
import { type Attributes, MAX_VALUE_DEPTH, OtlpDecodeError, type OtlpRecord } from './record.ts';

export type JsonObject = { readonly [key: string]: unknown };

/** ExportLogsServiceRequest to its records, in order. Throws `OtlpDecodeError` when the text is not one. */
export function decodeLogsRequestJson(text: string): OtlpRecord[] {
  const request = asObject(parseExact(text), 'the request');
  const records: OtlpRecord[] = [];
  for (const [index, item] of asList(request['resourceLogs'], 'resourceLogs').entries()) {
    const place = `resourceLogs[${index}]`;
    const resourceLogs = asObject(item, place);
    const resource = readAttributes(
      asObject(resourceLogs['resource'] ?? {}, `${place}.resource`)['attributes'],
      `${place}.resource`,
    );
    for (const [scopeIndex, scopeItem] of asList(resourceLogs['scopeLogs'], `${place}.scopeLogs`).entries()) {
      readScopeLogs(scopeItem, `${place}.scopeLogs[${scopeIndex}]`, resource, records);
    }
  }
  return records;
}

function readScopeLogs(item: unknown, place: string, resource: Attributes, into: OtlpRecord[]): void {
  const scopeLogs = asObject(item, place);
  const raw = asObject(scopeLogs['scope'] ?? {}, `${place}.scope`);
  const scope = {
    name: asText(raw['name'], `${place}.scope.name`),
    version: asText(raw['version'], `${place}.scope.version`),
    attributes: readAttributes(raw['attributes'], `${place}.scope`),
  };
  for (const [index, record] of asList(scopeLogs['logRecords'], `${place}.logRecords`).entries()) {
    into.push(
      readRecord(asObject(record, `${place}.logRecords[${index}]`), `${place}.logRecords[${index}]`, resource, scope),
    );
  }
}

function readRecord(record: JsonObject, place: string, resource: Attributes, scope: OtlpRecord['scope']): OtlpRecord {
  return {
    timeUnixNano: asBigInt(record['timeUnixNano'], `${place}.timeUnixNano`),
    observedTimeUnixNano: asBigInt(record['observedTimeUnixNano'], `${place}.observedTimeUnixNano`),
    severityNumber: asNumber(record['severityNumber'], `${place}.severityNumber`),
    severityText: asText(record['severityText'], `${place}.severityText`),
    body: readValue(record['body'], `${place}.body`, 0),
    attributes: readAttributes(record['attributes'], place),
    droppedAttributesCount: asNumber(record['droppedAttributesCount'], `${place}.droppedAttributesCount`),
    flags: asNumber(record['flags'], `${place}.flags`),
    traceId: asText(record['traceId'], `${place}.traceId`).toLowerCase(),
    spanId: asText(record['spanId'], `${place}.spanId`).toLowerCase(),
    eventName: asText(record['eventName'], `${place}.eventName`),
    resource,
    scope,
  };
}

/** Integers beyond 2^53 come as their source text, which the readers below take as well. */
export function parseExact(text: string): unknown {
  try {
    if (!/[:[,\s]-?\d{16,}[\s,\]}]/.test(text)) return JSON.parse(text);
    const reviver = (_key: string, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
        ? (context?.source ?? value)
        : value;
    return JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]);
  } catch (error) {
    throw new OtlpDecodeError(`The body is not JSON: ${(error as Error).message}.`, error);
  }
}

export function readAttributes(list: unknown, place: string, depth = 0): Attributes {
  const attributes: Record<string, FieldValue> = {};
  for (const [index, item] of asList(list, `${place}.attributes`).entries()) {
    const pair = asObject(item, `${place}.attributes[${index}]`);
    const key = asText(pair['key'], `${place}.attributes[${index}].key`);
    const value = readValue(pair['value'], `${place}.attributes[${index}].value`, depth);
    Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return attributes;
}

function readValue(value: unknown, place: string, depth: number): FieldValue {
  if (value === undefined || value === null) return null;
  if (depth > MAX_VALUE_DEPTH) throw new OtlpDecodeError(`${place} nests deeper than ${MAX_VALUE_DEPTH} levels.`);
  const any = asObject(value, place);
  if (any['stringValue'] !== undefined) return asText(any['stringValue'], place);
  if (any['boolValue'] !== undefined) return any['boolValue'] === true || any['boolValue'] === 'true';
  if (any['intValue'] !== undefined) return asInteger(any['intValue'], place);
  if (any['doubleValue'] !== undefined) return asDouble(any['doubleValue'], place);
  if (any['bytesValue'] !== undefined) return asText(any['bytesValue'], place);
  if (any['arrayValue'] !== undefined) {
    const { values } = asObject(any['arrayValue'], place);
    return asList(values, place).map((element, index) => readValue(element, `${place}[${index}]`, depth + 1));
  }
  if (any['kvlistValue'] !== undefined) {
    return readAttributes(asObject(any['kvlistValue'], place)['values'], place, depth + 1);
  }
  return null;
}

function refuse(place: string, what: string): never {
  throw new OtlpDecodeError(`${place} must be ${what}.`);
}

export function asObject(value: unknown, place: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(place, 'an object');
  return value as JsonObject;
}

export function asList(value: unknown, place: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : refuse(place, 'an array');
}

export function asText(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : refuse(place, 'a string');
}

export function asNumber(value: unknown, place: string): number {
  if (value === undefined || value === null) return 0;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : refuse(place, 'an integer');
}

export function asBigInt(value: unknown, place: string): bigint {
  if (value === undefined || value === null) return 0n;
  const text = String(value);
  if (!/^\d{1,20}$/.test(text)) return refuse(place, 'a 64-bit integer, as text or number');
  return BigInt.asUintN(64, BigInt(text));
}

function asInteger(value: unknown, place: string): FieldValue {
  const text = String(value);
  if (!/^-?\d{1,20}$/.test(text)) return refuse(place, 'a 64-bit integer, as text or number');
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

export function asDouble(value: unknown, place: string): FieldValue {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
  return Number.isNaN(number) ? refuse(place, 'a number') : number;
}
