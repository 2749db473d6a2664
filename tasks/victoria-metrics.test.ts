import { describe, expect, test } from 'vitest';
import { startVictoriaMetrics, victoriaMetricsBinary } from './victoria-metrics.ts';

const { binary, reason } = await victoriaMetricsBinary();

describe.skipIf(reason !== undefined)(`a real VictoriaMetrics${reason ? ` (skipped, ${reason})` : ''}`, () => {
  test('takes samples by remote write and answers them', async () => {
    const server = await startVictoriaMetrics({ binary: binary!.path });
    try {
      const now = Date.now() - (Date.now() % 1_000);
      await server.write([
        { labels: { __name__: 'a', x: 'y' }, times: [now - 60_000, now - 30_000], values: [1, 2.5] },
      ]);
      await server.flush();
      const answer = await server.ask('/api/v1/query', { query: 'a', time: String((now - 30_000) / 1_000) });
      expect(answer.body.data).toMatchObject({
        result: [{ metric: { x: 'y' }, value: [(now - 30_000) / 1_000, '2.5'] }],
      });
    } finally {
      await server.stop();
    }
    await expect(fetch(server.url)).rejects.toThrow();
  });
});
