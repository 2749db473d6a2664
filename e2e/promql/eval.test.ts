/** `obsiac promql eval --url` over a real Prometheus gives what the server itself answers. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Prometheus, prometheusBinary, startPrometheus } from '../../tasks/prometheus.ts';

const obsiac = path.join(import.meta.dirname, '../../packages/cli/bin/obsiac.js');
const { binary, reason } = await prometheusBinary();

function run(args: readonly string[]): Promise<{ code: number | null; out: string }> {
  const child = spawn(process.execPath, [obsiac, 'promql', 'eval', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out })));
}

describe.skipIf(reason !== undefined)(`promql eval --url${reason ? ` (skipped: ${reason})` : ''}`, () => {
  let server: Prometheus;
  const end = Math.floor(Date.now() / 60_000) * 60_000;

  beforeAll(async () => {
    server = await startPrometheus({ binary: binary!.path });
    const steps = Array.from({ length: 61 }, (_, step) => step);
    const times = steps.map((step) => end - (60 - step) * 30_000);
    await server.write(
      ['a', 'b'].map((job, index) => ({
        labels: { __name__: 'requests_total', job },
        times,
        values: steps.map((step) => step * (index + 1)),
      })),
    );
  });
  afterAll(() => server?.stop());

  test.each([
    'sum by (job) (rate(requests_total[5m]))',
    'requests_total > 60',
    'max_over_time(requests_total[10m:1m] offset 2m)',
  ])('%s', async (query) => {
    const range = { start: String((end - 600_000) / 1000), end: String(end / 1000), step: '60' };
    const expected = await server.ask('/api/v1/query_range', { query, ...range });
    const { code, out } = await run([
      query,
      '--url',
      server.url,
      '--from',
      range.start,
      '--to',
      range.end,
      '--step',
      '1m',
      '--json',
    ]);
    expect(code).toBe(0);
    const event = out
      .split('\n')
      .map((line) => (line === '' ? {} : JSON.parse(line)))
      .find(({ type }) => type === 'promql_result');
    expect(event.data).toEqual(expected.body.data);
  });
});
