/**
 * `npm run bench -- logs-query [RECORDS] [--rounds N] [--rate N] [--peer-records N] [--keep DIR | --data DIR]`: the explorer's searches
 * over RECORDS http_requests records (default 1,000,000) through the HTTP API of a service with the embedded engine, cold and warm, while
 * the intake takes --rate records a second (default 2,000; 0 for none); beside zgrep and jq over a gzip file of --peer-records of the same
 * records (default 200,000). --keep makes the data in DIR and leaves it there; --data measures again over what --keep left.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import {
  dropCaches,
  measurePeer,
  measureSearch,
  processorShare,
  type Range,
  SteadySender,
  spreadRecords,
} from './logs-query/measure.ts';
import { deliverAll, generate, multiply } from './logs-query/records.ts';
import { SEARCHES } from './logs-query/searches.ts';
import { BenchService } from './logs-query/service.ts';
import { median as medianOf, printTable } from './process.ts';

/** Records of one day that go through the intake; more are copies of them, made inside the engine. */
const DELIVERED = 1_000_000;
const DAY_MS = 86_400_000;
/** Longer than the searches take. */
const INTAKE_SECONDS = 300;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '2000' },
    'peer-records': { type: 'string', default: '200000' },
    keep: { type: 'string' },
    data: { type: 'string' },
  },
});
const own = values.keep === undefined && values.data === undefined;
const folder = path.resolve(values.data ?? values.keep ?? mkdtempSync(path.join(os.tmpdir(), 'obsiac-bench-')));
const peerFile = path.join(folder, 'records.ndjson.gz');
const notesFile = path.join(folder, 'bench.json');

/** What was made, so that it can be measured again. */
interface Notes {
  /** The day that went through the intake; its copies are the days before it. */
  readonly day: string;
  readonly copies: number;
  readonly peerRecords: number;
}

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function makeRecords(service: BenchService): Promise<Notes> {
  const wanted = Number(positionals[0] ?? DELIVERED);
  const copies = Math.max(0, Math.ceil(wanted / DELIVERED) - 1);
  const day = dayOf(Date.now() - DAY_MS);
  const batches = path.join(folder, 'batches');
  const files = await generate(batches, Math.round(wanted / (copies + 1)), day, 1);
  let peerRecords = 0;
  rmSync(peerFile, { force: true });
  for (const file of files) {
    if (peerRecords >= Number(values['peer-records'])) break;
    const batch = readFileSync(file);
    appendFileSync(peerFile, batch);
    peerRecords += gunzipSync(batch).toString().trimEnd().split('\n').length;
  }
  const started = performance.now();
  await deliverAll(service, files);
  const delivered = performance.now();
  await multiply(service, day, copies);
  console.log(
    `Loaded ${seconds(delivered - started)} through the intake, then ${copies} copies of that day inside the engine in ${seconds(performance.now() - delivered)}.`,
  );
  rmSync(batches, { recursive: true });
  const notes = { day, copies, peerRecords };
  writeFileSync(notesFile, JSON.stringify(notes));
  return notes;
}

async function measure(service: BenchService, notes: Notes): Promise<void> {
  await service.settled();
  const peers: number[] = [];
  for (const search of SEARCHES) peers.push(await measurePeer(search, peerFile));
  const midnight = Date.parse(`${notes.day}T00:00:00Z`);
  const made: Range = { from: `${midnight - notes.copies * DAY_MS}000000`, to: `${midnight + DAY_MS}000000` };
  const rounds = await spreadRecords(service, made, Number(values.rounds) + 1);
  // What comes in meanwhile is of the next day, and in the range too.
  const range = { from: made.from, to: `${midnight + 2 * DAY_MS}000000` };
  const rate = Number(values.rate);
  const live = path.join(folder, 'live');
  const files = rate > 0 ? await generate(live, rate * INTAKE_SECONDS, dayOf(midnight + DAY_MS), process.pid) : [];
  const pageCache = await dropCaches(service);
  const total = await count(service, range);
  const sender = new SteadySender(service, files, rate);
  const rows: (string | number)[][] = [];
  const shares: number[] = [];
  for (const [index, search] of SEARCHES.entries()) {
    shares.push(processorShare());
    const { cold, median, worst } = await measureSearch(service, search, range, rounds);
    const peer = peers[index] as number;
    rows.push([
      search.name,
      cold,
      median,
      worst,
      search.target,
      median <= search.target ? 'met' : 'missed',
      peer,
      peer / median,
    ]);
  }
  const { ranOut } = sender;
  await sender.stop();
  rmSync(live, { recursive: true, force: true });
  const share = ((100 * notes.peerRecords) / total).toFixed(total > 10 * notes.peerRecords ? 1 : 0);
  console.log(
    `${total.toLocaleString('en-US')} records at the start. ${notes.copies} of ${notes.copies + 1} days are copies made inside the engine.`,
  );
  console.log(
    `Meanwhile the intake took ${sender.accepted.toLocaleString('en-US')} records in ${sender.seconds.toFixed(0)} s${ranOut ? ', and ended before the last search' : ''}.`,
  );
  console.log(
    `Cold: the engine's caches emptied${pageCache ? ' and the page cache too' : '; the page cache could not be'}. Warm: ${values.rounds} times, each with a value of its own.`,
  );
  console.log(
    `zgrep and jq read ${notes.peerRecords.toLocaleString('en-US')} of the records (${share}%) from one gzip file in the page cache, with no intake beside them. Their time is as measured.`,
  );
  console.log(
    `Of ${os.availableParallelism()} processors, a busy thread got ${(100 * medianOf(shares)).toFixed(0)}% of one between the searches; other work on the machine takes the rest.`,
  );
  printTable(['milliseconds', 'cold', 'warm median', 'worst', 'target', '', 'zgrep, jq', `on ${share}%: times`], rows);
}

async function count(service: BenchService, range: Range): Promise<number> {
  const { answer } = await service.search('hits', range);
  return (answer as { total: number }).total;
}

mkdirSync(folder, { recursive: true });
if (values.data !== undefined && !existsSync(notesFile)) throw new Error(`${folder} has no records of this benchmark`);
const service = new BenchService(path.join(folder, 'data'));
try {
  await service.ready();
  const notes =
    values.data === undefined ? await makeRecords(service) : (JSON.parse(readFileSync(notesFile, 'utf8')) as Notes);
  await measure(service, notes);
} finally {
  await service.stop();
  if (own) rmSync(folder, { recursive: true, force: true });
}
