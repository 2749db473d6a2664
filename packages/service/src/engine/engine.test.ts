import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ClickHouseClient } from '@clickhouse/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient, createEngineSupervisor, type EngineState, type EngineSupervisor } from './index.ts';

const quiet = { info: () => undefined, warn: () => undefined };
const directory = mkdtempSync(join(tmpdir(), 'obsiac-engine-test-'));

function supervise(name: string, more: { readers?: number; maxWaiting?: number } = {}): EngineSupervisor {
  return createEngineSupervisor({
    dataDirectory: join(directory, name),
    backupDirectory: join(directory, `${name}-backups`),
    memoryLimit: 1_500_000_000,
    log: quiet,
    ...more,
  });
}

function clientOf(supervisor: EngineSupervisor): ClickHouseClient {
  return createEngineClient({ socketPath: supervisor.socketPath }, { requestTimeout: 60_000, maxConnections: 32 });
}

async function rows<T>(
  client: ClickHouseClient,
  query: string,
  query_params: Record<string, unknown> = {},
): Promise<T[]> {
  return (await client.query({ query, query_params, format: 'JSONEachRow' })).json<T>();
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the embedded engine over its socket', () => {
  const supervisor = supervise('main');
  let client: ClickHouseClient;
  beforeAll(async () => {
    supervisor.start();
    expect(supervisor.state().phase).toBe('starting');
    await supervisor.whenReady();
    client = clientOf(supervisor);
  });
  afterAll(async () => {
    await client.close();
    await supervisor.stop();
  });

  it('is private to its user', () => {
    expect(statSync(join(directory, 'main')).mode & 0o777).toBe(0o700);
    expect(statSync(supervisor.socketPath).mode & 0o777).toBe(0o600);
  });

  it('answers ping and queries of the official client', async () => {
    expect(await client.ping()).toEqual({ success: true });
    expect(await client.ping({ select: true })).toEqual({ success: true });
    const answer = await client.query({ query: 'SELECT 18446744073709551615 AS big', format: 'JSON', query_id: 'q-1' });
    expect(answer.query_id).toBe('q-1');
    expect(await answer.json()).toMatchObject({ data: [{ big: '18446744073709551615' }], rows: 1 });
    const summary = (await client.command({ query: 'SELECT count() FROM system.one FORMAT JSON' })).summary;
    expect(summary?.read_rows).toBe('1');
  });

  it('answers errors with their codes', async () => {
    await expect(client.query({ query: 'SELEC 1' })).rejects.toMatchObject({ code: '62' });
    await expect(client.query({ query: 'SELECT nope', format: 'JSONEachRow' })).rejects.toMatchObject({ code: '47' });
    await expect(client.query({ query: 'SELECT {x:String}' })).rejects.toMatchObject({ code: '456' });
    await expect(
      client.query({
        query: 'SELECT count() FROM numbers(1e12) WHERE sipHash64(number) = 1',
        clickhouse_settings: { max_execution_time: 1 },
      }),
    ).rejects.toMatchObject({ code: '159' });
    await expect(
      client.query({
        query: 'SELECT groupArray(number) FROM numbers(1e8)',
        clickhouse_settings: { max_memory_usage: '10000000' },
      }),
    ).rejects.toMatchObject({ code: '241' });
  });

  it('gives back every string that is bound, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'grapheme' }),
          fc.string({ unit: fc.constantFrom("'", '\\', '\n', '\0', '`', '{', '}', '/', '*', '-', 'N', 'a') }),
        ),
        fc.array(fc.string({ unit: fc.constantFrom("'", '\\', '\t', '\r', ',', ']', 'é', '"') })),
        async (text, list) => {
          const [row] = await rows(
            client,
            'SELECT {s:String} AS s, {l:Array(String)} AS l, {n:Nullable(String)} AS n',
            {
              s: text,
              l: list,
              n: null,
            },
          );
          expect(row).toEqual({ s: text, l: list, n: null });
        },
      ),
      { numRuns: 150 },
    );
  });

  it('does not let a value act as SQL', async () => {
    await client.command({ query: 'CREATE TABLE victim (a UInt8) ENGINE = Memory' });
    for (const attack of [
      "'); DROP TABLE victim; --",
      "\\'); DROP TABLE victim; --",
      "x' OR 1=1 /*",
      '`; DROP TABLE victim',
      '{x:String}',
    ]) {
      expect(await rows(client, 'SELECT {s:String} AS s', { s: attack })).toEqual([{ s: attack }]);
      await client.query({ query: 'SELECT 1 FROM {t:Identifier}', query_params: { t: attack } }).catch(() => undefined);
    }
    expect(await rows(client, 'EXISTS TABLE victim')).toEqual([{ result: 1 }]);
  });

  it('keeps settings to the request that set them', async () => {
    const threads = async (value?: number) =>
      (
        await (
          await client.query({
            query: "SELECT toString(getSetting('max_block_size')) AS v",
            format: 'JSONEachRow',
            clickhouse_settings: value === undefined ? {} : { max_block_size: String(value) },
          })
        ).json<{ v: string }>()
      )[0]?.v;
    const normal = await threads();
    for (let round = 0; round < 20; round += 1) {
      expect(await threads(1000 + round)).toBe(String(1000 + round));
      expect(await threads()).toBe(normal);
    }
    await expect(
      client.query({ query: 'SELECT 1', clickhouse_settings: { max_block_size: '77', no_such_setting: 1 } as never }),
    ).rejects.toMatchObject({ code: '115' });
    for (let round = 0; round < 20; round += 1) expect(await threads()).toBe(normal);
  });

  it('reads with as many threads as it may, though less than a GiB is free for each', async () => {
    const plan = await client.query({
      query: 'SELECT explain FROM (EXPLAIN PIPELINE SELECT sum(number) FROM numbers_mt(100000000))',
      format: 'JSONEachRow',
      clickhouse_settings: { max_threads: 4 },
    });
    expect(JSON.stringify(await plan.json())).toContain('NumbersRange × 4');
  });

  it('takes inserts as plain and gzip bodies, and through input()', async () => {
    await client.command({
      query:
        "CREATE TABLE t (a UInt64, s String DEFAULT 'x') ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100",
    });
    await client.insert({ table: 't', values: [{ a: '1', s: 'one' }, { a: '2' }], format: 'JSONEachRow' });
    const lines = Array.from({ length: 1000 }, (_, n) => `line ${n}`).join('\n');
    await client.exec({
      query: "INSERT INTO t SELECT 100 + rowNumberInAllBlocks(), line FROM input('line String') FORMAT LineAsString",
      values: Readable.from([gzipSync(lines)]),
      http_headers: { 'Content-Encoding': 'gzip' },
      clickhouse_settings: { insert_deduplication_token: 'one' },
    });
    await client.exec({
      query: "INSERT INTO t SELECT 100 + rowNumberInAllBlocks(), line FROM input('line String') FORMAT LineAsString",
      values: Readable.from([Buffer.from(lines)]),
      clickhouse_settings: { insert_deduplication_token: 'one' },
    });
    expect(await rows(client, "SELECT count() AS n, countIf(s LIKE 'line %') AS l, min(s) AS first FROM t")).toEqual([
      { n: '1002', l: '1000', first: 'line 0' },
    ]);
    expect(readdirSync(join(directory, 'main', 'request-bodies'))).toEqual([]);
  });

  it('streams a result that is far bigger than its buffers', async () => {
    const answer = await client.query({
      query: "SELECT number, repeat('x', 1000) AS s FROM numbers(200000)",
      format: 'JSONEachRow',
    });
    let count = 0;
    for await (const batch of answer.stream()) count += batch.length;
    expect(count).toBe(200_000);
  });

  it('breaks the connection off when a stream fails in the middle', async () => {
    const answer = await client.query({
      query: 'SELECT throwIf(number = 3000000), number FROM numbers(4000000)',
      format: 'JSONEachRow',
    });
    await expect(
      (async () => {
        for await (const _ of answer.stream());
      })(),
    ).rejects.toThrow();
    expect(await client.ping()).toEqual({ success: true });
  });

  it.each(['JSON', 'JSONEachRow'] as const)(
    'stops a %s query when its client goes away; others go on and answer for themselves',
    async (format) => {
      const running = () =>
        rows(client, "SELECT query FROM system.processes WHERE query LIKE '%1e13%' AND query NOT LIKE '%processes%'");
      for (let round = 0; round < 8; round += 1) {
        const leave = new AbortController();
        const slow = client.query({
          query: 'SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 42',
          abort_signal: leave.signal,
          format,
        });
        slow.catch(() => undefined);
        await until(async () => (await running()).length === 1);
        expect(await rows(client, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
        leave.abort();
        await expect(slow).rejects.toThrow();
        await until(async () => (await running()).length === 0);
        const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => rows(client, `SELECT ${n} AS n`)));
        expect(answers).toEqual(Array.from({ length: 8 }, (_, n) => [{ n }]));
      }
    },
  );

  it('stops an export that is read no further', async () => {
    const leave = new AbortController();
    const answer = await client.query({
      query: 'SELECT number FROM numbers(1e12)',
      format: 'JSONEachRow',
      abort_signal: leave.signal,
    });
    for await (const _ of answer.stream()) break;
    answer.close();
    leave.abort();
    await until(
      async () =>
        (
          await rows(
            client,
            "SELECT 1 FROM system.processes WHERE query LIKE '%1e12%' AND query NOT LIKE '%processes%'",
          )
        ).length === 0,
    );
  });

  it('writes and restores backups below the backup directory only', async () => {
    mkdirSync(join(directory, 'main-backups'), { recursive: true });
    const place = join(directory, 'main-backups', 'one');
    await client.command({ query: `BACKUP TABLE t TO File('${place}')` });
    expect(existsSync(join(place, '.backup'))).toBe(true);
    await client.command({ query: `RESTORE TABLE t AS t_restored FROM File('${place}')` });
    expect(await rows(client, 'SELECT count() AS n FROM t_restored')).toEqual([{ n: '1002' }]);
    await expect(client.command({ query: "BACKUP TABLE t TO File('/tmp/elsewhere')" })).rejects.toThrow(
      /INVALID_CONFIG|not allowed|isn't/i,
    );
  });
});

describe('the supervisor', () => {
  it('brings the engine back after it was killed, with its data', async () => {
    const states: EngineState[] = [];
    const supervisor = createEngineSupervisor({
      dataDirectory: join(directory, 'killed'),
      backupDirectory: join(directory, 'killed-backups'),
      memoryLimit: 1_000_000_000,
      log: quiet,
      onState: (state) => states.push(state),
    });
    supervisor.start();
    await supervisor.whenReady();
    const client = clientOf(supervisor);
    await client.command({ query: 'CREATE DATABASE d' });
    await client.command({ query: 'CREATE TABLE d.t (a UInt64) ENGINE = MergeTree ORDER BY a' });
    await client.insert({ table: 'd.t', values: [{ a: 1 }], format: 'JSONEachRow' });
    const state = supervisor.state();
    if (state.phase !== 'ready') throw new Error('not ready');
    process.kill(state.pid, 'SIGKILL');
    await until(() => supervisor.state().phase === 'restarting');
    await supervisor.whenReady();
    expect(await rows(client, 'SELECT a FROM d.t')).toEqual([{ a: '1' }]);
    expect(states.map(({ phase }) => phase)).toEqual(['starting', 'ready', 'restarting', 'ready']);
    await client.close();
    await supervisor.stop();
    expect(supervisor.state()).toEqual({ phase: 'stopped' });
  });

  it('says that the data directory is held, and gets it when it is free', async () => {
    const first = supervise('shared');
    first.start();
    await first.whenReady();
    const second = supervise('shared');
    second.start();
    await until(() => second.state().phase === 'restarting');
    expect(second.state()).toMatchObject({ code: 'data_directory_locked' });
    await first.stop();
    await second.whenReady();
    await second.stop();
  });

  it('mends a table whose creation a crash cut off', async () => {
    const first = supervise('broken');
    first.start();
    await first.whenReady();
    const client = clientOf(first);
    await client.command({ query: 'CREATE DATABASE d' });
    await client.command({ query: 'CREATE TABLE d.t (a UInt64) ENGINE = MergeTree ORDER BY a' });
    await client.close();
    await first.stop();
    const store = join(directory, 'broken', 'store');
    const file = readdirSync(store, { recursive: true, encoding: 'utf8' }).find((path) =>
      path.endsWith('format_version.txt'),
    );
    truncateSync(join(store, file ?? ''), 0);
    const second = supervise('broken');
    second.start();
    await second.whenReady();
    const again = clientOf(second);
    await again.insert({ table: 'd.t', values: [{ a: 5 }], format: 'JSONEachRow' });
    expect(await rows(again, 'SELECT a FROM d.t')).toEqual([{ a: '5' }]);
    await again.close();
    await second.stop();
  });

  it('refuses work when too many wait, and says so', async () => {
    const supervisor = supervise('full', { readers: 1, maxWaiting: 1 });
    supervisor.start();
    await supervisor.whenReady();
    const client = clientOf(supervisor);
    const slow = () =>
      client.query({
        query: 'SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 42',
        clickhouse_settings: { max_execution_time: 1 },
      });
    const outcomes = await Promise.allSettled([slow(), slow(), slow(), slow()]);
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { code: string }).code : 'ok',
    );
    expect(codes.filter((code) => code === '202').length).toBe(2);
    await client.close();
    await supervisor.stop();
  });

  it('works when its path is too long for a socket', async () => {
    const supervisor = supervise(`deep-${'x'.repeat(120)}`);
    expect(supervisor.socketPath.length).toBeLessThan(100);
    supervisor.start();
    await supervisor.whenReady();
    const client = clientOf(supervisor);
    expect(await rows(client, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await client.close();
    await supervisor.stop();
    expect(existsSync(supervisor.socketPath)).toBe(false);
  });
});
