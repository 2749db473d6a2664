/**
 * Every statement by which the service sets up and uses a cluster, held against a reviewed text and parsed by the real engine. Nothing here runs on a
 * cluster: that the statements do what they say there is for the contract suite with CLICKHOUSE_URL.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient, createEngineSupervisor, type EngineSupervisor, quoteString } from '../engine/index.ts';
import { CLUSTER_SETTINGS } from './batch-insert.ts';
import { INSERT_SETTINGS, insertLines, insertRecords } from './insert.ts';
import { createVersionsTable, MIGRATIONS } from './migrations.ts';
import { dropPartition, selectPartitions } from './retention.ts';
import { createDatabase, logsTable, type TableOptions } from './table.ts';

/** Names that have to be quoted, so that a text that quotes one wrongly is no statement. */
const ODD: TableOptions = { database: 'logs db', cluster: { name: "it's", replica: "{replica}'" } };
const PLAIN: TableOptions = { database: 'obsiac', cluster: { name: 'main' } };

function statementsOf(options: TableOptions): Map<string, string> {
  const context = {
    table: logsTable(options),
    org: 'org',
    dataset: 'http_requests',
    receivedAt: '1700000000123456789',
    storedAt: '1700000000123456790',
  };
  const statements = new Map([
    ['database', createDatabase(options)],
    ['versions', createVersionsTable(options)],
    ['partitions', selectPartitions(options)],
    ['retention', dropPartition(options, '9c55f7b9b1fea4d1e4ab9d5ef14fd33f')],
    ['insert of lines', insertLines(context, ['EdgeStartTimestamp', 'RayID', 'EdgeResponseStatus', 'WAFAction'])],
    ['insert of records', insertRecords(context)],
  ]);
  for (const { version, name, statements: made } of MIGRATIONS) {
    for (const [index, statement] of made(options).entries()) {
      statements.set(`migration ${version} (${name}), statement ${index + 1}`, statement);
    }
  }
  return statements;
}

describe('the statements of a cluster', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'obsiac-cluster-'));
  let engine: EngineSupervisor;
  let client: ClickHouseClient;
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

  beforeAll(async () => {
    engine = createEngineSupervisor({
      dataDirectory: path.join(root, 'engine'),
      backupDirectory: path.join(root, 'backups'),
      memoryLimit: 1024 ** 3,
      log: quiet,
    });
    engine.start();
    await engine.whenReady();
    client = createEngineClient({ socketPath: engine.socketPath }, { requestTimeout: 60_000, maxConnections: 2 });
  });
  afterAll(async () => {
    await client.close();
    await engine.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const rows = async <T>(query: string) => (await client.query({ query, format: 'JSONEachRow' })).json<T>();
  /** As the engine understands it. Throws when it is no statement. */
  const formatted = async (statement: string) => {
    // `formatQuery` leaves the data part of an INSERT out of what it reads.
    const text = statement.replace(/\nFORMAT \w+$/, '');
    const [row] = await rows<{ text: string }>(`SELECT formatQuery(${quoteString(text)}) AS text`);
    return row?.text ?? '';
  };

  it.each([...statementsOf(PLAIN)])(
    '%s is a statement of ClickHouse, and the one that was reviewed',
    async (name, statement) => {
      const file = `${name.replaceAll(/[^a-z0-9]+/gi, '-').replace(/-$/, '')}.sql`;
      await expect(`${await formatted(statement)}\n`).toMatchFileSnapshot(path.join('testdata/cluster', file));
    },
  );

  it('quote names of every kind', async () => {
    for (const [name, statement] of statementsOf(ODD)) {
      const text = await formatted(statement);
      if (!name.startsWith('insert') && name !== 'partitions') expect(text).toContain("ON CLUSTER `it's`");
      if (name !== 'partitions') expect(text).toContain('`logs db`');
    }
  });

  it('make each table on each host, replicated, and read it through a distributed one', () => {
    const created = [...statementsOf(PLAIN).values()].filter((statement) => statement.startsWith('CREATE TABLE'));
    const kept = created.filter((statement) => /ENGINE = Replicated/.test(statement));
    const distributed = created.filter((statement) => /ENGINE = Distributed\('main'/.test(statement));
    expect(kept.length + distributed.length).toBe(created.length);
    expect(distributed.length).toBeGreaterThan(0);
    // Keeper tells replicated tables apart by their paths.
    const paths = kept.map((statement) => /Replicated\w*MergeTree\('([^']+)'/.exec(statement)?.[1]);
    expect(new Set(paths).size).toBe(kept.length);
  });

  it('are sent with settings that the engine knows', async () => {
    const names = [...Object.keys(INSERT_SETTINGS), ...Object.keys(CLUSTER_SETTINGS), 'insert_deduplication_token'];
    const known = await rows<{ name: string }>(
      `SELECT name FROM system.settings WHERE name IN (${names.map(quoteString).join(', ')}) ORDER BY name`,
    );
    expect(known.map(({ name }) => name)).toEqual([...names].sort());
  });
});
