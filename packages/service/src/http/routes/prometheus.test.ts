/** The query API beside a real Prometheus: the same samples sent to both, the same questions, the same answers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Prometheus, prometheusBinary, startPrometheus } from '../../../../../tasks/prometheus.ts';
import { remoteWriteBodies, type WrittenSeries } from '../../../../../tasks/remote-write.ts';
import { type LogService, startLogService } from '../../../test/logs.ts';

const available = await prometheusBinary();

/** A whole minute, two hours ago. */
const START = Math.floor(Date.now() / 60_000) * 60_000 - 7_200_000;
const END = START + 5_400_000;
const STEP = 15_000;

function series(
  labels: Record<string, string>,
  value: (step: number) => number | undefined,
  from = START,
): WrittenSeries {
  const times: number[] = [];
  const values: number[] = [];
  const stale: number[] = [];
  for (let time = from, step = 0; time <= END; time += STEP, step += 1) {
    const at = value(step);
    times.push(time);
    values.push(at ?? 0);
    stale.push(at === undefined ? 1 : 0);
  }
  return { labels, times, values, stale: stale.includes(1) ? stale : undefined };
}

const BUCKETS = ['0.1', '0.5', '1', '+Inf'];
const DATA: WrittenSeries[] = [
  ...['api', 'web', 'api-canary'].flatMap((job, index) =>
    ['200', '404', '503'].map((code) =>
      series(
        { __name__: 'http_requests_total', job, code, instance: `host-${index}:9090` },
        (step) =>
          // A reset in the middle.
          (step < 180 ? step : step - 180) * (index + 1) * (code === '200' ? 10 : 1),
      ),
    ),
  ),
  ...BUCKETS.map((le, index) =>
    series({ __name__: 'request_duration_seconds_bucket', job: 'api', le }, (step) => step * (index + 1) * 3),
  ),
  series({ __name__: 'up', job: 'api', instance: 'host-0:9090' }, (step) => (step % 40 < 30 ? 1 : 0)),
  // Ends with a staleness marker, and begins anew.
  series({ __name__: 'up', job: 'web', instance: 'host-1:9090' }, (step) =>
    step === 100 ? undefined : step > 100 && step < 200 ? undefined : 1,
  ),
  series({ __name__: 'odd_values', kind: 'nan' }, (step) => (step % 3 === 0 ? Number.NaN : step)),
  series({ __name__: 'odd_values', kind: 'inf' }, (step) => (step % 2 === 0 ? Number.POSITIVE_INFINITY : -step)),
  series({ __name__: 'odd_values', kind: 'tiny' }, (step) => step * 1e-9 + 1e21),
  series({ __name__: 'temperature', 'room with "quotes"': 'küche\n→', floor: '1' }, (step) => Math.sin(step / 10) * 20),
  series({ __name__: 'temperature', floor: '2' }, (step) => Math.cos(step / 7) * 20, START + 1_800_000),
];

const AT = END - 600_000;
const seconds = (ms: number) => String(ms / 1000);

let service: LogService;
let prometheus: Prometheus;

const { binary } = available;
describe.skipIf(binary === undefined)('the query API', () => {
  beforeAll(async () => {
    [service, prometheus] = await Promise.all([startLogService(), startPrometheus({ binary: binary!.path })]);
    await service.app.logs!.store.whenReady(AbortSignal.timeout(60_000));
    await prometheus.write(DATA);
    for (const body of remoteWriteBodies(DATA)) {
      const answer = await service.deliver('/api/v1/write', body);
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
  });
  afterAll(async () => {
    await service?.stop();
    await prometheus?.stop();
  });

  /** Asks both, and gives both answers in one form. */
  async function both(path: string, parameters: [string, string][]) {
    const form = new URLSearchParams(parameters).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const authorization = `Basic ${btoa(`anyone:${service.refreshTokens.read}`)}`;
    const ask = async (url: string, more: Record<string, string>) => {
      const post = /query|series$|labels$/.test(path);
      const response = post
        ? await fetch(url, { method: 'POST', body: form, headers: { ...headers, ...more } })
        : await fetch(`${url}?${form}`, { headers: more });
      return { status: response.status, body: normal(await response.json()) };
    };
    const [own, theirs] = await Promise.all([
      ask(`${service.origin}${path}`, { authorization }),
      ask(`${prometheus.url}${path}`, {}),
    ]);
    return { own, theirs };
  }

  it.each([
    'up',
    'up{job="web"}',
    'up == 0',
    'http_requests_total',
    'http_requests_total{code=~"4..|503"}',
    'http_requests_total{code!~"2.*",job!="web"}',
    '{__name__=~"up|temp.*"}',
    '{job="api",__name__!="up"}',
    'http_requests_total{missing=""}',
    'http_requests_total{missing!=""}',
    'sum by (job) (rate(http_requests_total[5m]))',
    'sum(rate(http_requests_total{code="503"}[5m])) / sum(rate(http_requests_total[5m]))',
    'increase(http_requests_total{job="api"}[30m])',
    'histogram_quantile(0.9, sum by (le) (rate(request_duration_seconds_bucket[5m])))',
    'topk(2, http_requests_total)',
    'count_over_time(up[10m])',
    'odd_values',
    'avg_over_time(odd_values{kind="tiny"}[7m])',
    'temperature offset 20m',
    'temperature{"room with \\"quotes\\""=~"(?i)KÜCHE.→"}',
    `temperature @ ${START / 1000 + 600}`,
    'max_over_time(rate(http_requests_total{code="200"}[2m])[20m:1m])',
    'absent(nothing_here)',
    'time()',
    'vector(1)',
    '1 + 1',
    '"text"',
    'up[2m]',
    'http_requests_total{job="api"}[1m]',
    'count({__name__!=""})',
    'scalar(up{job="api"})',
  ])('answers the instant query %s as Prometheus does', async (query) => {
    const { own, theirs } = await both('/api/v1/query', [
      ['query', query],
      ['time', seconds(AT)],
    ]);
    expect(own).toEqual(theirs);
    expect(own.status).toBe(200);
  });

  it.each([
    ['up', '60'],
    ['up', '7.5'],
    ['sum by (code) (rate(http_requests_total[5m]))', '1m'],
    ['rate(http_requests_total{job=~"api.*"}[1m])', '30s'],
    ['temperature', '1m30s'],
    ['odd_values', '45'],
    ['up * on (job) group_left sum by (job) (http_requests_total)', '300'],
    ['1', '60'],
  ])('answers the range query %s with step %s as Prometheus does', async (query, step) => {
    const { own, theirs } = await both('/api/v1/query_range', [
      ['query', query],
      ['start', seconds(START + 12_345)],
      ['end', new Date(END).toISOString()],
      ['step', step],
    ]);
    expect(own).toEqual(theirs);
    expect(own.status).toBe(200);
  });

  it.each<[string, [string, string][]]>([
    [
      '/api/v1/series',
      [
        ['match[]', 'up'],
        ['match[]', 'temperature{floor="2"}'],
      ],
    ],
    ['/api/v1/series', [['match[]', '{job=~"api.*", code!="200"}']]],
    ['/api/v1/series', [['match[]', 'nothing_here']]],
    ['/api/v1/labels', []],
    ['/api/v1/labels', [['match[]', 'up']]],
    ['/api/v1/label/__name__/values', []],
    ['/api/v1/label/job/values', []],
    ['/api/v1/label/code/values', [['match[]', '{job="web"}']]],
    ['/api/v1/label/nobody/values', []],
    ['/api/v1/label/job/values', [['limit', '2']]],
    ['/api/v1/labels', [['limit', '1']]],
    ['/api/v1/metadata', []],
    ['/api/v1/query_exemplars', [['query', 'up']]],
  ])('answers %s %j as Prometheus does', async (path, parameters) => {
    const range: [string, string][] = [
      ['start', seconds(START)],
      ['end', seconds(END)],
    ];
    const { own, theirs } = await both(path, [...parameters, ...range]);
    expect(own).toEqual(theirs);
    expect(own.status).toBe(200);
  });

  it.each<[string, [string, string][]]>([
    ['/api/v1/query', [['query', 'up{']]],
    ['/api/v1/query', []],
    ['/api/v1/query', [['query', 'rate(up)']]],
    [
      '/api/v1/query',
      [
        ['query', 'up'],
        ['time', 'yesterday'],
      ],
    ],
    [
      '/api/v1/query',
      [
        ['query', 'up'],
        ['timeout', 'soon'],
      ],
    ],
    [
      '/api/v1/query',
      [
        ['query', 'up'],
        ['limit', '-1'],
      ],
    ],
    ['/api/v1/query', [['query', 'up{job=~"("}']]],
    [
      '/api/v1/query',
      [
        ['query', 'up + on (job) http_requests_total'],
        ['time', seconds(AT)],
      ],
    ],
    ['/api/v1/query', [['query', 'label_replace(up, "x", "$1", "job", "(")']]],
    [
      '/api/v1/query_range',
      [
        ['query', 'up'],
        ['start', '0'],
        ['end', '100'],
      ],
    ],
    [
      '/api/v1/query_range',
      [
        ['query', 'up'],
        ['start', '0'],
        ['end', '100'],
        ['step', '0'],
      ],
    ],
    [
      '/api/v1/query_range',
      [
        ['query', 'up'],
        ['start', '100'],
        ['end', '0'],
        ['step', '1'],
      ],
    ],
    [
      '/api/v1/query_range',
      [
        ['query', 'up'],
        ['start', '0'],
        ['end', '100000'],
        ['step', '1'],
      ],
    ],
    [
      '/api/v1/query_range',
      [
        ['query', 'up[5m]'],
        ['start', '0'],
        ['end', '100'],
        ['step', '1'],
      ],
    ],
    [
      '/api/v1/query_range',
      [
        ['query', 'up'],
        ['end', '100'],
        ['step', '1'],
      ],
    ],
    ['/api/v1/series', []],
    ['/api/v1/series', [['match[]', '{job=~".*"}']]],
    ['/api/v1/series', [['match[]', 'sum(up)']]],
    [
      '/api/v1/series',
      [
        ['match[]', 'up'],
        ['start', 'x'],
      ],
    ],
    ['/api/v1/labels', [['match[]', 'up{']]],
  ])('refuses %s %j with the status and type of Prometheus', async (path, parameters) => {
    const { own, theirs } = await both(path, parameters);
    const outline = ({ status, body }: typeof own) => ({ status, outcome: body.status, errorType: body.errorType });
    expect(outline(own)).toEqual(outline(theirs));
    expect(own.body.error).toEqual(expect.any(String));
    expect(own.status).toBeGreaterThanOrEqual(400);
  });

  it('cuts answers to a limit, and says so', async () => {
    const { own } = await both('/api/v1/query', [
      ['query', 'http_requests_total'],
      ['limit', '2'],
      ['time', seconds(AT)],
    ]);
    expect(own.body.data.result).toHaveLength(2);
    expect(own.body.warnings).toEqual(['results truncated due to limit']);
  });

  it('tells Grafana which Prometheus it speaks', async () => {
    const answer = await service.fetch('GET', '/api/v1/status/buildinfo', {
      headers: { authorization: `Bearer ${service.tokens.read}` },
    });
    expect(answer.body).toMatchObject({ status: 'success', data: { version: expect.stringMatching(/^3\./) } });
  });
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
function normal(body: any): any {
  const { data } = body;
  // Prometheus gives vectors in no particular order.
  const text = (value: unknown) => JSON.stringify(value);
  if (Array.isArray(data?.result) && (data.resultType === 'vector' || data.resultType === 'matrix')) {
    const result = data.result
      .map((each: { metric: object }) => ({ ...each, metric: Object.fromEntries(Object.entries(each.metric).sort()) }))
      .sort((a: object, b: object) => (text(a) < text(b) ? -1 : 1));
    return { ...body, data: { ...data, result } };
  }
  if (Array.isArray(data) && typeof data[0] === 'object') {
    const sorted = data.map((each: object) => Object.fromEntries(Object.entries(each).sort()));
    return { ...body, data: sorted.sort((a, b) => (text(a) < text(b) ? -1 : 1)) };
  }
  return body;
}
