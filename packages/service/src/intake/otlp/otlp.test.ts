import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { decodeLogsRequestJson } from './json.ts';
import { decodeLogsRequest, encodeLogsResponse, encodeStatus } from './protobuf.ts';
import { OtlpDecodeError } from './record.ts';

const message = (writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void) => {
  writer.tag(field, WireType.LengthDelimited).fork();
  write(writer);
  writer.join();
};
const text = (writer: BinaryWriter, field: number, value: string) =>
  writer.tag(field, WireType.LengthDelimited).string(value);
const keyValue = (writer: BinaryWriter, field: number, key: string, value: (inner: BinaryWriter) => void) =>
  message(writer, field, (pair) => {
    text(pair, 1, key);
    message(pair, 2, value);
  });

/** Scope logs before the resource, as a sender may order them, and an unknown field in between. */
function protobufRequest(): Uint8Array {
  const writer = new BinaryWriter();
  message(writer, 1, (resourceLogs) => {
    message(resourceLogs, 2, (scopeLogs) => {
      message(scopeLogs, 2, (record) => {
        record.tag(1, WireType.Bit64).fixed64(1506702504433000201n);
        record.tag(11, WireType.Bit64).fixed64(1506702504433000202n);
        record.tag(2, WireType.Varint).int32(17);
        text(record, 3, 'ERROR');
        message(record, 5, (body) => text(body, 1, 'card declined'));
        keyValue(record, 6, 'big', (value) => value.tag(3, WireType.Varint).int64(9007199254740993n));
        keyValue(record, 6, 'small', (value) => value.tag(3, WireType.Varint).int64(-5));
        keyValue(record, 6, 'ratio', (value) => value.tag(4, WireType.Bit64).double(0.25));
        keyValue(record, 6, 'nan', (value) => value.tag(4, WireType.Bit64).double(Number.NaN));
        keyValue(record, 6, 'on', (value) => value.tag(2, WireType.Varint).bool(true));
        keyValue(record, 6, 'blob', (value) =>
          value.tag(7, WireType.LengthDelimited).bytes(new Uint8Array([1, 2, 255])),
        );
        keyValue(record, 6, 'list', (value) =>
          message(value, 5, (list) => message(list, 1, (item) => text(item, 1, 'x'))),
        );
        keyValue(record, 6, '__proto__', (value) =>
          message(value, 6, (map) => keyValue(map, 1, 'k', (inner) => text(inner, 1, 'v'))),
        );
        record.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(16).fill(171));
        record.tag(10, WireType.LengthDelimited).bytes(new Uint8Array(8).fill(1));
        record.tag(99, WireType.Varint).uint32(7);
        text(record, 12, 'payment.declined');
      });
      message(scopeLogs, 1, (scope) => {
        text(scope, 1, 'pay');
        text(scope, 2, '1.2');
      });
    });
    message(resourceLogs, 1, (resource) =>
      keyValue(resource, 1, 'service.name', (value) => text(value, 1, 'checkout')),
    );
  });
  return writer.finish();
}

const jsonRequest = `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"checkout"}}]},
 "scopeLogs":[{"scope":{"name":"pay","version":"1.2"},"logRecords":[{"timeUnixNano":1506702504433000201,"observedTimeUnixNano":"1506702504433000202",
 "severityNumber":17,"severityText":"ERROR","body":{"stringValue":"card declined"},"eventName":"payment.declined","traceId":"ABABABABABABABABABABABABABABABAB","spanId":"0101010101010101","unknownKey":1,
 "attributes":[{"key":"big","value":{"intValue":"9007199254740993"}},{"key":"small","value":{"intValue":-5}},{"key":"ratio","value":{"doubleValue":0.25}},{"key":"nan","value":{"doubleValue":"NaN"}},
 {"key":"on","value":{"boolValue":true}},{"key":"blob","value":{"bytesValue":"AQL/"}},{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"}]}}},
 {"key":"__proto__","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}}]}]}]}]}`;

describe('the two encodings say the same', () => {
  const [fromProtobuf] = decodeLogsRequest(protobufRequest());
  test('every field is read', () => {
    expect(fromProtobuf).toMatchObject({
      timeUnixNano: 1506702504433000201n,
      observedTimeUnixNano: 1506702504433000202n,
      severityNumber: 17,
      severityText: 'ERROR',
      body: 'card declined',
      traceId: 'ab'.repeat(16),
      spanId: '01'.repeat(8),
      eventName: 'payment.declined',
      resource: { 'service.name': 'checkout' },
      scope: { name: 'pay', version: '1.2', attributes: {} },
    });
    expect(Object.entries(fromProtobuf?.attributes ?? {})).toEqual([
      ['big', 9007199254740993n],
      ['small', -5],
      ['ratio', 0.25],
      ['nan', 'NaN'],
      ['on', true],
      ['blob', 'AQL/'],
      ['list', ['x']],
      ['__proto__', { k: 'v' }],
    ]);
  });
  test('JSON gives the same record', () => {
    expect(decodeLogsRequestJson(jsonRequest)).toEqual([fromProtobuf]);
  });
});

test('an empty request is a request', () => {
  expect(decodeLogsRequest(new Uint8Array())).toEqual([]);
  expect(decodeLogsRequestJson('{}')).toEqual([]);
});

test('every truncation of a request is refused or is a shorter request, and nothing else is thrown', () => {
  const bytes = protobufRequest();
  for (let length = 1; length < bytes.length; length += 1) {
    expect(() => decodeLogsRequest(bytes.subarray(0, length))).toThrow(OtlpDecodeError);
  }
});

test('deep nesting is refused in both encodings', () => {
  let value = '{"stringValue":"x"}';
  for (let level = 0; level < 200; level += 1) value = `{"arrayValue":{"values":[${value}]}}`;
  const request = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${value}}]}]}]}`;
  expect(() => decodeLogsRequestJson(request)).toThrow(/nests deeper/);
  let bytes = new BinaryWriter().tag(1, WireType.LengthDelimited).string('x').finish();
  for (let level = 0; level < 200; level += 1) {
    const list = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(bytes).finish();
    bytes = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(list).finish();
  }
  for (const field of [5, 2, 2, 1])
    bytes = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  expect(() => decodeLogsRequest(bytes)).toThrow(/nests deeper/);
});

test.each([
  ['[]', /the request must be an object/],
  ['{"resourceLogs":{}}', /resourceLogs must be an array/],
  [
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"severityText":5}]}]}]}',
    /logRecords\[0\].severityText must be a string/,
  ],
  [
    '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"soon"}]}]}]}',
    /timeUnixNano must be a 64-bit integer/,
  ],
  ['{"resourceLogs":', /not JSON/],
])('refuses %s', (request, reason) => {
  expect(() => decodeLogsRequestJson(request)).toThrow(reason);
});

test('answers', () => {
  expect(encodeLogsResponse(0, '')).toHaveLength(0);
  expect(Buffer.from(encodeLogsResponse(3, 'bad')).toString('hex')).toBe('0a0708031203626164');
  expect(Buffer.from(encodeStatus(3, 'no')).toString('hex')).toBe('080312026e6f');
});
