/** OTLP/HTTP logs over real HTTP: both encodings, their answers, their refusals. */
import { gzipSync } from 'node:zlib';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LogService, post, startLogService } from '../../../test/logs.ts';

const LIMIT = 2 * 1024 * 1024;
let service: LogService;
beforeAll(async () => {
  service = await startLogService({ settings: { otlp_body_limit: LIMIT, intake_line_limit: 100_000 } });
});
afterAll(() => service.stop());

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';
const send = (body: Uint8Array | string, type: string, headers: Record<string, string | undefined> = {}) =>
  service.deliver('/v1/logs', body, { authorization: service.access.authorization, 'content-type': type, ...headers });
const sent = (logRecords: readonly object[]) => ({
  resourceLogs: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] },
      scopeLogs: [{ scope: { name: 'app', version: '1' }, logRecords }],
    },
  ],
});
const record = (body: string, change: object = {}) => ({
  timeUnixNano: '1506702504433000201',
  severityNumber: 13,
  body: { stringValue: body },
  ...change,
});
const rowsOf = (body: string) =>
  service.rows<Record<string, unknown>>(
    `SELECT *, toString(toUnixTimestamp64Nano(timestamp)) AS nanos FROM obsiac.logs WHERE body = '${body}'`,
  );
/** A request of one record with the least there can be. */
function protobuf(body: string, records = 1): Uint8Array {
  const writer = new BinaryWriter();
  const nested = (field: number, write: () => void) => {
    writer.tag(field, WireType.LengthDelimited).fork();
    write();
    writer.join();
  };
  nested(1, () =>
    nested(2, () => {
      for (let index = 0; index < records; index += 1) {
        nested(2, () => {
          writer.tag(1, WireType.Bit64).fixed64(1506702504433000201n);
          writer.tag(2, WireType.Varint).int32(17);
          nested(5, () => writer.tag(1, WireType.LengthDelimited).string(records === 1 ? body : `${body} ${index}`));
          writer.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(16).fill(0xab));
        });
      }
    }),
  );
  return writer.finish();
}
function statusOf(bytes: Buffer): { code: number; message: string } {
  const reader = new BinaryReader(bytes);
  const status = { code: 0, message: '' };
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    if (field === 1) status.code = reader.int32();
    else status.message = reader.string();
  }
  return status;
}

describe('an OTLP request', () => {
  it('in JSON is stored and answered in JSON', async () => {
    const attributes = [
      { key: 'http.request.method', value: { stringValue: 'GET' } },
      { key: 'big', value: { intValue: '9007199254740993' } },
      { key: 'list', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: 2 }] } } },
      { key: 'map', value: { kvlistValue: { values: [{ key: 'in', value: { boolValue: true } }] } } },
    ];
    const answer = await send(
      JSON.stringify(sent([record('json body', { attributes, traceId: 'ABCD'.repeat(8) })])),
      JSON_TYPE,
    );
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, '{}', JSON_TYPE]);
    const [row] = await rowsOf('json body');
    expect(row).toMatchObject({
      dataset: 'otlp',
      service: 'checkout',
      severity_number: 13,
      severity_text: 'WARN',
      trace_id: 'abcd'.repeat(8),
      nanos: '1506702504433000201',
      attributes: {
        http: { request: { method: 'GET' } },
        big: '9007199254740993',
        list: ['a', '2'],
        map: { in: 'true' },
        service: { name: 'checkout' },
        otel: { scope: { name: 'app', version: '1' } },
      },
    });
    expect(JSON.parse(String(row?.['raw']))).toMatchObject({ body: 'json body', severityNumber: 13 });
    expect(row?.['raw']).toContain('"big":9007199254740993');
  });

  it('in protobuf is stored and answered in protobuf', async () => {
    for (const [index, headers] of [{}, { 'content-encoding': 'gzip' }].entries()) {
      const bytes = protobuf(`protobuf body ${index}`);
      const answer = await send(index === 0 ? bytes : gzipSync(bytes), PROTOBUF, headers);
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, '', PROTOBUF]);
      const [row, ...more] = await rowsOf(`protobuf body ${index}`);
      expect([row?.['severity_text'], row?.['trace_id'], more.length]).toEqual(['ERROR', 'ab'.repeat(16), 0]);
    }
  });

  it('delivered again is stored once', async () => {
    const body = JSON.stringify(sent([record('twice')]));
    for (const bytes of [body, gzipSync(body), body]) expect((await send(bytes, JSON_TYPE)).status).toBe(200);
    expect(await rowsOf('twice')).toHaveLength(1);
  });

  it('that is empty is a success', async () => {
    expect(await send('{}', `${JSON_TYPE}; charset=utf-8`)).toMatchObject({ status: 200, text: '{}' });
    expect(await send(new Uint8Array(), PROTOBUF)).toMatchObject({ status: 200, text: '' });
  });

  it('of thousands of records is taken apart beside the main thread', async () => {
    const answer = await send(protobuf('one of many', 20_000), PROTOBUF);
    expect(answer.status).toBe(200);
    expect(await service.rows("SELECT count() AS n FROM obsiac.logs WHERE startsWith(body, 'one of many ')")).toEqual([
      { n: '20000' },
    ]);
  });

  it('with records that are too large has the others stored, and says so', async () => {
    const logRecords = [record('kept beside a large one'), record('x'.repeat(200_000))];
    const answer = await send(JSON.stringify(sent(logRecords)), JSON_TYPE);
    expect([answer.status, answer.body.partialSuccess.rejectedLogRecords]).toEqual([200, '1']);
    expect(answer.body.partialSuccess.errorMessage).toContain('intake_line_limit');
    expect(await rowsOf('kept beside a large one')).toHaveLength(1);
  });

  it('whose record has no time gets the time it was observed, else that of receipt', async () => {
    const observed = record('observed', { timeUnixNano: '0', observedTimeUnixNano: '1506702504433000999' });
    const neither = record('neither', { timeUnixNano: undefined });
    await send(JSON.stringify(sent([observed, neither])), JSON_TYPE);
    expect((await rowsOf('observed'))[0]).toMatchObject({ nanos: '1506702504433000999' });
    expect(BigInt(String((await rowsOf('neither'))[0]?.['nanos']))).toBeGreaterThan(1_700_000_000_000_000_000n);
  });
});

describe('a refusal of OTLP', () => {
  it.each([
    ['a body that is no JSON', '{"resourceLogs":', JSON_TYPE, 400, 3],
    ['a body of the wrong shape', '{"resourceLogs":5}', JSON_TYPE, 400, 3],
    ['a body over the limit', `{"a":"${'x'.repeat(LIMIT)}"}`, JSON_TYPE, 413, 8],
    ['another content type', 'x', 'text/plain', 415, 3],
    ['no content type', '{}', '', 415, 3],
  ])('is a Status in JSON: %s', async (_name, body, type, status, code) => {
    const answer = await send(body, type);
    expect([answer.status, answer.body.code, answer.headers.get('content-type')]).toEqual([status, code, JSON_TYPE]);
    expect(answer.body.message).not.toBe('');
  });

  it('is a Status in protobuf for protobuf', async () => {
    const url = `${service.access.endpoint}/v1/logs`;
    const headers = { authorization: service.access.authorization, 'content-type': PROTOBUF };
    const answer = await fetch(url, { method: 'POST', headers, body: Buffer.from([0xff, 0xff, 0xff]) });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, PROTOBUF]);
    expect(statusOf(Buffer.from(await answer.arrayBuffer()))).toMatchObject({
      code: 3,
      message: expect.stringMatching(/protobuf/),
    });
    const refused = await fetch(url, { method: 'POST', headers: { 'content-type': PROTOBUF }, body: protobuf('x') });
    expect([refused.status, statusOf(Buffer.from(await refused.arrayBuffer())).code]).toEqual([401, 16]);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic/);
  });

  it('of a body that is larger only when it is decompressed, or ends too early', async () => {
    const bomb = gzipSync(`{"a":"${'x'.repeat(2 * LIMIT)}"}`);
    expect((await send(bomb, JSON_TYPE, { 'content-encoding': 'gzip' })).status).toBe(413);
    const whole = gzipSync(JSON.stringify(sent([record('never')])));
    expect((await send(whole.subarray(0, -5), JSON_TYPE)).status).toBe(400);
    expect(await rowsOf('never')).toHaveLength(0);
  });

  it('comes from the address too when that has no credentials', async () => {
    const headers = { 'content-type': JSON_TYPE };
    const url = `${service.access.endpoint}/v1/logs`;
    expect((await post(url, '{}', headers)).status).toBe(401);
    const authorization = encodeURIComponent(service.access.authorization);
    expect((await post(`${url}?header_Authorization=${authorization}`, '{}', headers)).status).toBe(200);
  });
});
