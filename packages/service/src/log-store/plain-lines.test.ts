import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlainLines } from './plain-lines.ts';

const check = (lines: readonly string[], dataset = 'http_requests') => {
  const checker = PlainLines.forDataset(dataset) as PlainLines;
  return lines.map((line) => {
    const bytes = Buffer.from(`xx${line}\nyy`);
    return checker.isPlain(bytes, 2, bytes.length - 3);
  });
};
const plain = (line: string, dataset?: string) => check([line], dataset)[0];

describe('plain lines', () => {
  it.each([
    '{"RayID":"a","EdgeResponseStatus":200}',
    '{"RayID":"","EdgeResponseStatus":-1,"EdgeStartTimestamp":1700000000123456789}',
    '{"EdgeStartTimestamp":"2026-01-01T00:00:00.123456789Z","EdgeEndTimestamp":"1700000000"}',
    '{"ClientRequestURI":"\\u00e9\\n\\"\\\\\\/é漢😀"}',
    '{"CacheTieredFill":true,"CacheReserveUsed":false,"BotScore":null,"RayID":null}',
    '{"BotTags":[],"SecurityRuleIDs":["a","b\\"c"],"BotDetectionIDs":[1,22,-3]}',
    '{"Cookies":{},"RequestHeaders":null,"JA4Signals":{},"Subrequests":[]}',
    '{"EdgeResponseCompressionRatio":2.51}',
    '{"EdgeResponseCompressionRatio":3}',
    '{"WAFAction":"block","FirewallMatchesActions":["x"]}',
  ])('%s is', (line) => {
    expect(plain(line)).toBe(true);
  });

  it.each([
    '',
    '{}',
    '[]',
    'null',
    '"RayID"',
    '{"RayID":"a"',
    '{"RayID":"a"}}',
    '{"RayID":"a"} ',
    ' {"RayID":"a"}',
    '{"RayID": "a"}',
    '{"RayID":"a",}',
    '{,"RayID":"a"}',
    '{"RayID":"a" ,"BotScore":1}',
    "{'RayID':'a'}",
    '{"RayID":"a","RayID":"b"}',
    '{"RayID":1}',
    '{"RayID":["a"]}',
    '{"RayID":{"a":1}}',
    '{"RayID":tru}',
    '{"RayID":nul}',
    '{"RayID":"\t"}',
    '{"RayID":"\\x"}',
    '{"RayID":"\\u12"}',
    '{"RayID":"\\ud800"}',
    '{"RayID":"\\ud83d\\ude00"}',
    '{"RayID":"a\\"}',
    '{"EdgeResponseStatus":"200"}',
    '{"EdgeResponseStatus":200.0}',
    '{"EdgeResponseStatus":2e2}',
    '{"EdgeResponseStatus":0200}',
    '{"EdgeResponseStatus":-0}',
    '{"EdgeResponseStatus":-}',
    '{"EdgeResponseStatus":+1}',
    '{"EdgeResponseStatus":9223372036854775807}',
    '{"EdgeResponseStatus":}',
    '{"EdgeResponseStatus":NaN}',
    '{"EdgeStartTimestamp":99999999999999999999}',
    '{"EdgeStartTimestamp":"yesterday"}',
    '{"EdgeStartTimestamp":"2026-01-01"}',
    '{"EdgeStartTimestamp":1700000000.5}',
    '{"EdgeResponseCompressionRatio":1e400}',
    '{"EdgeResponseCompressionRatio":1.}',
    '{"EdgeResponseCompressionRatio":0.12345678901234567}',
    '{"CacheTieredFill":1}',
    '{"CacheTieredFill":"true"}',
    '{"BotTags":["a",]}',
    '{"BotTags":[1.5]}',
    '{"BotTags":[null]}',
    '{"BotTags":[["a"]]}',
    '{"Subrequests":[{"a":1}]}',
    '{"Cookies":{"a":"b"}}',
    '{"NoSuchField":"x"}',
    '{"rayid":"a"}',
    '{"QueryName":"x"}',
    '{"__proto__":"x"}',
    '{"RayID\\u0000":"x"}',
  ])('%s is not', (line) => {
    expect(plain(line)).toBe(false);
    // Also when a layout is known already.
    expect(check(['{"RayID":"a"}', line])[1]).toBe(false);
    expect(check(['{"RayID":"a","EdgeResponseStatus":1}', line])[1]).toBe(false);
  });

  it('knows each dataset its own fields, and none of the datasets that are taken in another way', () => {
    expect(plain('{"QueryName":"x","Timestamp":1}', 'dns_logs')).toBe(true);
    expect(plain('{"Action":"block","Datetime":1,"Metadata":{}}', 'firewall_events')).toBe(true);
    expect(PlainLines.forDataset('workers_trace_events')).toBeUndefined();
    expect(PlainLines.forDataset('toString')).toBeUndefined();
  });

  it('learns new layouts and tells all fields', () => {
    const checker = PlainLines.forDataset('http_requests') as PlainLines;
    for (const line of [
      '{"RayID":"a","BotScore":1}',
      '{"BotScore":1}',
      '{"BotScore":1,"RayID":"b"}',
      '{"ClientASN":5}',
      '{"RayID":"a","BotScore":1}',
    ]) {
      expect(checker.isPlain(Buffer.from(line), 0, line.length)).toBe(true);
    }
    expect(checker.fields().sort()).toEqual(['BotScore', 'ClientASN', 'RayID']);
  });

  it('takes no line that is not JSON', () => {
    const fragment = fc.constantFrom(
      '{',
      '}',
      '"',
      ':',
      ',',
      '[',
      ']',
      '\\',
      'RayID',
      'BotScore',
      '"RayID":',
      '"a"',
      '1',
      '-',
      '.',
      'null',
      'true',
      'BotTags',
      ' ',
      '\\u',
      'd800',
      '0',
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 14 }), (parts) => {
        const line = `{"RayID":${parts.join('')}}`;
        if (plain(line) !== true) return;
        const value = JSON.parse(line) as object;
        expect(Object.keys(value)).toContain('RayID');
      }),
      { numRuns: 3000 },
    );
  });

  it('takes what JSON.stringify writes of good values', () => {
    const value = fc.record(
      {
        RayID: fc.string({ unit: fc.constantFrom('a', 'é', '"', '\\', '\n', '漢', '😀') }),
        EdgeResponseStatus: fc.integer(),
        CacheTieredFill: fc.boolean(),
        BotTags: fc.array(fc.string({ unit: fc.constantFrom('x', '"', ',') })),
        EdgeStartTimestamp: fc.integer({ min: 1, max: 4e12 }),
      },
      { requiredKeys: ['RayID'] },
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        expect(check(values.map((item) => JSON.stringify(item)))).toEqual(values.map(() => true));
      }),
    );
  });
});
