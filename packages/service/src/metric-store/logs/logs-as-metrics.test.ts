/** Metrics of the logs over HTTP: what PromQL says of records equals what counting the records says. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LogService, startLogService } from '../../../test/logs.ts';

/** A whole minute, two hours ago. */
const START = Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000;
const MINUTE = 60_000;
const LENGTH = 40 * MINUTE;
const END = START + LENGTH;

interface Request {
  readonly at: number;
  readonly zone: string;
  readonly status: number;
  readonly cache: string;
  readonly method: string;
  readonly country: string;
  readonly bytes: number;
  /** Milliseconds. */
  readonly duration: number;
  readonly origin: number | undefined;
}

/** Deterministic and uneven, so that no two windows are alike. */
const REQUESTS: Request[] = Array.from({ length: 3_000 }, (_, n) => {
  const spread = (n * 7919) % 3_000;
  return {
    at: START + 1 + Math.floor((spread / 3_000) ** 2 * (LENGTH - 2)),
    zone: n % 5 === 0 ? 'blog.example.com' : 'shop.example.com',
    status: n % 11 === 0 ? 503 : n % 7 === 0 ? 404 : 200,
    cache: n % 3 === 0 ? 'hit' : 'miss',
    method: n % 4 === 0 ? 'POST' : 'GET',
    country: n % 2 === 0 ? 'de' : 'in',
    bytes: 100 + (n % 1_000),
    duration: (n * 31) % 4_000,
    origin: n % 3 === 0 ? undefined : (n * 17) % 1_500,
  };
});

const line = (request: Request, n: number) => ({
  ClientCountry: request.country,
  ClientRequestHost: `www.${request.zone}`,
  ClientRequestMethod: request.method,
  CacheCacheStatus: request.cache,
  EdgeResponseBytes: request.bytes,
  EdgeResponseStatus: request.status,
  EdgeStartTimestamp: String(BigInt(request.at) * 1_000_000n),
  EdgeEndTimestamp: String(BigInt(request.at + request.duration) * 1_000_000n),
  OriginResponseDurationMs: request.origin ?? 0,
  OriginResponseStatus: request.origin === undefined ? 0 : request.status,
  RayID: n.toString(16).padStart(16, '0'),
  ZoneName: request.zone,
});

let service: LogService;
beforeAll(async () => {
  service = await startLogService();
  expect((await service.push(REQUESTS.map(line), '?dataset=http_requests')).body).toEqual({
    accepted: 3_000,
    rejected: 0,
  });
  const run = (n: number) => ({
    ScriptName: 'router',
    EventType: 'fetch',
    Outcome: n % 4 === 0 ? 'exception' : 'ok',
    EventTimestampMs: START + n * 1_000,
    CPUTimeMs: n,
    WallTimeMs: 10 * n,
    Logs: [{ Level: 'log', Message: ['x'], TimestampMs: START + n * 1_000 }],
    Exceptions: [],
  });
  await service.push(
    Array.from({ length: 100 }, (_, n) => run(n + 1)),
    '?dataset=workers_trace_events',
  );
  const event = (n: number) => ({
    Action: n % 2 === 0 ? 'block' : 'log',
    Source: 'waf',
    ZoneName: 'shop.example.com',
    Datetime: new Date(START + n * 1_000).toISOString(),
    RayID: `${n}`,
    RuleID: `rule-${n % 3}`,
  });
  await service.push(
    Array.from({ length: 60 }, (_, n) => event(n + 1)),
    '?dataset=firewall_events',
  );
  const query = (n: number) => ({
    QueryName: `host-${n}.example.com`,
    QueryType: n % 2 === 0 ? 28 : 1,
    ResponseCode: n % 10 === 0 ? 3 : 0,
    ColoCode: 'FRA',
    ResponseCached: n % 3 === 0,
    Timestamp: new Date(START + n * 1_000).toISOString(),
  });
  await service.push(
    Array.from({ length: 50 }, (_, n) => query(n + 1)),
    '?dataset=dns_logs',
  );
  await service.rows('SELECT 1');
});
afterAll(() => service.stop());

const headers = () => ({ authorization: `Bearer ${service.refreshTokens.read}` });

async function ask(path: string, parameters: Record<string, string>) {
  const answer = await service.fetch('GET', `/prometheus/logs/api/v1/${path}?${new URLSearchParams(parameters)}`, {
    headers: headers(),
  });
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body.data;
}

/** Values by the labels given, as text. */
async function instant(query: string, at = END): Promise<Record<string, number>> {
  const { result } = await ask('query', { query, time: String(at / 1000) });
  return Object.fromEntries(
    result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [
      Object.values(metric).join(' '),
      Number(value[1]),
    ]),
  );
}

const count = (test: (request: Request) => boolean) => REQUESTS.filter(test).length;
/** A window leaves out its left end, and has its right one. */
const within = (from: number, to: number) => (request: Request) => request.at > from && request.at <= to;

describe('counters', () => {
  it('increase by the number of records in the window', async () => {
    const found = await instant('sum(increase(edge_requests_total[40m]))');
    expect(found['']).toBeCloseTo(3_000, 1);
    const by = await instant('sum by (status_class) (increase(edge_requests_total{zone="shop.example.com"}[40m]))');
    for (const status_class of ['2xx', '4xx', '5xx']) {
      const expected = count(
        ({ zone, status }) => zone === 'shop.example.com' && String(status).startsWith(status_class[0]!),
      );
      expect(by[status_class]).toBeCloseTo(expected, 1);
    }
  });

  it('give at each step of a range the number of records of its window', async () => {
    const step = 90_000;
    const { result } = await ask('query_range', {
      query: 'sum by (method) (increase(edge_requests_total{cache_status="hit"}[5m]))',
      start: String((START + 300_000) / 1000),
      end: String(END / 1000),
      step: '90',
    });
    expect(result).toHaveLength(2);
    for (const { metric, values } of result) {
      expect(values).toHaveLength(Math.floor((LENGTH - 300_000) / step) + 1);
      for (const [time, value] of values as [number, string][]) {
        const window = within(time * 1000 - 300_000, time * 1000);
        const expected = count((each) => window(each) && each.cache === 'hit' && each.method === metric.method);
        expect(Number(value)).toBeCloseTo(expected, 1);
      }
    }
  });

  it('make a ratio of errors equal that of the records', async () => {
    const ratio = `100 * sum(rate(edge_requests_total{zone="shop.example.com", status_class="5xx"}[5m]))
      / sum(rate(edge_requests_total{zone="shop.example.com"}[5m]))`;
    for (const at of [START + 20 * MINUTE, END - 3 * MINUTE, END]) {
      const window = within(at - 300_000, at);
      const all = count((each) => window(each) && each.zone === 'shop.example.com');
      const bad = count((each) => window(each) && each.zone === 'shop.example.com' && each.status === 503);
      expect((await instant(ratio, at))['']).toBeCloseTo((100 * bad) / all, 3);
    }
  });

  it('are the same whether the engine or PromQL sums them', async () => {
    const early = await instant('sum by (zone) (rate(edge_requests_total{method="GET"}[10m]))', END - 5 * MINUTE);
    // A condition on the rate keeps the engine from counting together what PromQL tells apart.
    const late = await instant('sum by (zone) (rate(edge_requests_total{method="GET"}[10m]) >= 0)', END - 5 * MINUTE);
    expect(Object.keys(early)).toHaveLength(2);
    for (const [zone, value] of Object.entries(early)) expect(late[zone]! / value).toBeCloseTo(1, 4);
  });

  it('are 0, not absent, where a zone has records without errors, and absent where it has none', async () => {
    const quiet = 'sum(rate(edge_requests_total{zone="shop.example.com", status="418"}[5m]))';
    expect(await instant(quiet)).toEqual({ '': 0 });
    expect(await instant('sum(rate(edge_requests_total{zone="nobody.example.com"}[5m]))')).toEqual({});
    expect(await instant('sum(rate(edge_requests_total{zone="shop.example.com"}[5m]))', START - MINUTE)).toEqual({});
  });

  it('sum bytes', async () => {
    const sum = REQUESTS.reduce((total, { bytes }) => total + bytes, 0);
    expect((await instant('sum(increase(edge_response_bytes_total[40m]))'))['']! / sum).toBeCloseTo(1, 5);
  });

  it('have the labels that the query names beside those of every series', async () => {
    const found = await instant('max by (country) (increase(edge_requests_total[40m]))');
    expect(Object.keys(found).sort()).toEqual(['DE', 'IN']);
    const { result } = await ask('query', { query: 'edge_requests_total{status="404"}', time: String(END / 1000) });
    expect(Object.keys(result[0].metric).sort()).toEqual([
      '__name__',
      'cache_status',
      'method',
      'status',
      'status_class',
      'zone',
    ]);
  });
});

describe('histograms', () => {
  it('count observations by their bounds', async () => {
    const buckets = await instant('sum by (le) (increase(edge_request_duration_seconds_bucket[40m]))');
    for (const le of ['0.005', '0.1', '1', '2.5']) {
      const expected = count(({ duration }) => duration / 1000 <= Number(le));
      expect(buckets[le]).toBeCloseTo(expected, 1);
    }
    expect(buckets['+Inf']).toBeCloseTo(3_000, 1);
    const sum = REQUESTS.reduce((total, { duration }) => total + duration / 1000, 0);
    expect((await instant('sum(increase(edge_request_duration_seconds_sum[40m]))'))['']! / sum).toBeCloseTo(1, 4);
    expect((await instant('sum(increase(edge_request_duration_seconds_count[40m]))'))['']).toBeCloseTo(3_000, 1);
  });

  it('leave out requests that no origin answered', async () => {
    const answered = REQUESTS.filter(({ origin }) => origin !== undefined);
    const found = await instant('sum(increase(edge_origin_response_duration_seconds_count[40m]))');
    expect(found['']).toBeCloseTo(answered.length, 1);
    const quantile = await instant(
      'histogram_quantile(0.5, sum by (le) (rate(edge_origin_response_duration_seconds_bucket[40m])))',
    );
    const durations = answered.map(({ origin }) => origin! / 1000).sort((a, b) => a - b);
    expect(Math.abs(quantile['']! - durations[durations.length >> 1]!)).toBeLessThan(0.05);
  });
});

describe('the other datasets', () => {
  it.each<[string, Record<string, number>]>([
    ['sum by (outcome) (increase(edge_worker_invocations_total[40m]))', { exception: 25, ok: 75 }],
    ['sum(increase(edge_worker_cpu_seconds_sum{script="router"}[40m]))', { '': 5.05 }],
    ['sum(increase(edge_worker_wall_seconds_bucket{le="0.5"}[40m]))', { '': 50 }],
    ['sum by (action) (increase(edge_firewall_events_total[40m]))', { block: 30, log: 30 }],
    [
      'sum by (rule_id) (increase(edge_firewall_events_total{action="block"}[40m]))',
      { 'rule-0': 10, 'rule-1': 10, 'rule-2': 10 },
    ],
    ['sum by (query_type) (increase(edge_dns_queries_total[40m]))', { A: 25, AAAA: 25 }],
    ['sum by (cached) (increase(edge_dns_queries_total{response_code="NXDOMAIN"}[40m]))', { true: 1, false: 4 }],
  ])('%s', async (query, expected) => {
    const found = await instant(query);
    expect(Object.keys(found).sort()).toEqual(Object.keys(expected).sort());
    for (const [key, value] of Object.entries(expected)) expect(found[key]! / value).toBeCloseTo(1, 4);
  });
});

describe('what there is to query', () => {
  const range = { start: String(START / 1000), end: String(END / 1000) };
  it('lists metrics, labels, values and series', async () => {
    expect(await ask('label/__name__/values', range)).toContain('edge_worker_cpu_seconds_bucket');
    expect(await ask('label/zone/values', range)).toEqual(['blog.example.com', 'shop.example.com']);
    expect(
      await ask('label/country/values', { ...range, 'match[]': 'edge_requests_total{zone="blog.example.com"}' }),
    ).toEqual(['DE', 'IN']);
    expect(await ask('label/le/values', range)).toContain('+Inf');
    expect(await ask('labels', { ...range, 'match[]': 'edge_dns_queries_total' })).toEqual([
      '__name__',
      'cached',
      'colo',
      'query_type',
      'response_code',
    ]);
    const series = await ask('series', {
      ...range,
      'match[]': 'edge_requests_total{status="503",zone="blog.example.com"}',
    });
    expect(series.length).toBeGreaterThan(1);
    expect(series[0]).toMatchObject({ __name__: 'edge_requests_total', status: '503', status_class: '5xx' });
    expect(await ask('metadata', { metric: 'edge_requests_total' })).toEqual({
      edge_requests_total: [{ type: 'counter', help: expect.any(String), unit: '' }],
    });
  });

  it('shows an organisation its own records alone', async () => {
    const tokens = await service.addOrganization('other');
    const answer = await service.fetch('GET', '/prometheus/logs/api/v1/query?query=edge_requests_total', {
      headers: { authorization: `Bearer ${tokens.read}` },
    });
    expect(answer.body).toEqual({ status: 'success', data: { resultType: 'vector', result: [] } });
  });
});
