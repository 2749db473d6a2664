/**
 * Decodes and encodes OTLP/HTTP in protobuf.
 * Field numbers are those of opentelemetry-proto 1.x: collector/logs/v1/logs_service.proto, logs/v1/logs.proto,
 * common/v1/common.proto, resource/v1/resource.proto, and google/rpc/status.proto.
 */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { FieldValue } from '@obsiac/model';
import { type Attributes, MAX_VALUE_DEPTH, OtlpDecodeError, type OtlpRecord } from './record.ts';

type Field = (reader: BinaryReader, depth: number) => void;
interface FieldTable {
  readonly [fieldNumber: number]: readonly [WireType, Field];
}

/** Reads one message: calls the table's function for each known field and skips the unknown, as proto3 demands. */
function readMessage(reader: BinaryReader, length: number, depth: number, fields: FieldTable): void {
  if (depth > MAX_VALUE_DEPTH) throw new OtlpDecodeError(`The request nests deeper than ${MAX_VALUE_DEPTH} levels.`);
  const end = reader.pos + length;
  if (end > reader.len) throw new OtlpDecodeError('The protobuf body ends in the middle of a message.');
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    const field = fields[number];
    if (field && field[0] === wireType) field[1](reader, depth);
    else reader.skip(wireType, number);
  }
  if (reader.pos !== end) throw new OtlpDecodeError('A field of the protobuf body is longer than its message.');
}

function nested(read: (reader: BinaryReader, length: number, depth: number) => void): readonly [WireType, Field] {
  return [WireType.LengthDelimited, (reader, depth) => read(reader, reader.uint32(), depth + 1)];
}

const toBigInt = (value: bigint | string): bigint => BigInt(value);

function toInteger(value: bigint | string): number | bigint {
  const exact = toBigInt(value);
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function readValue(reader: BinaryReader, length: number, depth: number): FieldValue {
  let value: FieldValue = null;
  const set = (read: (of: BinaryReader) => FieldValue): Field => {
    return (of) => {
      value = read(of);
    };
  };
  readMessage(reader, length, depth, {
    1: [WireType.LengthDelimited, set((of) => of.string())],
    2: [WireType.Varint, set((of) => of.bool())],
    3: [WireType.Varint, set((of) => toInteger(of.int64()))],
    4: [WireType.Bit64, set((of) => finite(of.double()))],
    5: nested((of, size, level) => {
      value = readArray(of, size, level);
    }),
    6: nested((of, size, level) => {
      value = readAttributes(of, size, level, 1);
    }),
    7: [WireType.LengthDelimited, set((of) => Buffer.from(of.bytes()).toString('base64'))],
  });
  return value;
}

/** JSON has no NaN and no infinities; they are kept as their names. */
function finite(value: number): FieldValue {
  return Number.isFinite(value) ? value : String(value);
}

function readArray(reader: BinaryReader, length: number, depth: number): FieldValue {
  const values: FieldValue[] = [];
  readMessage(reader, length, depth, {
    1: nested((of, size, level) => {
      values.push(readValue(of, size, level));
    }),
  });
  return values;
}

/** A message whose field `number` is a repeated KeyValue: KeyValueList (1). */
function readAttributes(reader: BinaryReader, length: number, depth: number, number: number): Attributes {
  const attributes: Record<string, FieldValue> = {};
  readMessage(reader, length, depth, { [number]: keyValueInto(attributes) });
  return attributes;
}

/** A field of KeyValue, put into `attributes`. */
export function keyValueInto(attributes: Record<string, FieldValue>): readonly [WireType, Field] {
  return nested((reader, length, depth) => {
    let key = '';
    let value: FieldValue = null;
    readMessage(reader, length, depth, {
      1: [
        WireType.LengthDelimited,
        (of) => {
          key = of.string();
        },
      ],
      2: nested((of, size, level) => {
        value = readValue(of, size, level);
      }),
    });
    Object.defineProperty(attributes, key, { value, enumerable: true, configurable: true, writable: true });
  });
}

interface Scope {
  name: string;
  version: string;
  attributes: Record<string, FieldValue>;
}

function readScope(reader: BinaryReader, length: number, depth: number): Scope {
  const scope: Scope = { name: '', version: '', attributes: {} };
  readMessage(reader, length, depth, {
    1: [
      WireType.LengthDelimited,
      (of) => {
        scope.name = of.string();
      },
    ],
    2: [
      WireType.LengthDelimited,
      (of) => {
        scope.version = of.string();
      },
    ],
    3: keyValueInto(scope.attributes),
  });
  return scope;
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };
type BareRecord = Mutable<Omit<OtlpRecord, 'resource' | 'scope'>>;

function emptyRecord(attributes: Attributes): BareRecord {
  return {
    timeUnixNano: 0n,
    observedTimeUnixNano: 0n,
    severityNumber: 0,
    severityText: '',
    body: null,
    attributes,
    droppedAttributesCount: 0,
    flags: 0,
    traceId: '',
    spanId: '',
    eventName: '',
  };
}

function readRecord(reader: BinaryReader, length: number, depth: number): BareRecord {
  const attributes: Record<string, FieldValue> = {};
  const record = emptyRecord(attributes);
  const set = <Key extends keyof BareRecord>(key: Key, read: (of: BinaryReader) => BareRecord[Key]): Field => {
    return (of) => {
      record[key] = read(of);
    };
  };
  readMessage(reader, length, depth, {
    1: [WireType.Bit64, set('timeUnixNano', (of) => toBigInt(of.fixed64()))],
    2: [WireType.Varint, set('severityNumber', (of) => of.int32())],
    3: [WireType.LengthDelimited, set('severityText', (of) => of.string())],
    5: nested((of, size, level) => {
      record.body = readValue(of, size, level);
    }),
    6: keyValueInto(attributes),
    7: [WireType.Varint, set('droppedAttributesCount', (of) => of.uint32())],
    8: [WireType.Bit32, set('flags', (of) => of.fixed32())],
    9: [WireType.LengthDelimited, set('traceId', (of) => hex(of.bytes()))],
    10: [WireType.LengthDelimited, set('spanId', (of) => hex(of.bytes()))],
    11: [WireType.Bit64, set('observedTimeUnixNano', (of) => toBigInt(of.fixed64()))],
    12: [WireType.LengthDelimited, set('eventName', (of) => of.string())],
  });
  return record;
}

/** ExportLogsServiceRequest to its records, in order. Throws `OtlpDecodeError` when the bytes are not one. */
export function decodeLogsRequest(bytes: Uint8Array): OtlpRecord[] {
  const records: OtlpRecord[] = [];
  const reader = new BinaryReader(bytes);
  try {
    readMessage(reader, bytes.length, 0, {
      1: nested((of, size, level) => readResourceLogs(of, size, level, records)),
    });
  } catch (error) {
    if (error instanceof OtlpDecodeError) throw error;
    throw new OtlpDecodeError('The body is not an ExportLogsServiceRequest in protobuf.', error);
  }
  return records;
}

/** The fields of a message come in any order, so records wait until resource and scope are known. */
function readResourceLogs(reader: BinaryReader, length: number, depth: number, into: OtlpRecord[]): void {
  const resource: Record<string, FieldValue> = {};
  const groups: { scope: Scope; records: BareRecord[] }[] = [];
  readMessage(reader, length, depth, {
    1: nested((of, size, level) => readMessage(of, size, level, { 1: keyValueInto(resource) })),
    2: nested((of, size, level) => groups.push(readScopeLogs(of, size, level))),
  });
  for (const { scope, records } of groups) for (const record of records) into.push({ ...record, resource, scope });
}

function readScopeLogs(reader: BinaryReader, length: number, depth: number): { scope: Scope; records: BareRecord[] } {
  let scope: Scope = { name: '', version: '', attributes: {} };
  const records: BareRecord[] = [];
  readMessage(reader, length, depth, {
    1: nested((of, size, level) => {
      scope = readScope(of, size, level);
    }),
    2: nested((of, size, level) => records.push(readRecord(of, size, level))),
  });
  return { scope, records };
}

/** ExportLogsServiceResponse; without rejected records it is the empty message. */
export function encodeLogsResponse(rejected: number, message: string): Uint8Array {
  const writer = new BinaryWriter();
  if (rejected > 0 || message !== '') {
    writer.tag(1, WireType.LengthDelimited).fork();
    if (rejected > 0) writer.tag(1, WireType.Varint).int64(rejected);
    if (message !== '') writer.tag(2, WireType.LengthDelimited).string(message);
    writer.join();
  }
  return writer.finish();
}

/** google.rpc.Status, the body of every refusal of OTLP/HTTP. */
export function encodeStatus(code: number, message: string): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.Varint)
    .int32(code)
    .tag(2, WireType.LengthDelimited)
    .string(message)
    .finish();
}
