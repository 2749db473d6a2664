/** The records that the benchmark searches: generated batches delivered to the intake, and copies of them made inside the engine. */
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './command.ts';
import type { BenchService } from './service.ts';

const root = path.dirname(path.dirname(import.meta.dirname));
const IN_FLIGHT = 4;
const NANOS_A_DAY = 86_400_000_000_000n;
/** As the service's own inserts: parts of a quarter of a million records, on two threads. */
const INSERT = {
  max_threads: '2',
  max_insert_threads: '1',
  max_block_size: '32768',
  max_insert_block_size: '32768',
  min_insert_block_size_rows: '262144',
  min_insert_block_size_bytes: String(256 * 1024 ** 2),
  insert_deduplicate: '0',
};

/** Writes about `records` http_requests records of a day, from its midnight, as gzip batches into `folder`. */
export async function generate(
  folder: string,
  records: number,
  day: string,
  seed: number,
  batchBytes = '5MB',
): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const args = ['logpush', 'simulate', '--out', folder, '--from', `${day}T00:00:00Z`, '--duration', '24h'];
  const more = ['--rate', String(records / 86_400), '--seed', String(seed), '--batch-bytes', batchBytes];
  await runCommand(process.execPath, [path.join(root, 'packages/cli/bin/obsiac.js'), ...args, ...more]);
  return readdirSync(folder)
    .sort()
    .map((file) => path.join(folder, file));
}

/** Delivers batches through the real intake, a few at once, and waits until they can be found. */
export async function deliverAll(service: BenchService, files: readonly string[]): Promise<void> {
  const queue = [...files];
  const sender = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) await service.deliver(file);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sender));
  await service.loaded();
}

/**
 * Copies the records of `day` to the `days` days before it. Each copy has times, rays, ids, bodies and lines of its own, so that it
 * compresses and is told apart as delivered records are.
 */
export async function multiply(service: BenchService, day: string, days: number): Promise<void> {
  for (let number = 1; number <= days; number += 1) await service.engine(copyStatement(day, number), INSERT);
}

function copyStatement(day: string, number: number): string {
  const shift = BigInt(number) * NANOS_A_DAY;
  const time = 'toUnixTimestamp64Nano(timestamp)';
  const moved = (column: string) => `toString(${column}), toString(${column} - ${shift})`;
  return `INSERT INTO obsiac.logs SELECT * EXCEPT (ray, line) REPLACE (
  fromUnixTimestamp64Nano(${time} - ${shift}, 'UTC') AS timestamp, EdgeEndTimestamp - ${shift} AS EdgeEndTimestamp, ray AS RayID,
  replaceOne(body, copied.RayID, ray) AS body, line AS raw, xxHash64('http_requests', line) AS id)
FROM (SELECT *, leftPad(lower(hex(xxHash64(RayID, ${number}))), 16, '0') AS ray,
  replaceOne(replaceOne(replaceOne(raw, RayID, ray), ${moved(time)}), ${moved('EdgeEndTimestamp')}) AS line
  FROM obsiac.logs WHERE timestamp >= toDateTime64('${day} 00:00:00', 9, 'UTC') AND timestamp < toDateTime64('${day} 00:00:00', 9, 'UTC') + INTERVAL 1 DAY) AS copied`;
}
