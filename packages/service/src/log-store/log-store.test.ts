import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ClickHouseClient } from '@clickhouse/client';
import { parseQuery, type Query } from '@obsiac/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient } from '../engine/index.ts';
import { insertBatches } from './batch-insert.ts';
import { createLogStore, type LogBatch, type LogStore, type LogStoreOptions, type RecordRow } from './index.ts';
import { createVersionsTable, MIGRATIONS } from './migrations.ts';
import { lastDroppedDay } from './retention.ts';
import { createDatabase, createLogsTable } from './table.ts';

const root = mkdtempSync(join(tmpdir(), 'obsiac-store-'));
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function open(
  name: string,
  more: Partial<LogStoreOptions> = {},
): Promise<{ store: LogStore; client: ClickHouseClient }> {
  const dataDirectory = join(root, name);
  const store = await createLogStore({
    dataDirectory,
    engine: { kind: 'embedded', memoryLimit: 1_500_000_000 },
    log: quiet,
    minFreeBytes: 0,
    ...more,
  });
  store.start();
  const socketPath = join(dataDirectory, 'engine', 'engine.sock');
  return { store, client: createEngineClient({ socketPath }, { requestTimeout: 60_000, maxConnections: 8 }) };
}

const RECEIVED = '1700000000123456789';

function lines(
  text: string | Buffer,
  dataset: string,
  fields: readonly string[],
  more: Partial<LogBatch> = {},
): LogBatch {
  const plain = Buffer.from(text);
  const body = more.contentEncoding === 'identity' ? plain : gzipSync(plain);
  return {
    org: 'main',
    dataset,
    receivedAt: RECEIVED,
    hash: createHash('sha256').update(body).digest('hex'),
    contentEncoding: 'gzip',
    form: 'lines',
    records: plain.toString().split('\n').filter(Boolean).length,
    plainBytes: plain.length,
    fields,
    body: [body],
    ...more,
  };
}

function records(rows: readonly RecordRow[], more: Partial<LogBatch> = {}): LogBatch {
  const text = rows.map((row) => JSON.stringify(row)).join('\n');
  return { ...lines(text, 'otlp', [], more), form: 'records' };
}

function parsed(text: string): Query {
  const { query, problem } = parseQuery(text);
  if (query === undefined) throw new Error(problem.message);
  return query;
}

async function rows<T = Record<string, unknown>>(client: ClickHouseClient, query: string): Promise<T[]> {
  return (await client.query({ query, format: 'JSONEachRow' })).json<T>();
}

describe('the log store', () => {
  let store: LogStore;
  let client: ClickHouseClient;
  beforeAll(async () => {
    ({ store, client } = await open('main'));
  });
  afterAll(async () => {
    await client.close();
    await store.stop();
  });

  it('takes batches before the engine is there, and loads them when it is', async () => {
    expect(store.status().state.phase).not.toBe('ready');
    const line = '{"EdgeStartTimestamp":1506702504433000201,"RayID":"3a6050bcbe121a87","EdgeResponseStatus":503}';
    expect(
      await store.append(lines(`${line}\n`, 'http_requests', ['EdgeStartTimestamp', 'RayID', 'EdgeResponseStatus'])),
    ).toEqual({ duplicate: false });
    await store.loaded();
    expect(store.status()).toMatchObject({
      state: { phase: 'ready' },
      spool: { batches: 0 },
      loader: { loadedRecords: 1 },
    });
    expect(
      await rows(
        client,
        'SELECT toUnixTimestamp64Nano(timestamp) AS t, toUnixTimestamp64Nano(observed_timestamp) AS o, RayID, EdgeResponseStatus, severity_number, severity_text, raw, org, dataset FROM obsiac.logs',
      ),
    ).toEqual([
      {
        t: '1506702504433000201',
        o: RECEIVED,
        RayID: '3a6050bcbe121a87',
        EdgeResponseStatus: '503',
        severity_number: 17,
        severity_text: 'ERROR',
        raw: line,
        org: 'main',
        dataset: 'http_requests',
      },
    ]);
  });

  it.each(
    (
      [
        ['1700000001123456789', '1700000001123456789'],
        ['"1700000001123456789"', '1700000001123456789'],
        ['1700000001', '1700000001000000000'],
        ['1700000001123', '1700000001123000000'],
        ['1700000001123456', '1700000001123456000'],
        ['"2023-11-14T22:13:21Z"', '1700000001000000000'],
        ['"2023-11-14T22:13:21.123Z"', '1700000001123000000'],
        ['"2023-11-14T22:13:21.123456789Z"', '1700000001123456789'],
        ['"2023-11-15T00:13:21.123456789+02:00"', '1700000001123456789'],
        ['null', RECEIVED],
        ['""', RECEIVED],
        ['0', RECEIVED],
        ['-5', RECEIVED],
        ['"never"', RECEIVED],
        ['5000000000', RECEIVED],
        ['99999999999', RECEIVED],
        ['9999999999999', RECEIVED],
        ['4102444801000000000', RECEIVED],
        ['9223372036854775807', RECEIVED],
      ] as [string, string][]
    ).map(([written, expected], index) => [written, expected, index] as const),
  )('reads the time %s', async (written, expected, index) => {
    const line = `{"EdgeStartTimestamp":${written},"RayID":"time-${index}"}`;
    await store.append(lines(`${line}\n`, 'http_requests', ['EdgeStartTimestamp', 'RayID']));
    await store.loaded();
    expect(
      await rows(
        client,
        `SELECT toUnixTimestamp64Nano(timestamp) AS t, raw FROM obsiac.logs WHERE RayID = 'time-${index}'`,
      ),
    ).toEqual([{ t: expected, raw: line }]);
  });

  it('fills columns, words bodies and leaves out what is absent', async () => {
    const line = JSON.stringify({
      BotScore: 0,
      BotTags: ['a', 'b é'],
      CacheTieredFill: false,
      ClientIP: '203.0.113.7',
      ClientRequestHost: 'shop.example.com',
      ClientRequestMethod: 'GET',
      ClientRequestScheme: 'https',
      ClientRequestURI: '/cart?x=\u00e9"',
      Cookies: {},
      EdgeEndTimestamp: 1700000002000000000,
      EdgeResponseCompressionRatio: 2.5,
      EdgeResponseStatus: 404,
      EdgeStartTimestamp: '2023-11-14T22:13:21.5Z',
      OriginResponseStatus: 0,
      ParentRayID: '00',
      RayID: 'full-1',
      WAFAction: 'block',
      ZoneName: 'example.com',
      FirewallMatchesRuleIDs: ['r1'],
      SecurityLevel: null,
      WorkerSubrequest: true,
    }).replace('1700000002000000000', '1700000002000000001');
    const fields = Object.keys(JSON.parse(line) as object);
    await store.append(lines(`${line}\n`, 'http_requests', fields));
    await store.loaded();
    const [row] = await rows(client, "SELECT * EXCEPT (id) FROM obsiac.logs WHERE RayID = 'full-1'");
    expect(row).toMatchObject({
      BotScore: null,
      BotTags: ['a', 'b é'],
      CacheTieredFill: false,
      ClientIP: '203.0.113.7',
      EdgeEndTimestamp: '1700000002000000001',
      EdgeResponseCompressionRatio: 2.5,
      EdgeResponseStatus: '404',
      OriginResponseStatus: null,
      ParentRayID: '',
      SecurityAction: 'block',
      SecurityRuleIDs: ['r1'],
      SecurityActions: [],
      SecurityLevel: '',
      WorkerSubrequest: true,
      ResponseCached: null,
      severity_text: 'WARN',
      service: 'example.com',
      raw: line,
      attributes: {},
      body: 'GET https://shop.example.com/cart?x=é" 404 203.0.113.7 full-1',
    });
  });

  it('words the bodies of the other plain datasets', async () => {
    await store.append(
      lines(
        '{"Action":"block","ClientRequestHost":"a.example","ClientRequestPath":"/x","ClientRequestQuery":"?q=1","Datetime":1700000001,"Description":"Rate limit","RayID":"fw","Source":"waf"}\n',
        'firewall_events',
        [
          'Action',
          'ClientRequestHost',
          'ClientRequestPath',
          'ClientRequestQuery',
          'Datetime',
          'Description',
          'RayID',
          'Source',
        ],
      ),
    );
    await store.append(
      lines(
        '{"QueryName":"example.com","QueryType":28,"ResponseCode":0,"SourceIP":"198.51.100.1","Timestamp":1700000001}\n{"ColoCode":"AMS","Timestamp":1700000002}',
        'dns_logs',
        ['QueryName', 'QueryType', 'ResponseCode', 'SourceIP', 'Timestamp', 'ColoCode'],
      ),
    );
    await store.loaded();
    expect(
      await rows(
        client,
        "SELECT body, service, severity_text AS s FROM obsiac.logs WHERE dataset IN ('firewall_events', 'dns_logs') ORDER BY dataset, timestamp",
      ),
    ).toEqual([
      { body: 'example.com 28 0 198.51.100.1', service: '', s: 'INFO' },
      { body: 'AMS', service: '', s: 'INFO' },
      { body: 'block waf a.example/x?q=1 fw Rate limit', service: 'a.example', s: 'INFO' },
    ]);
  });

  it('takes prepared records, with every kind of attribute, and raw bytes that are no text', async () => {
    const odd = Buffer.from([0xff, 0x00, 0x41]);
    await store.append(
      records([
        {
          timestamp: '1700000003000000001',
          observed_timestamp: '1700000003000000002',
          severity_number: 21,
          severity_text: 'FATAL',
          service: 'pay',
          body: 'Card declined',
          trace_id: 'ab'.repeat(16),
          span_id: '01'.repeat(8),
          raw: '{"k":1}',
          attributes: {
            'k8s.pod': 'p-1',
            n: 5,
            big: '18446744073709551615',
            f: 0.25,
            on: true,
            list: ['a', 'b'],
            nested: { deep: { x: '2024-01-01T00:00:00Z' } },
            'nested.deep': { y: 'z' },
          },
        },
        {
          timestamp: '1700000003000000003',
          part: 2,
          raw: '{"k":1}',
          ClientASN: 64512,
          BotTags: ['t'],
          ZoneName: 'z.example',
          WorkerSubrequest: false,
        },
        { timestamp: '1700000003000000004', raw_base64: odd.toString('base64'), body: 'a\nb' },
      ]),
    );
    await store.loaded();
    const found = await rows(
      client,
      "SELECT *, toUnixTimestamp64Nano(timestamp) AS t, base64Encode(raw) AS raw64, attributes.n AS n FROM obsiac.logs WHERE dataset = 'otlp' ORDER BY timestamp",
    );
    expect(found[0]).toMatchObject({
      t: '1700000003000000001',
      severity_number: 21,
      service: 'pay',
      body: 'Card declined',
      trace_id: 'ab'.repeat(16),
      span_id: '01'.repeat(8),
      raw: '{"k":1}',
      part: 0,
      attributes: {
        k8s: { pod: 'p-1' },
        big: '18446744073709551615',
        f: 0.25,
        on: true,
        list: ['a', 'b'],
        nested: { deep: { x: '2024-01-01T00:00:00Z', y: 'z' } },
      },
    });
    expect(String(found[0]?.['n'])).toBe('5');
    expect(found[1]).toMatchObject({
      part: 2,
      ClientASN: '64512',
      BotTags: ['t'],
      ZoneName: 'z.example',
      WorkerSubrequest: false,
    });
    expect(found[2]).toMatchObject({ raw64: odd.toString('base64'), body: 'a\nb' });
    expect(new Set(found.map((row) => row['id'])).size).toBe(3);
  });

  it('gives a line the same id whichever way it came', async () => {
    const line = '{"RayID":"same-id"}';
    await store.append(lines(`${line}\n`, 'http_requests', ['RayID']));
    await store.append(
      records([{ timestamp: '1700000004000000000', dataset: 'http_requests', raw: line, RayID: 'same-id' }]),
    );
    await store.loaded();
    expect(await rows(client, "SELECT uniq(id) AS ids, count() AS n FROM obsiac.logs WHERE RayID = 'same-id'")).toEqual(
      [{ ids: '1', n: '2' }],
    );
  });

  it('stores a batch once, also over midnight, several blocks, and a restart in between', async () => {
    const many = Array.from(
      { length: 40_000 },
      (_, n) => `{"EdgeStartTimestamp":${1_700_006_400 - 20_000 + n},"ClientRequestURI":"/once/${n}"}`,
    ).join('\n');
    const batch = lines(many, 'http_requests', ['EdgeStartTimestamp', 'ClientRequestURI']);
    await store.append(batch);
    await store.append(batch);
    await store.loaded();
    const count = () =>
      rows(
        client,
        "SELECT count() AS n, uniqExact(ClientRequestURI) AS u, uniq(toDate(timestamp)) AS days FROM obsiac.logs WHERE ClientRequestURI LIKE '/once/%'",
      );
    expect(await count()).toEqual([{ n: '40000', u: '40000', days: '2' }]);
  });

  it('knows each block of a long batch again that was stored in part', async () => {
    await store.whenReady();
    const text = Array.from(
      { length: 250_000 },
      (_, n) => `{"EdgeStartTimestamp":${1_700_010_000_000 + n},"RayID":"${n}"}`,
    );
    const insert = async (org: string, count: number) => {
      const request = {
        token: `long-batch-${org}`,
        org,
        dataset: 'http_requests',
        form: 'lines',
        contentEncoding: 'gzip',
        fields: ['EdgeStartTimestamp', 'RayID'],
        receivedAt: RECEIVED,
        storedAt: RECEIVED,
        plainBytes: 0,
        bodies: () => [Readable.from([gzipSync(text.slice(0, count).join('\n'))])],
      } as const;
      await insertBatches(client, { database: 'obsiac' }, request, new AbortController().signal, {
        blockRows: 1_000_000,
        blockBytes: 4_000_000,
      });
    };
    await insert('whole', text.length);
    const blocks = await rows<{ n: string }>(
      client,
      "SELECT count() AS n FROM obsiac.logs WHERE org = 'whole' GROUP BY _part ORDER BY min(timestamp)",
    );
    expect(blocks.length).toBeGreaterThan(2);
    // As if the engine had died after its first block, and then after all of them.
    await insert('cut', Number(blocks[0]?.n));
    await insert('cut', text.length);
    await insert('cut', text.length);
    expect(await rows(client, "SELECT count() AS n, uniqExact(RayID) AS u FROM obsiac.logs WHERE org = 'cut'")).toEqual(
      [{ n: '250000', u: '250000' }],
    );
  });

  it('drops days that are older than their dataset is kept', async () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    expect(lastDroppedDay(now, 30)).toBe('2026-10-21');
    const at = (day: string) => `${BigInt(Date.parse(`${day}T23:59:59Z`)) * 1_000_000n}`;
    const { store: kept, client: asking } = await open('retention', {
      retention: { days: 30, datasets: { audit_logs: 365 } },
      now: () => now,
    });
    for (const [dataset, day] of [
      ['a', '2026-10-21'],
      ['a', '2026-10-22'],
      ['a', '2026-11-21'],
      ['audit_logs', '2026-10-21'],
      ["it's (odd)", '2026-01-01'],
    ] as const) {
      await kept.append(records([{ timestamp: at(day), dataset, raw: day }]));
    }
    await kept.whenReady();
    await kept.loaded();
    expect((await kept.applyRetention()).map(({ dataset, day, rows: n }) => [dataset, day, n]).sort()).toEqual([
      ['a', '2026-10-21', 1],
      ["it's (odd)", '2026-01-01', 1],
    ]);
    expect(await rows(asking, 'SELECT dataset, raw FROM obsiac.logs ORDER BY dataset, raw')).toEqual([
      { dataset: 'a', raw: '2026-10-22' },
      { dataset: 'a', raw: '2026-11-21' },
      { dataset: 'audit_logs', raw: '2026-10-21' },
    ]);
    await asking.close();
    await kept.stop();
  });

  it('writes a backup, goes back to it, and loads on', async () => {
    const { store: saved, client: asking } = await open('backup');
    const raws = async () =>
      (await rows<{ raw: string }>(asking, 'SELECT raw FROM obsiac.logs ORDER BY raw')).map(({ raw }) => raw);
    const add = async (raw: string) => {
      await saved.append(records([{ timestamp: '1700000000000000000', raw }]));
      await saved.loaded();
    };
    await add('one');
    await saved.backup('first');
    await expect(saved.backup('first')).rejects.toMatchObject({ code: 'store_failed' });
    await expect(saved.backup('../first')).rejects.toMatchObject({ code: 'query_invalid' });
    await add('two');
    expect(await raws()).toEqual(['one', 'two']);
    expect((await saved.backups()).map(({ name }) => name)).toEqual(['first']);
    await expect(saved.restore('second')).rejects.toMatchObject({ code: 'query_invalid' });
    await saved.restore('first');
    expect(await raws()).toEqual(['one']);
    await add('three');
    expect(await raws()).toEqual(['one', 'three']);
    await saved.deleteBackup('first');
    expect(await saved.backups()).toEqual([]);
    await asking.close();
    await saved.stop();
  });

  it('refuses tables of a later version, and keeps what is sent meanwhile', async () => {
    const first = await open('newer');
    await first.store.whenReady();
    await first.client.command({ query: "INSERT INTO obsiac.schema_versions VALUES (999, 'later', now())" });
    await first.client.close();
    await first.store.stop();
    const second = await open('newer');
    await expect(second.store.whenReady()).rejects.toMatchObject({ message: expect.stringContaining('999') });
    expect(await second.store.append(records([{ timestamp: '1700000000000000000', raw: 'x' }]))).toEqual({
      duplicate: false,
    });
    expect(second.store.status()).toMatchObject({ state: { phase: 'failed' }, spool: { batches: 1 } });
    await second.client.close();
    await second.store.stop();
  });

  it('brings tables of the first version to the form of today, with their records', async () => {
    const first = await open('older', { now: () => 1_700_000_000_000 });
    await first.store.whenReady();
    const [definition = ''] = createLogsTable({ database: 'obsiac' });
    const older = definition
      .replace('PRIMARY KEY (org, timestamp)\nORDER BY (org, timestamp, id)', 'ORDER BY (org, timestamp)')
      .replace('CODEC(T64, LZ4)', 'CODEC(Delta, ZSTD(1))')
      .replace(/ SETTINGS \(max_compress_block_size = \d+\)/, '')
      .replace(/, max_compress_block_size = \d+/, '');
    expect(older).not.toMatch(/max_compress_block_size|T64|timestamp, id/);
    for (const query of [
      'DROP TABLE obsiac.logs SYNC',
      older,
      'TRUNCATE TABLE obsiac.schema_versions',
      "INSERT INTO obsiac.schema_versions VALUES (1, 'logs', now())",
    ]) {
      await first.client.command({ query });
    }
    const at = 1_700_000_000_000_000_000n;
    const row = (number: number): RecordRow => ({
      timestamp: String(at + BigInt(number) * 1_000_000_000n),
      severity_text: number % 2 === 0 ? 'INFO' : 'ERROR',
      body: `word${number}`,
      raw: `line ${number}`,
    });
    await first.store.append(records(Array.from({ length: 200 }, (_, number) => row(number))));
    await first.store.loaded();
    await first.client.close();
    await first.store.stop();

    const second = await open('older', { now: () => 1_700_000_000_000 });
    await second.store.whenReady();
    expect(await rows(second.client, 'SELECT version FROM obsiac.schema_versions ORDER BY version')).toEqual(
      MIGRATIONS.map(({ version }) => ({ version })),
    );
    const [table] = await rows<{ sql: string }>(
      second.client,
      "SELECT create_table_query AS sql FROM system.tables WHERE database = 'obsiac' AND name = 'logs'",
    );
    expect(table?.sql).toMatch(/`timestamp` DateTime64\(9, 'UTC'\) CODEC\(T64(\(\w+\))?, LZ4\)/);
    expect(table?.sql).toMatch(/`raw` String CODEC\(ZSTD\(1\)\) SETTINGS \(max_compress_block_size = 1048576\)/);
    expect(table?.sql).toMatch(/SETTINGS .*max_compress_block_size = 131072/);
    const waiting = 'SELECT count() AS count FROM system.mutations WHERE NOT is_done';
    await expect.poll(() => rows(second.client, waiting), { timeout: 20_000 }).toEqual([{ count: '0' }]);
    // The part that was there has both now: a search for a word reads no granule that cannot have it.
    const parts = "SELECT sum(rows) > 0 AS there FROM system.projection_parts WHERE active AND name = 'by_minute'";
    expect(await rows(second.client, parts)).toEqual([{ there: 1 }]);
    const bytes = "SELECT data_compressed_bytes > 0 AS there FROM system.data_skipping_indices WHERE name = 'by_word'";
    expect(await rows(second.client, bytes)).toEqual([{ there: 1 }]);

    await second.store.append(records([row(200)]));
    await second.store.loaded();
    const everything = { org: 'main', from: at, to: at + 86_400_000_000_000n };
    const errors = parsed('severity_text:ERROR');
    const hits = await second.store.search.hits({
      ...everything,
      query: errors,
      step: 3_600_000_000_000n,
    });
    expect(hits.total).toBe(100);
    const word = parsed('word150');
    const found = await second.store.search.query({
      ...everything,
      query: word,
      limit: 10,
      order: 'desc',
    });
    expect(found).toMatchObject({ records: [{ raw: 'line 150' }] });
    await second.client.close();
    await second.store.stop();
  });

  it('writes definitions for a cluster that ClickHouse can parse', async () => {
    const cluster = { name: "it's", replica: '{replica}' };
    const options = { database: 'logs db', cluster };
    const statements = [
      createDatabase(options),
      createVersionsTable(options),
      ...MIGRATIONS.flatMap(({ statements: of }) => of(options)),
    ];
    expect(statements.length).toBeGreaterThanOrEqual(4);
    for (const statement of statements) {
      const [{ text } = { text: '' }] = await rows<{ text: string }>(
        client,
        `SELECT formatQuery('${statement.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}') AS text`,
      );
      expect(text).toMatch(/ON CLUSTER `it's`/);
      // An answer that is not read keeps its connection.
      await (await client.query({ query: `EXPLAIN AST ${statement}`, format: 'TabSeparated' })).text();
    }
    expect(statements.join('\n')).toMatch(/ReplicatedMergeTree[\s\S]*Distributed/);
  });
});

/** The engine writes its process id into its lock file. */
function enginePid(dataDirectory: string): number {
  return Number(/PID: (\d+)/.exec(readFileSync(join(dataDirectory, 'engine', 'status'), 'utf8'))?.[1]);
}

describe('through kills of the engine under load', () => {
  it('has every acknowledged record once', async () => {
    const { store, client } = await open('killed');
    const acknowledged = new Set<string>();
    let sending = true;
    let batchNumber = 0;
    const sender = async () => {
      while (sending) {
        batchNumber += 1;
        const batch = batchNumber;
        const rayIds = Array.from({ length: 200 }, (_, n) => `${batch}-${n}`);
        const text = rayIds
          .map(
            (ray, n) =>
              `{"EdgeStartTimestamp":${1_700_006_395_000 + n * 50},"RayID":"${ray}","ClientRequestURI":"/${'x'.repeat(300)}"}\n`,
          )
          .join('');
        await store.append(
          lines(text, 'http_requests', ['EdgeStartTimestamp', 'RayID', 'ClientRequestURI'], {
            receivedAt: `${1_700_000_000_000_000_000n + BigInt(batch)}`,
          }),
        );
        for (const ray of rayIds) acknowledged.add(ray);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await store.whenReady();
    const senders = [sender(), sender()];
    for (let round = 0; round < 6; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 150 + 70 * round));
      await store.whenReady();
      process.kill(enginePid(join(root, 'killed')), 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    sending = false;
    await Promise.all(senders);
    await store.loaded();
    const [counts] = await rows(client, 'SELECT count() AS n, uniqExact(RayID) AS u FROM obsiac.logs');
    expect(counts).toEqual({ n: String(acknowledged.size), u: String(acknowledged.size) });
    expect(store.status().loader.quarantinedBatches).toBe(0);
    await client.close();
    await store.stop();
  });
});
