import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngineClient, createEngineSupervisor } from '../../engine/index.ts';
import { selectRows } from './connection.ts';

const directory = mkdtempSync(join(tmpdir(), 'obsiac-connection-test-'));
const supervisor = createEngineSupervisor({
  dataDirectory: join(directory, 'engine'),
  backupDirectory: join(directory, 'backups'),
  memoryLimit: 1_500_000_000,
  log: { info: () => undefined, warn: () => undefined },
});
let client: ClickHouseClient;

beforeAll(async () => {
  supervisor.start();
  await supervisor.whenReady();
  client = createEngineClient(supervisor, { requestTimeout: 60_000, maxConnections: 4 });
});
afterAll(async () => {
  await client.close();
  await supervisor.stop();
  rmSync(directory, { recursive: true, force: true });
});

describe('selectRows', () => {
  // Seed 508346 of the differential test at full size: LazyMaterializingTransform failed where several threads read.
  it('has columns read with their rows', async () => {
    const connection = { client, table: 'logs', limits: { timeout: 10_000, memory: 500_000_000 } };
    const sql = "SELECT getSetting('query_plan_optimize_lazy_materialization')";
    expect(await selectRows(connection, { sql, parameters: {} })).toEqual([[false]]);
  });
});
