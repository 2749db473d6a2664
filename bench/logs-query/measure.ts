/** Measures searches cold and warm, and the commands beside them, while a sender delivers at a bounded rate. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { median } from '../process.ts';
import { runCommand } from './command.ts';
import type { Found, Measured, Round } from './searches.ts';
import type { BenchService } from './service.ts';

/** Nanoseconds since the Unix epoch as text, or RFC 3339. */
export interface Range {
  readonly from: string;
  readonly to: string;
}

export interface Times {
  readonly cold: number;
  readonly median: number;
  readonly worst: number;
}

const SPIN_MS = 100;
const ENGINE_CACHES = [
  'MARK',
  'INDEX MARK',
  'UNCOMPRESSED',
  'INDEX UNCOMPRESSED',
  'PRIMARY INDEX',
  'QUERY CONDITION',
  'MMAP',
];

/** Empties the engine's caches and, where that is permitted, the system's. Says whether it was. */
export async function dropCaches(service: BenchService): Promise<boolean> {
  for (const cache of ENGINE_CACHES) await service.engine(`SYSTEM DROP ${cache} CACHE`);
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '1');
    return true;
  } catch {
    return false;
  }
}

/** The share of a processor that a busy thread gets at this moment, 0 to 1: less than 1 where other work runs beside the benchmark. */
export function processorShare(): number {
  const started = performance.now();
  const before = process.cpuUsage();
  while (performance.now() - started < SPIN_MS);
  const { user, system } = process.cpuUsage(before);
  return Math.min(1, (user + system) / 1000 / (performance.now() - started));
}

/** Once cold, then `rounds` times warm, each round with a record, a word or a pattern of its own. */
export async function measureSearch(
  service: BenchService,
  search: Measured,
  range: Range,
  rounds: readonly Round[],
): Promise<Times> {
  const run = async (round: Round) => {
    const inRange = search.widget === 'context' ? {} : range;
    const { answer, ms } = await service.search(search.widget, { ...inRange, ...search.body(round) });
    if (!search.finds(answer, round)) throw new Error(`${search.name}: wrong answer ${JSON.stringify(answer)}`);
    return ms;
  };
  await dropCaches(service);
  const [first, ...others] = rounds as [Round, ...Round[]];
  const cold = await run(first);
  // Not measured: after it the columns are in the page cache.
  await run(first);
  const warm: number[] = [];
  for (const round of others) warm.push(await run(round));
  return { cold, median: median(warm), worst: Math.max(...warm) };
}

/** Records spread evenly over the range. */
export async function spreadRecords(service: BenchService, range: Range, count: number): Promise<Round[]> {
  const [from, to] = [BigInt(range.from), BigInt(range.to)];
  const rounds: Round[] = [];
  for (let number = 0; number < count; number += 1) {
    const before = from + ((to - from) * BigInt(number + 1)) / BigInt(count);
    const { answer } = await service.search('query', { from: range.from, to: String(before), limit: 1 });
    rounds.push({ number, record: (answer as { records: Found[] }).records[0] as Found });
  }
  return rounds;
}

/** Milliseconds of a shell command over a file that is in the page cache. */
export async function measurePeer(search: Measured, file: string): Promise<number> {
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
  const attributes = JSON.parse(lines[Math.floor(lines.length * 0.75)] as string) as Found['attributes'];
  const command = search.peer({ id: '', timestamp: '', attributes });
  const started = performance.now();
  // 1: grep found nothing.
  await runCommand('bash', ['-c', `set -o pipefail; ${command}`, 'peer', file], [0, 1]);
  return performance.now() - started;
}

/** Delivers batches one after another so that `rate` records a second come in, until it is stopped or has no more. */
export class SteadySender {
  #stopped = false;
  readonly #done: Promise<void>;
  accepted = 0;
  seconds = 0;
  ranOut = false;

  constructor(service: BenchService, files: readonly string[], rate: number) {
    this.#done = this.#send(service, files, rate);
  }

  async #send(service: BenchService, files: readonly string[], rate: number): Promise<void> {
    const started = performance.now();
    for (const file of files) {
      if (this.#stopped) return;
      this.accepted += await service.deliver(file);
      this.seconds = (performance.now() - started) / 1000;
      await sleep(Math.max(0, (this.accepted / rate - this.seconds) * 1000));
    }
    this.ranOut = !this.#stopped;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }
}
