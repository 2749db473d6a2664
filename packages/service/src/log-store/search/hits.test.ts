import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseQuery, type Query } from '@obsiac/model';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient } from '../../engine/index.ts';
import { createLogStore, type LogStore } from '../index.ts';
import { MINUTE } from '../table.ts';

const root = mkdtempSync(join(tmpdir(), 'obsiac-hits-'));
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const SECOND = 1_000_000_000n;
const MINUTES = 60n * SECOND;
/** Within a minute, so that the ranges of the tests begin and end within and at the edges of minutes. */
const START = 1_750_000_020_000_000_007n;

interface Row {
  readonly dataset: string;
  readonly timestamp: string;
  readonly severity_text: string;
  readonly body: string;
  readonly EdgeResponseStatus?: number;
}

/** Twelve severities, so that two of them are in the rest. */
const SEVERITIES = ['', ...Array.from({ length: 12 }, (_, index) => `S${index}`)];
const ROWS: readonly Row[] = Array.from({ length: 2_000 }, (_, index) => ({
  dataset: index % 3 === 0 ? 'otlp' : 'http_requests',
  timestamp: String(START + BigInt(index) * 451_000_003n),
  severity_text: SEVERITIES[Math.floor((index % 169) / 13) === index % 13 ? 0 : index % 13] as string,
  body: index % 5 === 0 ? 'error' : 'ok',
  ...(index % 7 === 0 ? {} : { EdgeResponseStatus: [200, 404, 503][index % 3] as number }),
}));
const END = START + 2_000n * 451_000_003n;

const parsed = (text: string): Query => {
  const { query, problem } = parseQuery(text);
  if (query === undefined) throw new Error(problem.message);
  return query;
};

/** Filters that counts by minute can answer, and some that they cannot, each beside what it means. */
const FILTERS: readonly (readonly [string, (row: Row) => boolean])[] = [
  ['*', () => true],
  ['EdgeResponseStatus:>=500', ({ EdgeResponseStatus: status = 0 }) => status >= 500],
  ['-EdgeResponseStatus:404', ({ EdgeResponseStatus: status }) => status !== 404],
  ['severity_text:S3 OR dataset:otlp', (row) => row.severity_text === 'S3' || row.dataset === 'otlp'],
  ['EdgeResponseStatus:* error', (row) => row.EdgeResponseStatus !== undefined && row.body === 'error'],
  ['dataset:http_requests body:ok', (row) => row.dataset === 'http_requests' && row.body === 'ok'],
];
const FIELDS = [undefined, 'severity_text', 'EdgeResponseStatus', 'dataset', 'body'] as const;

describe('counts over time', () => {
  let store: LogStore;
  beforeAll(async () => {
    store = await createLogStore({
      dataDirectory: root,
      engine: { kind: 'embedded', memoryLimit: 1_500_000_000 },
      log: quiet,
      minFreeBytes: 0,
    });
    store.start();
    for (const rows of [ROWS.slice(0, 1_300), ROWS.slice(1_300)]) {
      const plain = Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n'));
      await store.append({
        org: 'main',
        dataset: 'otlp',
        receivedAt: '1750000000000000000',
        hash: createHash('sha256').update(plain).digest('hex'),
        contentEncoding: 'gzip',
        form: 'records',
        records: rows.length,
        plainBytes: plain.length,
        body: [gzipSync(plain)],
      });
    }
    await store.whenReady();
    await store.loaded();
  });
  afterAll(async () => {
    await store.stop();
    rmSync(root, { recursive: true, force: true });
  });

  it('are exact for every range, step, filter and field, from kept counts or from the records', async () => {
    const edge = fc.oneof(
      fc.bigInt({ min: START - 2n * MINUTES, max: END + 2n * MINUTES }),
      fc.bigInt({ min: -2n, max: 17n }).map((minutes) => (START / MINUTES + minutes) * MINUTES),
    );
    const asked = fc.record({
      edges: fc.tuple(edge, edge).filter(([left, right]) => left !== right),
      step: fc.constantFrom(30n * SECOND, MINUTES, 5n * MINUTES, 60n * MINUTES),
      filter: fc.constantFrom(...FILTERS),
      by: fc.constantFrom(...FIELDS),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ edges, step, filter: [text, matches], by }) => {
        const [from, to] = edges[0] < edges[1] ? edges : [edges[1], edges[0]];
        const search = { org: 'main', from, to, query: parsed(text), step };
        const hits = await store.search.hits(by === undefined ? search : { ...search, by });
        const rows = ROWS.filter((row) => matches(row) && BigInt(row.timestamp) >= from && BigInt(row.timestamp) < to);
        expect(hits.total).toBe(rows.length);
        expect(hits.series.map(({ value, counts }) => [value, counts])).toEqual(
          expected(rows, hits.timestamps, step, by),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('of whole minutes come from the kept counts', async () => {
    const socketPath = join(root, 'engine', 'engine.sock');
    const client = createEngineClient({ socketPath }, { requestTimeout: 60_000, maxConnections: 1 });
    const answer = await client.query({
      query: `EXPLAIN SELECT intDiv(${MINUTE} - 5, 10) AS bucket, severity_text, count() FROM obsiac.logs
WHERE org = 'main' AND ${MINUTE} >= 29166667 AND ifNull(toFloat64(EdgeResponseStatus) >= 500, 0) GROUP BY bucket, severity_text`,
      format: 'TabSeparated',
    });
    expect(await answer.text()).toContain('by_minute');
    await client.close();
  });
});

/** The series in the order of the answer: by frequency, then the rest when there is any, or all records. */
function expected(rows: readonly Row[], timestamps: readonly string[], step: bigint, by?: keyof Row) {
  const counts = (some: readonly Row[]) =>
    timestamps.map(
      (start) => some.filter(({ timestamp }) => (BigInt(timestamp) / step) * step === BigInt(start)).length,
    );
  if (by === undefined) return [[null, counts(rows)]];
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const value = String(row[by] ?? '');
    groups.set(value, [...(groups.get(value) ?? []), row]);
  }
  const named = [...groups]
    .filter(([value]) => value !== '')
    .sort(([left, ofLeft], [right, ofRight]) => ofRight.length - ofLeft.length || (left < right ? -1 : 1))
    .slice(0, 10);
  const rest = rows.filter((row) => !named.some(([value]) => value === String(row[by] ?? '')));
  return [...named.map(([value, some]) => [value, counts(some)]), ...(rest.length > 0 ? [[null, counts(rest)]] : [])];
}
