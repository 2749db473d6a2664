/** Simulated records of the other datasets: three by hand, the rest from the catalogue's field types. */
import type { Dataset, DatasetField } from '@obsiac/model';
import type { Moment } from './moment.ts';
import type { Random } from './random.ts';
import { type World, ZONE } from './world.ts';

/** Writes an object as JSON in which a bigint is a bare integer: a timestamp in nanoseconds does not fit a double. */
export function toJsonLine(record: Readonly<Record<string, unknown>>): string {
  const bigints: string[] = [];
  const text = JSON.stringify(record, (_key, value: unknown) => {
    if (typeof value !== 'bigint') return value;
    bigints.push(value.toString());
    return `\u0000${bigints.length - 1}`;
  });
  return text.replace(/"\\u0000(\d+)"/g, (_match, index: string) => bigints[Number(index)] as string);
}

export function firewallEvent(at: bigint, _moment: Moment, world: World, random: Random): string {
  const visitor = world.visitor();
  const resource = world.resource();
  const action = random.pick(['block', 'managed_challenge', 'log', 'skip']);
  return toJsonLine({
    Action: action,
    ClientASN: visitor.asn,
    ClientASNDescription: `AS${visitor.asn}`,
    ClientCountry: visitor.country,
    ClientIP: visitor.ip,
    ClientIPClass: 'noRecord',
    ClientRequestHost: resource.host,
    ClientRequestMethod: 'GET',
    ClientRequestPath: resource.path,
    ClientRequestProtocol: visitor.http,
    ClientRequestQuery: random.chance(0.3) ? `?id=${random.below(1000)}%27%20OR%201=1` : '',
    ClientRequestScheme: 'https',
    ClientRequestUserAgent: visitor.userAgent,
    Datetime: at,
    Description: random.pick(['SQL injection probe', 'Known bad bot', 'Rate limit: login', 'Country list']),
    EdgeColoCode: visitor.colo,
    EdgeResponseStatus: action === 'block' ? 403 : 200,
    Kind: 'firewall',
    MatchIndex: random.below(3),
    Metadata: { filter: random.hex(32), type: 'customer' },
    OriginResponseStatus: 0,
    OriginatorRayID: '00',
    RayID: random.hex(16),
    Ref: '',
    RuleID: random.hex(32),
    Source: random.pick(['firewallCustom', 'firewallManaged', 'ratelimit']),
  });
}

export function dnsLog(at: bigint, _moment: Moment, world: World, random: Random): string {
  const visitor = world.visitor();
  return toJsonLine({
    ColoCode: visitor.colo,
    EDNSSubnet: random.chance(0.2) ? '203.0.113.0' : '',
    EDNSSubnetLength: 0,
    QueryName: `${random.pick(['www', 'api', 'img', 'checkout', random.hex(6)])}.${ZONE}`,
    QueryType: random.pick([1, 28, 65]),
    ResponseCached: random.chance(0.8),
    ResponseCode: random.chance(0.05) ? 3 : 0,
    SourceIP: visitor.ip,
    Timestamp: at,
  });
}

export function workersTraceEvent(at: bigint, moment: Moment, world: World, random: Random): string {
  const failed = random.chance(moment.incident ? 0.3 : 0.01);
  const ms = Number(at / 1_000_000n);
  const order = 100_000 + random.below(900_000);
  return toJsonLine({
    CPUTimeMs: Math.round(random.around(6, 0.6)),
    DispatchNamespace: '',
    Entrypoint: '',
    Event: {
      RayID: random.hex(16),
      Request: { URL: `https://checkout.${ZONE}/api/checkout/pay`, Method: 'POST' },
      Response: { Status: failed ? 500 : 200 },
    },
    EventTimestampMs: ms,
    EventType: 'fetch',
    Exceptions: failed
      ? [
          {
            Name: 'Error',
            Message: `payment gateway timed out for order ${order}`,
            TimestampMs: ms + 40,
            Stack: 'Error: payment gateway timed out\n    at pay (worker.js:42:11)',
          },
        ]
      : [],
    Logs: [
      {
        Level: 'log',
        Message: [`order ${order} from ${world.visitor().country}`, { attempt: 1 }],
        TimestampMs: ms + 1,
      },
      ...(failed
        ? [{ Level: 'error', Message: ['gateway', 504, `order ${order} gave up`], TimestampMs: ms + 39 }]
        : []),
    ],
    Outcome: failed ? 'exception' : 'ok',
    ScriptName: 'checkout-worker',
    ScriptTags: [],
    ScriptVersion: { ID: '0b6f6d1c-7f3e-4a5d-9c2b-8e1f0a3d5c7e' },
    WallTimeMs: Math.round(random.around(60, 0.7)),
  });
}

/** A record of any dataset of the catalogue: each field gets a value of its type. */
export function genericRecord(dataset: Dataset, at: bigint, random: Random): string {
  const record: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(dataset.fields)) {
    if (!field.deprecated && !field.legacy) record[name] = genericValue(name, field, at, dataset, random);
  }
  return toJsonLine(record);
}

function genericValue(name: string, field: DatasetField, at: bigint, dataset: Dataset, random: Random): unknown {
  if (
    name === dataset.timestamp_field ||
    dataset.other_timestamp_fields?.includes(name) ||
    field.type === 'int or string'
  )
    return at;
  if (field.values && field.values.length > 0) return random.pick(field.values);
  switch (field.type) {
    case 'int':
      return random.below(10_000);
    case 'float':
      return Math.round(random.next() * 1e6) / 1e6;
    case 'bool':
      return random.chance(0.5);
    case 'array[string]':
      return random.chance(0.5) ? [] : [random.hex(6)];
    case 'array[int]':
      return random.chance(0.5) ? [] : [random.below(100)];
    case 'array[object]':
      return [];
    case 'object':
      return { key: random.hex(4) };
    default:
      return /IP$/.test(name) ? `203.0.113.${random.below(256)}` : `${name.toLowerCase()}-${random.hex(4)}`;
  }
}
