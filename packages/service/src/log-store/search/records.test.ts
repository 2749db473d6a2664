import { describe, expect, it } from 'vitest';
import { COLUMNS } from '../columns.ts';
import { OTEL_FIELDS } from './otel-fields.ts';
import { toRecord } from './records.ts';

const record = (dataset: string, raw: string, attributes: object = {}) =>
  toRecord([
    '00000000000000a1',
    '1700000000123456789',
    '1700000000123456790',
    dataset,
    9,
    'INFO',
    'shop',
    '',
    '',
    'body',
    raw,
    attributes as never,
  ]);

describe('records', () => {
  it('have the fields of their line, by type, absent ones left out, long integers exact', () => {
    const raw =
      '{"RayID":"a","EdgeStartTimestamp":1700000000123456789,"BotScore":0,"ParentRayID":"00","ClientASN":64512,"Cookies":{},"RequestHeaders":{"x-a":"1","x-b":["p","q"]},"BotTags":[],"SecurityRuleIDs":["r"],"WAFAction":"block","CacheTieredFill":false,"EdgeServerIP":"","New":{"deep":{"n":1.5}}}';
    expect(record('http_requests', raw)).toEqual({
      id: '00000000000000a1',
      timestamp: '1700000000123456789',
      observed_timestamp: '1700000000123456790',
      dataset: 'http_requests',
      severity_number: 9,
      severity_text: 'INFO',
      service: 'shop',
      trace_id: '',
      span_id: '',
      body: 'body',
      raw,
      attributes: {
        RayID: 'a',
        EdgeStartTimestamp: '1700000000123456789',
        ClientASN: 64512,
        'RequestHeaders.x-a': '1',
        'RequestHeaders.x-b': ['p', 'q'],
        SecurityRuleIDs: ['r'],
        SecurityAction: 'block',
        CacheTieredFill: false,
        'New.deep.n': 1.5,
        'cloudflare.ray_id': 'a',
        'cloudflare.security.action': 'block',
      },
    });
  });

  it('show OTLP attributes with their types, the nearest of a name first', () => {
    const raw = JSON.stringify({
      attributes: { 'http.route': '/a', n: 5, shared: 'own' },
      eventName: 'e',
      resource: { 'service.name': 'pay', shared: 'resource', host: { name: 'h' } },
      scope: { name: 's', version: '', attributes: { shared: 'scope', 'scope.only': true } },
    });
    expect(record('otlp', raw, { 'log.extra': 'kept' }).attributes).toEqual({
      'service.name': 'pay',
      shared: 'own',
      'host.name': 'h',
      'scope.only': true,
      'event.name': 'e',
      'otel.scope.name': 's',
      'http.route': '/a',
      n: 5,
      'log.extra': 'kept',
    });
  });

  it('show a console line of a worker with its own attributes and without the whole run', () => {
    const raw =
      '{"ScriptName":"checkout","Outcome":"ok","EventType":"fetch","Logs":[{"Level":"log","Message":["a"]}],"Exceptions":[]}';
    expect(record('workers_trace_events', raw, { log: { level: 'log' } }).attributes).toEqual({
      ScriptName: 'checkout',
      Outcome: 'ok',
      EventType: 'fetch',
      'log.level': 'log',
      'faas.name': 'checkout',
      'faas.trigger': 'http',
    });
  });

  it('take any line', () => {
    for (const raw of [
      '',
      'no json',
      '[1]',
      'null',
      '{"__proto__":{"x":1},"constructor":"c"}',
      '{"a":[{"b":12345678901234567890}]}',
    ]) {
      expect(record('unknown', raw).raw).toBe(raw);
    }
    expect(record('unknown', '{"__proto__":{"x":1}}').attributes).toEqual({ '__proto__.x': 1 });
    expect(record('unknown', '{"a":[{"b":12345678901234567890}]}').attributes).toEqual({
      a: [{ b: '12345678901234567890' }],
    });
  });
});

describe('OpenTelemetry names', () => {
  it('are made of columns that there are', () => {
    for (const { sql } of OTEL_FIELDS.values()) {
      const columns = [...sql.matchAll(/\b[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*\b|\bJA3Hash\b/g)].map(([name]) => name);
      const known = columns.filter((name) => COLUMNS.has(name));
      expect(known.length).toBeGreaterThan(0);
    }
  });
});
