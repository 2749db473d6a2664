/** Metrics sent over HTTP: who may send, what is refused and how, what is found afterwards, and what a kill of the engine leaves. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prometheusBinary, startPrometheus } from '../../../../../tasks/prometheus.ts';
import { remoteWriteBodies, snappyLiterals, type WrittenSeries } from '../../../../../tasks/remote-write.ts';
import { type LogService, startLogService } from '../../../test/logs.ts';
import { startService } from '../../../test/service.ts';

const { binary } = await prometheusBinary();
/** A whole minute, ten minutes ago. */
const START = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;

let service: LogService;
beforeAll(async () => {
  service = await startLogService({ settings: { metric_body_limit: 1_000_000, metric_memory: 16_777_216 } });
  await service.app.logs!.store.whenReady(AbortSignal.timeout(60_000));
});
afterAll(() => service.stop());

function one(name: string, times: number[], values: number[], more: Partial<WrittenSeries> = {}): WrittenSeries {
  return { labels: { __name__: name }, times, values, ...more };
}
const write = async (series: WrittenSeries[], headers?: Record<string, string>) => {
  const [body] = [...remoteWriteBodies(series)];
  return service.deliver('/api/v1/write', body!, headers);
};
type Result = { metric: Record<string, string>; values: [number, string][] }[];

/** The samples of the last quarter of an hour, and what is a little ahead. */
async function samples(selector: string, of: LogService = service): Promise<Result> {
  const query = new URLSearchParams({ query: `${selector}[20m]`, time: String((START + 900_000) / 1000) });
  const answer = await of.fetch('GET', `/api/v1/query?${query}`, {
    headers: { authorization: `Bearer ${of.refreshTokens.read}` },
  });
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return answer.body.data.result;
}
const valuesOf = async (selector: string) =>
  (await samples(selector)).map(({ values }) => values.map(([, value]) => value));

describe('who may send', () => {
  it.each<[string, () => Record<string, string>, number]>([
    ['credentials of a log sender', () => ({ authorization: service.access.authorization }), 204],
    ['an access token to write', () => ({ authorization: `Bearer ${service.tokens.write}` }), 204],
    ['a refresh token to write', () => ({ authorization: `Bearer ${service.refreshTokens.write}` }), 204],
    ['an access token to read', () => ({ authorization: `Bearer ${service.tokens.read}` }), 403],
    ['a wrong token', () => ({ authorization: 'Bearer obs_write_nonsense' }), 401],
    ['a wrong password', () => ({ authorization: `Basic ${btoa('default-logs:x')}` }), 401],
    ['nothing', () => ({}), 401],
  ])('%s', async (_, headers, status) => {
    const answer = await write([one('who_may_send', [START], [1])], headers());
    expect(answer.status).toBe(status);
    if (status !== 204) expect(answer.body.error).toEqual(expect.any(String));
    const otlp = await service.deliver('/v1/metrics', '{}', { ...headers(), 'content-type': 'application/json' });
    expect(otlp.status).toBe(status === 204 ? 200 : status);
  });

  it.each([
    ['Bearer read', () => `Bearer ${service.tokens.read}`, 200],
    ['Bearer refresh', () => `Bearer ${service.refreshTokens.read}`, 200],
    ['Basic', () => `Basic ${btoa(`grafana:${service.refreshTokens.read}`)}`, 200],
    ['Basic with an access token', () => `Basic ${btoa(`:${service.tokens.read}`)}`, 200],
    ['delete', () => `Bearer ${service.tokens.delete}`, 403],
    ['intake credentials', () => service.access.authorization, 401],
  ])('asks with %s', async (_, authorization, status) => {
    const answer = await service.fetch('GET', '/api/v1/labels', { headers: { authorization: authorization() } });
    expect([answer.status, answer.body.status]).toEqual([status, status === 200 ? 'success' : 'error']);
  });

  it('asks without a token', async () => {
    const answer = await service.fetch('GET', '/api/v1/query?query=1');
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ status: 'error', errorType: 'unauthorized' });
    const unknown = await service.fetch('GET', '/prometheus/elsewhere/api/v1/query?query=1', {
      headers: { authorization: `Bearer ${service.tokens.read}` },
    });
    expect([unknown.status, unknown.body.errorType]).toEqual([404, 'not_found']);
  });

  it('sees its own organisation alone', async () => {
    await write([one('only_mine', [START], [1])]);
    const tokens = await service.addOrganization('second');
    const answer = await service.fetch('GET', '/api/v1/label/__name__/values', {
      headers: { authorization: `Bearer ${tokens.read}` },
    });
    expect(answer.body.data).toEqual([]);
  });
});

describe('remote write', () => {
  it('keeps values to the bit, and of a time the last one written', async () => {
    const values = [1.1, Number.NaN, Number.POSITIVE_INFINITY, -0, 5e-324];
    const times = values.map((_, index) => START + index * 1_000 + 7);
    expect((await write([one('exact', times, values)])).status).toBe(204);
    expect(await valuesOf('exact')).toEqual([['1.1', 'NaN', '+Inf', '-0', '5e-324']]);
    for (const value of [2, 3]) await write([one('exact', [times[0]!], [value])]);
    expect(await valuesOf('exact')).toEqual([['3', 'NaN', '+Inf', '-0', '5e-324']]);
    await service.app.logs!.store.engine.client.command({ query: 'OPTIMIZE TABLE obsiac.metric_samples FINAL' });
    expect(await valuesOf('exact')).toEqual([['3', 'NaN', '+Inf', '-0', '5e-324']]);
  });

  it('takes late samples in between, and twice the same request', async () => {
    const series = [one('late', [START, START + 20_000], [1, 3])];
    await Promise.all([write(series), write(series)]);
    await write([one('late', [START + 10_000], [2])]);
    expect(await valuesOf('late')).toEqual([['1', '2', '3']]);
  });

  it('ends a series at a staleness marker', async () => {
    await write([one('ends', [START, START + 30_000], [1, 0], { stale: [0, 1] })]);
    expect(await valuesOf('ends')).toEqual([['1']]);
    const query = new URLSearchParams({ query: 'ends', time: String((START + 60_000) / 1000) });
    const answer = await service.fetch('GET', `/api/v1/query?${query}`, {
      headers: { authorization: `Bearer ${service.tokens.read}` },
    });
    expect(answer.body.data.result).toEqual([]);
  });

  it.each<[string, () => Uint8Array | string, Record<string, string>, number, RegExp]>([
    ['no snappy', () => 'hello', {}, 400, /snappy/],
    ['no protobuf', () => snappyLiterals(Buffer.from([10, 200, 1, 1])), {}, 400, /protobuf/],
    ['a long body', () => new Uint8Array(1_000_001), {}, 413, /1000000 bytes as it was sent/],
    ['a bomb', () => Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 0), {}, 413, /after decompression/],
    ['another encoding', () => gzipSync('x'), { 'content-encoding': 'gzip' }, 415, /snappy/],
    ['another message', () => 'x', { 'content-type': 'application/x-protobuf;proto=other' }, 415, /other/],
    ['JSON', () => '{}', { 'content-type': 'application/json' }, 415, /x-protobuf/],
  ])('refuses %s with a sentence', async (_, body, headers, status, sentence) => {
    const answer = await service.deliver('/api/v1/write', body(), {
      authorization: service.access.authorization,
      ...headers,
    });
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(sentence)]);
  });

  it('stores what is good of a request and says what is not', async () => {
    const answer = await write([
      one('half_good', [START], [1]),
      { labels: { job: 'nameless' }, times: [START], values: [1] },
      one('half_good', [Date.now() + 7_200_000], [1]),
      one('half_good', [-5], [1]),
    ]);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatch(
      /^3 samples were not stored .*no metric name.*ahead of this clock.*The other 1 were\.$|^3 samples/,
    );
    expect(await valuesOf('half_good')).toEqual([['1']]);
  });

  it('reads version 2.0, with metadata', async () => {
    const symbols = ['', '__name__', 'version_two_total', 'job', 'api', 'Counts.'];
    const writer = new BinaryWriter();
    for (const symbol of symbols) writer.tag(4, WireType.LengthDelimited).string(symbol);
    writer.tag(5, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).fork().uint32(1).uint32(2).uint32(3).uint32(4).join();
    writer.tag(2, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(42).tag(2, WireType.Varint).int64(START).join();
    writer.tag(5, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Varint).int32(1).tag(3, WireType.Varint).uint32(5).join();
    writer.join();
    const answer = await service.deliver('/api/v1/write', snappyLiterals(writer.finish()), {
      authorization: service.access.authorization,
      'content-encoding': 'snappy',
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    });
    expect([answer.status, answer.headers.get('x-prometheus-remote-write-samples-written')]).toEqual([204, '1']);
    expect(await samples('version_two_total')).toMatchObject([
      { metric: { job: 'api' }, values: [[START / 1000, '42']] },
    ]);
    const metadata = await service.fetch('GET', '/api/v1/metadata?metric=version_two_total', {
      headers: { authorization: `Bearer ${service.tokens.read}` },
    });
    expect(metadata.body.data).toEqual({ version_two_total: [{ type: 'counter', help: 'Counts.', unit: '' }] });
  });

  it.skipIf(binary === undefined)('is spoken with a real Prometheus', async () => {
    const { port } = new URL(service.origin);
    const config = `
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: obsiac
    static_configs: [{ targets: ['127.0.0.1:${port}'] }]
remote_write:
  - url: ${service.origin}/api/v1/write
    authorization: { type: Bearer, credentials: ${service.refreshTokens.write} }
    queue_config: { batch_send_deadline: 500ms }
    metadata_config: { send_interval: 1s }
`;
    const prometheus = await startPrometheus({ binary: binary!.path, config });
    try {
      const query = new URLSearchParams({ query: 'count_over_time(up{job="obsiac"}[5m]) >= 3' });
      const arrived = async () => {
        const answer = await service.fetch('GET', `/api/v1/query?${query}`, {
          headers: { authorization: `Bearer ${service.tokens.read}` },
        });
        return answer.body.data.result.length > 0;
      };
      for (let tries = 0; tries < 200 && !(await arrived()); tries += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      expect(await arrived()).toBe(true);
    } finally {
      await prometheus.stop();
    }
  });
});

describe('OTLP', () => {
  const nanos = String(BigInt(START) * 1_000_000n + 999_999n);
  const attributes = (record: Record<string, unknown>) =>
    Object.entries(record).map(([key, value]) => ({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    }));
  const point = (more: object) => ({ timeUnixNano: nanos, ...more });
  const request = (metrics: object[], resource: Record<string, unknown> = {}) =>
    JSON.stringify({
      resourceMetrics: [
        {
          resource: { attributes: attributes({ 'service.name': 'shop', 'service.namespace': 'eu', ...resource }) },
          scopeMetrics: [{ scope: { name: 'app' }, metrics }],
        },
      ],
    });
  const send = (body: string | Uint8Array, type = 'application/json', more: Record<string, string> = {}) =>
    service.deliver('/v1/metrics', body, {
      authorization: service.access.authorization,
      'content-type': type,
      ...more,
    });

  it('names metrics and labels as Prometheus does', async () => {
    const metrics = [
      { name: 'http.server.active-requests', unit: '{request}', gauge: { dataPoints: [point({ asInt: '7' })] } },
      { name: 'cache.hit', unit: '1', gauge: { dataPoints: [point({ asDouble: 0.5 })] } },
      {
        name: 'network.io',
        unit: 'By',
        description: 'Bytes.',
        sum: {
          aggregationTemporality: 2,
          isMonotonic: true,
          dataPoints: [
            point({ asInt: '-3', attributes: attributes({ 'net.direction': 'in', '1st': 'x', code: 200 }) }),
          ],
        },
      },
      { name: 'queue.length', sum: { aggregationTemporality: 2, dataPoints: [point({ asDouble: 4.5 })] } },
      { name: 'speed', unit: 'km/h', gauge: { dataPoints: [point({ asDouble: 90 })] } },
    ];
    const answer = await send(request(metrics, { 'service.instance.id': 'i-1', 'host.name': 'node-7' }));
    expect([answer.status, answer.text]).toEqual([200, '{}']);
    const common = { job: 'eu/shop', instance: 'i-1', otel_scope_name: 'app' };
    const time = START / 1000;
    expect(await samples('{job="eu/shop"}')).toEqual(
      [
        { metric: { __name__: 'cache_hit_ratio', ...common }, values: [[time, '0.5']] },
        { metric: { __name__: 'http_server_active_requests', ...common }, values: [[time, '7']] },
        {
          metric: { __name__: 'network_io_bytes_total', ...common, net_direction: 'in', key_1st: 'x', code: '200' },
          values: [[time, '-3']],
        },
        { metric: { __name__: 'queue_length', ...common }, values: [[time, '4.5']] },
        { metric: { __name__: 'speed_km_per_hour', ...common }, values: [[time, '90']] },
        {
          metric: { __name__: 'target_info', job: 'eu/shop', instance: 'i-1', host_name: 'node-7' },
          values: [[time, '1']],
        },
      ].map((series) => expect.objectContaining(series)),
    );
  });

  it('takes histograms apart, adds differences up, and refuses what it does not keep', async () => {
    const histogram = (temporality: number, at: number) => ({
      name: 'latency',
      unit: 's',
      histogram: {
        aggregationTemporality: temporality,
        dataPoints: [
          {
            timeUnixNano: String(BigInt(at) * 1_000_000n),
            count: '6',
            sum: 2.5,
            explicitBounds: [0.1, 1],
            bucketCounts: ['1', '2', '3'],
          },
        ],
      },
    });
    const service_name = { 'service.name': 'delta', 'service.namespace': '' };
    for (const at of [START, START + 15_000])
      expect((await send(request([histogram(1, at)], service_name))).status).toBe(200);
    const again = await send(request([histogram(1, START)], service_name));
    expect(again.body.partialSuccess).toMatchObject({ rejectedDataPoints: '5' });
    const of = async (name: string) =>
      Object.fromEntries(
        (await samples(`${name}{job="delta"}`)).map(({ metric, values }) => [
          metric['le'] ?? '',
          values.map(([, value]) => value),
        ]),
      );
    expect(await of('latency_seconds_bucket')).toEqual({ '0.1': ['1', '2'], '1': ['3', '6'], '+Inf': ['6', '12'] });
    expect(await of('latency_seconds_sum')).toEqual({ '': ['2.5', '5'] });
    expect(await of('latency_seconds_count')).toEqual({ '': ['6', '12'] });
    const summary = {
      name: 'rpc',
      summary: { dataPoints: [point({ count: '2', sum: 3, quantileValues: [{ quantile: 0.5, value: 1 }] })] },
    };
    const exponential = { name: 'exp', exponentialHistogram: { dataPoints: [point({}), point({})] } };
    const answer = await send(request([summary, exponential], service_name));
    expect(answer.status).toBe(200);
    expect(answer.body.partialSuccess).toEqual({
      rejectedDataPoints: '2',
      errorMessage: expect.stringMatching(/exponential/),
    });
    expect((await samples('{job="delta", quantile="0.5"}'))[0]).toMatchObject({ metric: { __name__: 'rpc' } });
  });

  it('reads protobuf, compressed too, and answers in it', async () => {
    const writer = new BinaryWriter();
    const inside = (field: number, write: () => void) => {
      writer.tag(field, WireType.LengthDelimited).fork();
      write();
      writer.join();
    };
    inside(1, () => {
      inside(1, () =>
        inside(1, () => {
          writer.tag(1, WireType.LengthDelimited).string('service.name');
          inside(2, () => writer.tag(1, WireType.LengthDelimited).string('binary'));
        }),
      );
      inside(2, () =>
        inside(2, () => {
          writer.tag(1, WireType.LengthDelimited).string('runs');
          inside(7, () => {
            inside(1, () => writer.tag(3, WireType.Bit64).fixed64(nanos).tag(6, WireType.Bit64).sfixed64('12'));
            writer.tag(2, WireType.Varint).int32(2).tag(3, WireType.Varint).bool(true);
          });
        }),
      );
      inside(2, () =>
        inside(2, () => {
          writer.tag(1, WireType.LengthDelimited).string('took');
          inside(9, () => {
            inside(1, () => {
              writer.tag(3, WireType.Bit64).fixed64(nanos).tag(4, WireType.Bit64).fixed64('3');
              inside(6, () => writer.fixed64('1').fixed64('2'));
              inside(7, () => writer.double(0.5));
            });
            writer.tag(2, WireType.Varint).int32(2);
          });
        }),
      );
    });
    const answer = await send(gzipSync(writer.finish()), 'application/x-protobuf', { 'content-encoding': 'gzip' });
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      200,
      '',
      'application/x-protobuf',
    ]);
    expect(
      (await samples('{job="binary"}')).map(({ metric, values }) => [metric['__name__'], metric['le'], values[0]![1]]),
    ).toEqual([
      ['runs_total', undefined, '12'],
      ['took_bucket', '+Inf', '3'],
      ['took_bucket', '0.5', '1'],
      ['took_count', undefined, '3'],
    ]);
  });

  it.each<[string, string | Uint8Array, string, number]>([
    ['broken JSON', '{', 'application/json', 400],
    ['JSON of another shape', '{"resourceMetrics":1}', 'application/json', 400],
    ['broken protobuf', Uint8Array.of(10, 50, 1), 'application/x-protobuf', 400],
    ['another type', '{}', 'text/plain', 415],
    ['a long body', new Uint8Array(1_000_001), 'application/json', 413],
    ['a bomb', gzipSync(Buffer.alloc(1_000_001, ' ')), 'application/json', 413],
    ['broken gzip', Uint8Array.of(0x1f, 0x8b, 1, 2), 'application/json', 400],
  ])('refuses %s with a status message', async (_, body, type, status) => {
    const answer = await send(body, type);
    expect(answer.status).toBe(status);
    if (type !== 'application/x-protobuf')
      expect(answer.body).toMatchObject({ code: expect.any(Number), message: expect.any(String) });
  });
});

describe('the engine', () => {
  it('killed again and again loses nothing that was acknowledged', async () => {
    const acknowledged = new Map<number, number>();
    const pid = () =>
      Number(/PID: (\d+)/.exec(readFileSync(path.join(service.dataDir, 'logs', 'engine', 'status'), 'utf8'))?.[1]);
    let sending = true;
    let refused = 0;
    const sender = async (offset: number) => {
      for (let n = offset; sending; n += 2) {
        const answer = await write([one('survives', [START + n], [n])]);
        if (answer.status === 204) acknowledged.set(START + n, n);
        else {
          refused += 1;
          expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([503, true]);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    };
    const senders = [sender(0), sender(1)];
    let killed = 0;
    const ready = async () => {
      await service.app.logs!.store.whenReady();
      // The death of an engine is noticed a moment after it.
      for (; pid() === killed; await service.app.logs!.store.whenReady()) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    for (let round = 0; round < 3; round += 1) {
      await ready();
      await new Promise((resolve) => setTimeout(resolve, 700 + 130 * round));
      killed = pid();
      process.kill(killed, 'SIGKILL');
    }
    await ready();
    await new Promise((resolve) => setTimeout(resolve, 500));
    sending = false;
    await Promise.all(senders);
    const found = new Map(
      (await samples('survives'))[0]!.values.map(([time, value]) => [Math.round(time * 1000), Number(value)]),
    );
    expect(refused).toBeGreaterThan(0);
    expect(acknowledged.size).toBeGreaterThan(0);
    for (const [time, value] of acknowledged) expect(found.get(time)).toBe(value);
  });

  it('that is not there by choice is said so', async () => {
    const without = await startService();
    const headers = { authorization: `Bearer ${without.tokens.write}` };
    const sent = await without.fetch('POST', '/api/v1/write', { headers, raw: 'x' });
    expect([sent.status, sent.body.error]).toEqual([404, expect.stringMatching(/keeps no metrics/)]);
    const asked = await without.fetch('GET', '/api/v1/query?query=up', { headers });
    expect([asked.status, asked.body]).toEqual([
      503,
      { status: 'error', errorType: 'unavailable', error: expect.stringMatching(/keeps no metrics/) },
    ]);
    await without.stop();
  });
});
