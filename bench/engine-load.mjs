/**
 * The limit that the intake is measured against: gunzip and the engine's own bulk load of the same files, into typed columns with
 * the same compression and durability, and nothing else. Prints one JSON line with what it took.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { Session } from 'chdb';

const [batchFolder, dataFolder, columnsJson] = process.argv.slice(2);
const session = new Session(dataFolder);
session.query('CREATE DATABASE bench');
const columns = Object.entries(JSON.parse(columnsJson)).map(([name, type]) => `\`${name}\` ${type} CODEC(ZSTD(1))`);
session.query(
  `CREATE TABLE bench.http_requests (${columns.join(', ')}) ENGINE = MergeTree PARTITION BY toDate(intDiv(EdgeStartTimestamp, 1000000000)) ` +
    'ORDER BY EdgeStartTimestamp SETTINGS fsync_after_insert = 1, fsync_part_directory = 1',
);
const before = process.cpuUsage();
const started = performance.now();
for (const file of readdirSync(batchFolder).sort()) {
  const source = path.join(batchFolder, file).replaceAll("'", "\\'");
  session.query(
    `INSERT INTO bench.http_requests SELECT * FROM file('${source}', 'JSONEachRow', '${columnsOf(columnsJson)}', 'gzip') SETTINGS input_format_skip_unknown_fields = 1`,
  );
}
const seconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(before);
const rows = Number(session.query('SELECT count() FROM bench.http_requests', 'TabSeparated'));
const sizeOf = () =>
  Number(
    session.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'bench'", 'TabSeparated'),
  );
const bytes = sizeOf();
session.query('OPTIMIZE TABLE bench.http_requests FINAL');
const mergedBytes = sizeOf();
process.stdout.write(`${JSON.stringify({ rows, seconds, cpuSeconds: (user + system) / 1e6, bytes, mergedBytes })}\n`);
session.cleanup?.();
process.exit(0);

function columnsOf(json) {
  return Object.entries(JSON.parse(json))
    .map(([name, type]) => `\`${name}\` ${type}`)
    .join(', ');
}
