/** Generated log records of several datasets as their senders write them, repeatable by a seed: odd JSON, odd values, shared instants. */
import { toJson } from '@obsiac/model';

/** What is delivered in one request. */
export type Delivery =
  | {
      readonly kind: 'lines';
      /** What the sender says; undefined: recognised from the fields. */
      readonly dataset: string | undefined;
      readonly lines: readonly string[];
    }
  | { readonly kind: 'otlp'; readonly request: string; readonly records: number };

export interface Random {
  /** In [0, 1). */
  next(): number;
  upTo(count: number): number;
  pick<Item>(items: readonly Item[]): Item;
  chance(share: number): boolean;
}

/** Repeatable randomness (mulberry32). */
export function random(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const upTo = (count: number) => Math.floor(next() * count);
  return { next, upTo, pick: (items) => items[upTo(items.length)]!, chance: (share) => next() < share };
}

/** First instant of the generated records, nanoseconds. They lie within `SPAN` after it. */
export const START = 1_750_000_000_123_456_789n;
export const SPAN = 7_200_000_000_000n;

/** Words that are hard for somebody: a tokenizer, an escaper, a number parser, a case folder. */
export const WORDS = [
  'error',
  'Error',
  'error_42',
  'cart',
  'CART',
  'münchen',
  'MÜNCHEN',
  'straße',
  'İ',
  '漢字',
  '😀',
  '👩‍👩‍👧',
  '\u00a0',
  '503',
  '5',
  '5.0',
  '05',
  '1e2',
  '100',
  '-3',
  '.5',
  '+7',
  'inf',
  'nan',
  '0x1F',
  'true',
  'False',
  'null',
  'a.b',
  'foo-bar',
  'x%y',
  'x_y',
  'xzy',
  "it's",
  'back\\slash',
  'tab\there',
  'line\nend',
  'cr\r\nlf',
  '10.0.0.1',
  '(',
  '[a]',
  '"q"',
  '{p0:String}',
  '?',
  '$1',
  '*',
  '--',
  ';',
  ':x:',
  '9007199254740993',
  '9007199254740992',
  '2026-11-21',
  '2026-11-21T08:52:41Z',
] as const;

/** JSON as senders write it: not every writer escapes, spaces and orders alike. */
class Writer {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  line(fields: Readonly<Record<string, unknown>>): string {
    const { chance, pick } = this.#random;
    const spaced = chance(0.15);
    const gap = () => (spaced ? pick(['', ' ', '  ', '\t']) : '');
    const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
    if (chance(0.1)) entries.reverse();
    const text = entries.map(([name, value]) => `${gap()}${JSON.stringify(name)}${gap()}:${gap()}${this.value(value)}`);
    return `${gap()}{${text.join(`${gap()},`)}${gap()}}${gap()}`;
  }

  value(value: unknown): string {
    if (value instanceof Source) return value.text;
    if (typeof value === 'string') return this.#text(value);
    return toJson(value as Parameters<typeof toJson>[0]);
  }

  #text(text: string): string {
    const plain = JSON.stringify(text);
    if (!this.#random.chance(0.1)) return plain;
    return plain.replace(/[^\x20-\x7e]|\//g, (sign) =>
      sign === '/' ? '\\/' : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
}

/** A number as it is written: `1.0`, `1e3`, more digits than a double has. */
class Source {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class LineGenerator {
  readonly #random: Random;
  readonly #writer: Writer;
  #time = START;
  #count = 0;

  constructor(seed: number) {
    this.#random = random(seed);
    this.#writer = new Writer(this.#random);
  }

  /** @param records lines, or records of an OTLP request. */
  delivery(records: number): Delivery {
    const { pick, chance } = this.#random;
    if (chance(0.15)) return this.#otlp(records);
    if (chance(0.25)) {
      const lines = Array.from({ length: records }, () => this.#line(pick(DATASETS)));
      return { kind: 'lines', dataset: undefined, lines };
    }
    const dataset = pick(DATASETS);
    const known = dataset !== 'unknown' && chance(0.5);
    const lines = Array.from({ length: records }, () => this.#line(dataset));
    // A line that comes twice is two records.
    if (chance(0.5)) lines.push(pick(lines));
    return { kind: 'lines', dataset: known ? dataset : undefined, lines };
  }

  #line(dataset: (typeof DATASETS)[number]): string {
    this.#count += 1;
    return this.#writer.line(this[dataset]());
  }

  /** Many records share an instant, and neighbours differ by a nanosecond. */
  #instant(): bigint {
    const { chance, upTo, pick } = this.#random;
    if (chance(0.7)) this.#time += BigInt(upTo(2_000_000_000)) + pick([0n, 1n, 999_999_999n]);
    else if (chance(0.3)) this.#time += 1n;
    if (this.#time >= START + SPAN) this.#time = START + BigInt(upTo(1_000_000_000));
    return this.#time;
  }

  /** One instant in one of Logpush's formats, as number and as text. */
  #writtenTime(): unknown {
    const nanoseconds = this.#instant();
    const { upTo } = this.#random;
    const iso = new Date(Number(nanoseconds / 1_000_000n)).toISOString();
    switch (upTo(8)) {
      case 0:
        return String(nanoseconds);
      case 1:
        return `${iso.slice(0, 19)}.${String(nanoseconds % 1_000_000_000n).padStart(9, '0')}Z`;
      case 2:
        return iso;
      case 3:
        return nanoseconds / 1_000_000_000n;
      case 4:
        return nanoseconds / 1_000_000n;
      default:
        return nanoseconds;
    }
  }

  #value(): string {
    const { upTo, pick } = this.#random;
    return Array.from({ length: 1 + upTo(3) }, () => pick(WORDS)).join(pick([' ', '_', '', '/', '-']));
  }

  #maybe<Value>(share: number, make: () => Value): Value | null | undefined {
    const { chance } = this.#random;
    if (chance(share)) return make();
    return chance(0.1) ? null : undefined;
  }

  #list(make: () => unknown = () => this.#value()): unknown[] {
    return Array.from({ length: this.#random.upTo(4) }, make);
  }

  /** Anything that JSON can say. */
  #anything(depth = 0): unknown {
    const { upTo, pick } = this.#random;
    switch (upTo(depth < 2 ? 9 : 6)) {
      case 0:
        return upTo(600);
      case 1:
        return new Source(
          pick(['1.0', '1e3', '-0.5', '12345678901234567890', '9007199254740993', '0.1', '1E-2', '-0']),
        );
      case 2:
        return pick([true, false, null, '']);
      case 6:
        return this.#list(() => this.#plainAnything(depth + 1));
      case 7:
        return { [pick(['a', 'b', 'Code', 'x-y'])]: this.#plainAnything(depth + 1), n: upTo(5) };
      default:
        return this.#value();
    }
  }

  /** Within lists and objects numbers are as JavaScript has them. */
  #plainAnything(depth: number): unknown {
    const value = this.#anything(depth);
    return value instanceof Source ? 1.5 : value;
  }

  #request(): Record<string, unknown> {
    const { pick, chance, upTo } = this.#random;
    return {
      ClientIP: this.#maybe(0.8, () => pick(['10.0.0.1', '10.0.0.2', '2001:db8::1'])),
      ClientCountry: this.#maybe(0.8, () => pick(['de', 'us', 'DE', 'fr', ''])),
      ClientRequestHost: this.#maybe(0.8, () => pick(['a.example.com', 'B.example.com', 'münchen.example', '5'])),
      ClientRequestMethod: this.#maybe(0.8, () => pick(['GET', 'POST', 'BREW', 'get'])),
      ClientRequestPath: this.#maybe(0.6, () => pick(['/cart', '/plain', '/v1/Cart', this.#value()])),
      ClientRequestScheme: this.#maybe(0.7, () => pick(['https', 'http', ''])),
      EdgeResponseStatus: this.#maybe(0.8, () => (chance(0.05) ? '503' : pick([200, 301, 404, 403, 500, 503]))),
      RayID: this.#maybe(0.9, () => this.#count.toString(16).padStart(16, pick(['0', '8', 'a']))),
      ZoneName: this.#maybe(0.3, () => pick(['example.com', 'shop.example'])),
      ClientASN: this.#maybe(0.4, () => 64_500 + upTo(5)),
    };
  }

  http_requests(): Record<string, unknown> {
    const { pick, chance, upTo } = this.#random;
    return {
      ...this.#request(),
      EdgeStartTimestamp: this.#writtenTime(),
      ClientRequestURI: this.#maybe(0.8, () => pick(['/cart?x=1', '/', '/a?b?c', '', '/plain', this.#value()])),
      ClientRequestProtocol: this.#maybe(0.5, () => pick(['HTTP/1.1', 'HTTP/2', 'odd'])),
      ClientSSLProtocol: this.#maybe(0.5, () => pick(['TLSv1.3', 'none'])),
      ClientRequestUserAgent: this.#maybe(0.6, () => this.#value()),
      CacheCacheStatus: this.#maybe(0.6, () => pick(['hit', 'miss', 'HIT', 'dynamic'])),
      CacheTieredFill: this.#maybe(0.5, () => (chance(0.05) ? 'true' : chance(0.5))),
      BotScore: this.#maybe(0.5, () => pick([0, 1, 30, 99])),
      OriginResponseStatus: this.#maybe(0.5, () => pick([0, 200, 502])),
      OriginResponseTime: this.#maybe(0.4, () =>
        pick([0, -1, 12_000_000, 9_007_199_254_740_993n, 9_007_199_254_740_992n]),
      ),
      EdgeResponseBytes: this.#maybe(0.7, () => upTo(100_000)),
      EdgeResponseCompressionRatio: this.#maybe(0.5, () => new Source(pick(['1.0', '2.25', '0', '100', '0.5', '1e1']))),
      EdgeTimeToFirstByteMs: this.#maybe(0.7, () => upTo(2000)),
      EdgeEndTimestamp: this.#maybe(0.3, () => this.#writtenTime()),
      [pick(['SecurityAction', 'WAFAction'])]: this.#maybe(0.4, () => pick(['block', 'Challenge', 'unknown', ''])),
      [pick(['SecurityActions', 'FirewallMatchesActions'])]: this.#maybe(0.4, () => this.#list()),
      [pick(['SecurityRuleIDs', 'FirewallMatchesRuleIDs'])]: this.#maybe(0.3, () => this.#list(() => upTo(9))),
      BotTags: this.#maybe(0.3, () => this.#list()),
      RequestHeaders: this.#maybe(0.3, () => ({ 'x-user': this.#value(), accept: pick(['*/*', ['a', 'b']]) })),
      Cookies: this.#maybe(0.2, () => ({ session: this.#value(), 'odd.name': '1' })),
      NewFieldOfTheFuture: this.#maybe(0.1, () => this.#anything()),
    };
  }

  firewall_events(): Record<string, unknown> {
    const { pick, upTo } = this.#random;
    return {
      ...this.#request(),
      Datetime: this.#writtenTime(),
      Action: this.#maybe(0.9, () => pick(['block', 'log', 'managed_challenge', 'connectionclose'])),
      Source: this.#maybe(0.8, () => pick(['waf', 'firewallManaged', 'rateLimit'])),
      RuleID: this.#maybe(0.7, () => this.#value()),
      Description: this.#maybe(0.5, () => this.#value()),
      ClientRequestQuery: this.#maybe(0.5, () => pick(['?x=1', '', '?'])),
      MatchIndex: this.#maybe(0.5, () => upTo(4)),
      Metadata: this.#maybe(0.4, () => ({ filter: this.#value(), type: pick(['a', 'b']) })),
      Kind: this.#maybe(0.5, () => 'firewall'),
      OriginatorRayID: this.#maybe(0.3, () => '00'),
    };
  }

  dns_logs(): Record<string, unknown> {
    const { pick, chance, upTo } = this.#random;
    return {
      Timestamp: this.#writtenTime(),
      QueryName: this.#maybe(0.9, () => pick(['www.example.com', 'münchen.example', 'WWW.example.com', this.#value()])),
      QueryType: this.#maybe(0.8, () => pick([1, 28, 15])),
      ResponseCode: this.#maybe(0.8, () => pick([0, 3])),
      ResponseCached: this.#maybe(0.7, () => chance(0.5)),
      SourceIP: this.#maybe(0.7, () => pick(['192.0.2.1', '2001:db8::5'])),
      ColoCode: this.#maybe(0.5, () => pick(['FRA', 'AMS'])),
      EDNSSubnet: this.#maybe(0.3, () => '2001:db8::/56'),
      EDNSSubnetLength: this.#maybe(0.3, () => upTo(128)),
    };
  }

  workers_trace_events(): Record<string, unknown> {
    const { pick, chance, upTo } = this.#random;
    const milliseconds = () => Number(this.#instant() / 1_000_000n);
    const log = () => ({
      Level: pick(['log', 'warn', 'error', 'Debug', 'odd']),
      Message: pick<unknown>([[this.#value(), 5, { a: [1] }, null], this.#value(), []]),
      TimestampMs: milliseconds(),
    });
    const thrown = () => ({
      Name: pick(['Error', 'TypeError']),
      Message: this.#value(),
      TimestampMs: milliseconds(),
      ...(chance(0.5) ? { Stack: 'at a\nat b' } : {}),
    });
    const URL = pick(['https://w.example.com/pay?x=1', 'https://w.example.com/', 'no url']);
    return {
      Event: this.#maybe(0.9, () => ({
        RayID: this.#count.toString(16),
        Request: { URL, Method: pick(['GET', 'post']) },
        ...(chance(0.7) ? { Response: { Status: pick([200, 500, 404]) } } : {}),
      })),
      EventTimestampMs: milliseconds(),
      EventType: pick(['fetch', 'scheduled', 'queue', 'rpc']),
      ScriptName: pick(['checkout', 'Shop', 'münchen']),
      Outcome: pick(['ok', 'exception', 'exceededCpu', 'canceled']),
      CPUTimeMs: this.#maybe(0.7, () => upTo(50)),
      WallTimeMs: this.#maybe(0.7, () => upTo(500)),
      ScriptTags: this.#maybe(0.4, () => this.#list()),
      Logs: chance(0.4) ? Array.from({ length: upTo(3) }, log) : [],
      Exceptions: chance(0.2) ? [thrown()] : [],
    };
  }

  gateway_dns(): Record<string, unknown> {
    const { pick, upTo } = this.#random;
    return {
      Datetime: this.#writtenTime(),
      QueryName: pick(['www.example.com', 'WWW.example.com', 'x.example']),
      AccountID: this.#maybe(0.5, () => this.#value()),
      PolicyID: this.#maybe(0.5, () => this.#value()),
      PolicyName: this.#maybe(0.5, () => this.#value()),
      ResolverDecision: pick(['allowedOnNoPolicyMatch', 'blockedByCategory']),
      MatchedCategoryIDs: this.#maybe(0.5, () => this.#list(() => upTo(9))),
      RData: this.#maybe(0.5, () => this.#list(() => ({ type: pick(['1', '5']), data: this.#value() }))),
      SrcPort: this.#maybe(0.5, () => pick<unknown>([53, '53', 5353])),
      ResourceRecords: this.#maybe(0.3, () => this.#anything()),
    };
  }

  unknown(): Record<string, unknown> {
    const { pick, upTo, chance } = this.#random;
    return {
      timestamp: this.#writtenTime(),
      shoe: upTo(50),
      message: this.#maybe(0.8, () => this.#value()),
      user: this.#maybe(0.6, () => ({ id: pick<unknown>([42, '7', 'u_1', this.#value()]), tags: this.#list() })),
      mixed: this.#maybe(0.7, () => this.#anything()),
      numbers: this.#maybe(0.4, () => this.#list(() => pick([1, 2.5, -3, 1000]))),
      deep: this.#maybe(0.4, () => ({ path: { x: this.#plainAnything(1) } })),
      'odd name': this.#maybe(0.3, () => this.#value()),
      größe: this.#maybe(0.3, () => upTo(5)),
      "it's": this.#maybe(0.2, () => this.#value()),
      'a.b': this.#maybe(0.2, () => this.#value()),
      ...(chance(0.05) ? { ['__proto__']: 'p' } : {}),
    };
  }

  #otlp(records: number): Delivery {
    const { pick, upTo, chance } = this.#random;
    const attribute = (key: string, value: unknown) => ({ key, value });
    const scalar = () =>
      pick<() => unknown>([
        () => ({ stringValue: this.#value() }),
        () => ({ intValue: pick(['7', '9007199254740993', '-5']) }),
        () => ({ doubleValue: pick([0.5, 1, -2.25, 1e21]) }),
        () => ({ boolValue: chance(0.5) }),
      ])();
    const body = () =>
      pick<() => unknown>([
        () => ({ stringValue: Array.from({ length: upTo(6) }, () => pick(WORDS)).join(pick([' ', '/', '_', ', '])) }),
        () => ({ stringValue: this.#value() }),
        () => ({ kvlistValue: { values: [attribute('k', scalar())] } }),
        () => ({ arrayValue: { values: [scalar(), scalar()] } }),
        () => undefined,
      ])();
    const record = () => ({
      timeUnixNano: String(this.#instant()),
      ...(chance(0.5) ? { observedTimeUnixNano: String(START) } : {}),
      severityNumber: pick([0, 5, 9, 13, 17, 18]),
      severityText: pick(['', 'INFO', 'Warning']),
      body: body(),
      traceId: chance(0.5) ? upTo(1e9).toString(16).padStart(32, '0') : '',
      spanId: upTo(1e9).toString(16).padStart(16, '0'),
      eventName: chance(0.2) ? 'cart.paid' : '',
      attributes: [
        ...(chance(0.6) ? [attribute('user.id', scalar())] : []),
        ...(chance(0.4) ? [attribute('labels', { arrayValue: { values: [scalar(), scalar()] } })] : []),
        ...(chance(0.4) ? [attribute('http.response.status_code', { intValue: pick(['200', '503']) })] : []),
        ...(chance(0.3) ? [attribute('http.request.method', { stringValue: pick(['GET', 'get']) })] : []),
        ...(chance(0.3) ? [attribute('deep', { kvlistValue: { values: [attribute('path', scalar())] } })] : []),
      ],
    });
    const request = {
      resourceLogs: [
        {
          resource: {
            attributes: [attribute('service.name', { stringValue: pick(['pay', 'Checkout', 'münchen']) })],
          },
          scopeLogs: [{ scope: { name: pick(['', 'lib']) }, logRecords: Array.from({ length: records }, record) }],
        },
      ],
    };
    return { kind: 'otlp', request: JSON.stringify(request), records };
  }
}

const DATASETS = [
  'http_requests',
  'http_requests',
  'http_requests',
  'workers_trace_events',
  'firewall_events',
  'dns_logs',
  'gateway_dns',
  'unknown',
] as const;
