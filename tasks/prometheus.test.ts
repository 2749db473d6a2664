import { describe, expect, test } from 'vitest';
import { prometheusBinary, startPrometheus } from './prometheus.ts';

const { binary, reason } = await prometheusBinary();

describe.skipIf(reason !== undefined)(`a real Prometheus${reason ? ` (skipped, ${reason})` : ''}`, () => {
  test('takes samples and markers by remote write and answers them', async () => {
    const server = await startPrometheus({ binary: binary!.path });
    try {
      const count = 30_000;
      const times = Float64Array.from({ length: count }, (_, i) => 1_700_000_000_000 + i * 1_000);
      await server.write([
        { labels: { __name__: 'a', x: 'ä' }, times, values: times.map((_, i) => i / 3) },
        { labels: { __name__: 'b' }, times: times.subarray(0, 2), values: [1, 2], stale: [0, 1] },
        { labels: { __name__: 'b', early: 'yes' }, times: [-5_000 + 1_700_000_000_000], values: [Number.NaN] },
      ]);
      const counted = await server.ask('/api/v1/query', { query: 'count_over_time(a[1d])', time: '1700030000' });
      expect(counted.body.data).toMatchObject({
        result: [{ metric: { x: 'ä' }, value: [1_700_030_000, String(count)] }],
      });
      const last = await server.ask('/api/v1/query', { query: 'a', time: '1700000010' });
      expect(last.body.data).toMatchObject({ result: [{ value: [1_700_000_010, String(10 / 3)] }] });
      const stale = await server.ask('/api/v1/query', { query: 'b', time: '1700000001' });
      expect(stale.body.data).toMatchObject({ result: [{ metric: { early: 'yes' }, value: [1_700_000_001, 'NaN'] }] });
    } finally {
      await server.stop();
    }
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test('a wrong flag gives the reason and leaves nothing behind', async () => {
    await expect(startPrometheus({ binary: binary!.path, flags: ['--no-such-flag'] })).rejects.toThrow(/no-such-flag/);
  });
});
