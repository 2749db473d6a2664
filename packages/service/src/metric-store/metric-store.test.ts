/** The metric store on the real engine: retention, limits of what a query reads, and the data sources made of it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LabelMatcher, parse, queryRange } from '@obsiac/promql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SourceError } from '../data-source/source.ts';
import { createLogStore, type LogStore } from '../log-store/index.ts';
import type { IncomingSeries } from './incoming.ts';
import { createEmbeddedSource, createLogsSource, createMetricStore, type MetricStore } from './index.ts';

const DAY = 86_400_000;
/** Noon of a day; the clock of the store. */
const NOW = Date.UTC(2026, 10, 21, 12);
const root = mkdtempSync(join(tmpdir(), 'obsiac-metrics-'));
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
let logs: LogStore;
let store: MetricStore;
let now = NOW;

const limits = { series: 50, samples: 2_000 };
const open = (readLimits = limits) =>
  createMetricStore({
    engine: logs.engine,
    retentionDays: 10,
    queryLimits: { timeout: 30_000, memory: 400_000_000 },
    readLimits,
    log: quiet,
    now: () => now,
    linger: 1,
  });

beforeAll(async () => {
  logs = await createLogStore({
    dataDirectory: root,
    engine: { kind: 'embedded', memoryLimit: 1_000_000_000 },
    log: quiet,
    minFreeBytes: 0,
  });
  logs.start();
  await logs.whenReady();
  store = open();
});
afterAll(async () => {
  await store.stop();
  await logs.stop();
  rmSync(root, { recursive: true, force: true });
});

function series(
  labels: Record<string, string>,
  times: number[],
  values = times.map((_, index) => index),
): IncomingSeries {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return { labels: sorted, times, values, stale: undefined };
}
const write = (...all: IncomingSeries[]) => store.write('org', { series: all, metadata: [], refused: [] });
const named = (name: string): LabelMatcher[] => [{ label: '__name__', op: '=', value: name }];
const all = (name: string, org = 'org') => ({ org, selectors: [named(name)], from: 0, to: now, limit: 1_000 });

describe('retention', () => {
  it('takes what is kept, and drops days when they are over', async () => {
    const days = [0, 1, 9, 10, 11].map((back) => NOW - back * DAY);
    const written = await write(...days.map((time, index) => series({ __name__: 'aging', index: `${index}` }, [time])));
    expect(written).toEqual({
      stored: 4,
      refused: [{ samples: 1, reason: expect.stringContaining('older than samples are kept') }],
    });
    expect(await store.embedded.series(all('aging'))).toHaveLength(4);
    expect(await store.applyRetention()).toEqual([]);
    now = NOW + 1.5 * DAY;
    const dropped = await store.applyRetention();
    expect(dropped.map(({ table, day, rows }) => [table, day, rows])).toEqual([
      ['metric_samples', '2026-11-11', 1],
      ['metric_series', '2026-11-11', 1],
      ['metric_samples', '2026-11-12', 1],
      ['metric_series', '2026-11-12', 1],
    ]);
    now = NOW;
    expect(await store.embedded.labelValues('index', all('aging'))).toEqual(['0', '1']);
  });
});

describe('a query', () => {
  const source = (org = 'org', reader: MetricStore | undefined = store) =>
    createEmbeddedSource({ reader: reader?.embedded, org, origin: () => 'http://127.0.0.1:7780' });
  const ask = (query: string, of = source(), from = NOW - 600_000) =>
    of.queryRange({ query, start: from / 1000, end: NOW / 1000, step: 60, signal: new AbortController().signal });

  it('is answered in columns of seconds and values', async () => {
    const times = Array.from({ length: 11 }, (_, index) => NOW - 600_000 + index * 60_000);
    await write(series({ __name__: 'asked', job: 'a' }, times));
    const answer = await ask('asked * 2', source());
    expect(answer).toEqual({
      series: [
        {
          labels: { job: 'a' },
          times: Float64Array.from(times, (time) => time / 1000),
          values: Float64Array.from(times, (_, index) => 2 * index),
        },
      ],
      warnings: [],
      bytes: 0,
    });
    expect((await ask('asked', source('another'))).series).toEqual([]);
    expect(source().evaluationDelay).toBe(60);
  });

  it('is told as a line for a shell', () => {
    const request = { query: `up{job="it's"}`, start: 1, end: 61, step: 60 };
    expect(source().curl(request)).toBe(
      `curl -sS -H "Authorization: Bearer $OBSIAC_READ_TOKEN" --data-urlencode 'query=up{job="it'\\''s"}' --data-urlencode 'start=1' --data-urlencode 'end=61' --data-urlencode 'step=60' 'http://127.0.0.1:7780/api/v1/query_range'`,
    );
    const logsSource = createLogsSource({ reader: store.logs, org: 'org', origin: () => 'http://h' });
    expect(logsSource.curl(request)).toContain("'http://h/prometheus/logs/api/v1/query_range'");
    expect(logsSource.evaluationDelay).toBe(120);
  });

  it('fails with a code that says whose fault it is', async () => {
    await expect(ask('rate(')).rejects.toMatchObject({ code: 'bad_query' });
    await expect(ask('up{a=~"("}')).rejects.toMatchObject({ code: 'bad_query' });
    const none = createEmbeddedSource({ reader: undefined, org: 'org', origin: () => '' });
    const error = await ask('up', none).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(SourceError);
    expect(error).toMatchObject({ code: 'unreachable', isFaultOfTheSource: true });
    const gone = AbortSignal.abort(new DOMException('gone', 'AbortError'));
    await expect(source().queryRange({ query: 'up', start: 0, end: 1, step: 1, signal: gone })).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('may not read more series or samples than the limits say', async () => {
    await write(...Array.from({ length: 51 }, (_, index) => series({ __name__: 'many', index: `${index}` }, [NOW])));
    await expect(ask('many')).rejects.toMatchObject({ code: 'too_large', message: expect.stringMatching(/50 series/) });
    expect((await ask('many{index=~"1."}')).series).toHaveLength(10);
    const times = Array.from({ length: 1_100 }, (_, index) => NOW - 1_200_000 + index * 1_000);
    await write(series({ __name__: 'long', n: '1' }, times), series({ __name__: 'long', n: '2' }, times));
    await expect(ask('rate(long[1h])')).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(/2000 samples/),
    });
    await expect(ask('rate(long{n="1"}[1h]) + rate(long{n="2"}[1h])')).rejects.toMatchObject({ code: 'too_large' });
    expect((await ask('rate(long{n="1"}[1h])')).series).toHaveLength(1);
  });

  it('reads hundreds of series and more by one statement each', async () => {
    const wide = open({ series: 2_000, samples: 10_000 });
    const names = Array.from({ length: 1_200 }, (_, index) => series({ __name__: 'wide', index: `${index}` }, [NOW]));
    await wide.write('org', { series: names, metadata: [], refused: [] });
    const result = parse('count(wide)');
    if (!result.ok) throw new Error('no query');
    const storage = wide.embedded.storage({ org: 'org', expr: result.expr, step: 1 });
    const { series: found } = await queryRange(result.expr, { storage, start: NOW, end: NOW, step: 1 });
    expect(found[0]?.values[0]).toBe(1_200);
    await wide.stop();
  });
});

it('writes that come while others are stored are stored next', async () => {
  const before = store.counts().stored;
  const writes: Promise<unknown>[] = [];
  for (let index = 0; index < 150; index += 1) {
    writes.push(write(series({ __name__: 'staggered', index: `${index}` }, [NOW])));
    await new Promise((resolve) => setTimeout(resolve, index % 7));
  }
  await Promise.all(writes);
  expect(store.counts().stored - before).toBe(150);
});

it('concurrent writes are stored together, and all of them', async () => {
  const before = store.counts().stored;
  await Promise.all(
    Array.from({ length: 200 }, (_, index) => write(series({ __name__: 'together', index: `${index}` }, [NOW]))),
  );
  expect(store.counts().stored - before).toBe(200);
  expect(await store.embedded.series(all('together'))).toHaveLength(200);
});
