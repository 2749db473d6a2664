/** Names of OpenTelemetry as Prometheus has them: a table from the specification and from what senders send. */
import { describe, expect, it } from 'vitest';
import { labelName, metricName } from './names.ts';

describe('a metric', () => {
  it.each<[string, string, 'gauge' | 'counter' | 'other', string]>([
    ['http.server.duration', 'ms', 'other', 'http_server_duration_milliseconds'],
    ['http.server.request.duration', 's', 'other', 'http_server_request_duration_seconds'],
    ['http.server.active_requests', '{request}', 'gauge', 'http_server_active_requests'],
    ['system.cpu.utilization', '1', 'gauge', 'system_cpu_utilization_ratio'],
    ['hit.ratio', '1', 'gauge', 'hit_ratio'],
    ['system.network.io', 'By', 'counter', 'system_network_io_bytes_total'],
    ['requests.total', '1', 'counter', 'requests_total'],
    ['total.requests', '', 'counter', 'requests_total'],
    ['jobs', '{job}', 'counter', 'jobs_total'],
    ['already_in_bytes', 'By', 'gauge', 'already_in_bytes'],
    ['bytes_already_in', 'By', 'gauge', 'bytes_already_in'],
    ['throughput', 'MBy/s', 'gauge', 'throughput_megabytes_per_second'],
    ['rate', '{packet}/s', 'gauge', 'rate_per_second'],
    ['fan', '1/min', 'gauge', 'fan_per_min'],
    ['temperature', 'Cel', 'gauge', 'temperature_celsius'],
    ['free', '%', 'gauge', 'free_percent'],
    ['2xx.responses', '', 'gauge', '_2xx_responses'],
    ['a--b..c', '', 'gauge', 'a_b_c'],
    ['ns:job', '', 'gauge', 'ns:job'],
    ['', '', 'gauge', ''],
  ])('%s in %s', (name, unit, kind, expected) => {
    expect(metricName({ name, unit, counter: kind === 'counter', gauge: kind === 'gauge' })).toBe(expected);
  });
});

it.each([
  ['http.method', 'http_method'],
  ['1st', 'key_1st'],
  ['_hidden', 'key_hidden'],
  ['__own', '__own'],
  ['größe', 'gr__e'],
])('the label %s is %s', (attribute, expected) => {
  expect(labelName(attribute)).toBe(expected);
});
