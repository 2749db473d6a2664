/** Our engine beside a real Prometheus 3.x: the same series, the same questions, the same answers. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Prometheus, prometheusBinary, startPrometheus } from '../../../../tasks/prometheus.ts';
import { labelsRecord } from '../../src/series/labels.ts';
import { MemoryStorage } from '../../src/storage/memory.ts';
import type { SeriesData } from '../../src/storage/storage.ts';
import { AGGREGATES, FUNCTIONS } from '../../src/syntax/functions.ts';
import { parse } from '../../src/syntax/parser.ts';
import { walk } from '../../src/syntax/walk.ts';
import { type Answer, askOurs, askPrometheus, difference, type Question } from './compare.ts';
import { DATA_END, DATA_START, makeDataset } from './dataset.ts';
import { ExpressionWriter } from './expressions.ts';
import { KEPT } from './kept.ts';
import { Random } from './random.ts';

/** Ten times as many expressions, from a seed of the day's own, with OBSIAC_SOAK=1. OBSIAC_SEED sets the first seed. */
const SOAK = process.env['OBSIAC_SOAK'] === '1';
const FIRST_SEED = Number(process.env['OBSIAC_SEED'] ?? (SOAK ? Date.now() % 1_000_000 : 1));
const DATASETS = SOAK ? 10 : 2;
const EXPRESSIONS = SOAK ? 2_000 : 1_000;
const AT_ONCE = 4;
/** Failing questions are kept here, one file a seed. */
const KEEP = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', '.cache', 'promql-differences');

const { binary, reason } = await prometheusBinary();

async function load(data: readonly SeriesData[], server: Prometheus): Promise<MemoryStorage> {
  await server.write(data.map((series) => ({ ...series, labels: labelsRecord(series.labels) })));
  return new MemoryStorage().add(data);
}

/** The questions of one random expression: at one time, and over a range from there. */
function questions(seed: number, index: number, data: readonly SeriesData[]): Question[] {
  const random = new Random(seed * 1_000_003 + index);
  const query = new ExpressionWriter(random).expression();
  const margin = random.chance(0.1) ? 600_000 : -600_000;
  // Often the time of a sample, so that samples lie on the ends of windows.
  const time = random.chance(0.4)
    ? random.pick(Array.from(random.pick(data).times))
    : DATA_START + random.integer(-margin, DATA_END - DATA_START + margin);
  const step = random.pick([15_000, 30_000, 60_000, 7_000, 61_000, 300_000, 600_000]);
  const end = time + step * random.integer(0, 60) + random.integer(0, step - 1);
  return [
    { kind: 'instant', query, time },
    { kind: 'range', query, start: time, end, step },
  ];
}

interface Tally {
  filled: number;
  empty: number;
  errors: number;
  /** Prometheus gave several answers: ties and sums in the random order of its maps. */
  unstable: number;
  readonly differences: { readonly question: Question; readonly what: string }[];
}

async function compare(question: Question, storage: MemoryStorage, server: Prometheus, tally: Tally): Promise<void> {
  const ours = await askOurs(question, storage);
  const theirs = await askPrometheus(question, server);
  const what = difference(question, ours, theirs);
  if (what !== undefined) {
    if (await isUnstable(question, ours, theirs, server)) tally.unstable++;
    else tally.differences.push({ question, what });
  } else if ('error' in ours) tally.errors++;
  else if (ours.data.result.length === 0) tally.empty++;
  else tally.filled++;
}

/** True when Prometheus, asked again, agrees with us or contradicts itself. */
async function isUnstable(question: Question, ours: Answer, first: Answer, server: Prometheus): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const again = await askPrometheus(question, server);
    if (difference(question, ours, again) === undefined || difference(question, first, again) !== undefined)
      return true;
  }
  return false;
}

async function compareAll(all: readonly Question[], storage: MemoryStorage, server: Prometheus): Promise<Tally> {
  const tally: Tally = { filled: 0, empty: 0, errors: 0, unstable: 0, differences: [] };
  let next = 0;
  const worker = async () => {
    for (let question = all[next++]; question; question = all[next++]) await compare(question, storage, server, tally);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return tally;
}

async function report(tally: Tally, seed: number): Promise<string> {
  if (tally.differences.length === 0) return '';
  await mkdir(KEEP, { recursive: true });
  await writeFile(join(KEEP, `${seed}.json`), JSON.stringify(tally.differences, undefined, 2));
  const shown = tally.differences.slice(0, 10).map(({ question, what }) => `${JSON.stringify(question)}\n  ${what}`);
  return `seed ${seed}: ${tally.differences.length} differences, kept in ${KEEP}\n${shown.join('\n')}`;
}

async function withServer<T>(run: (server: Prometheus) => Promise<T>): Promise<T> {
  const server = await startPrometheus({ binary: binary!.path });
  try {
    return await run(server);
  } finally {
    await server.stop();
  }
}

describe.skipIf(reason !== undefined)(`beside Prometheus${reason ? ` (skipped, ${reason})` : ''}`, () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + DATASETS; seed++) {
    test(`${EXPRESSIONS} random expressions of seed ${seed}`, { timeout: 600_000 }, async () => {
      const data = makeDataset(seed);
      const all = Array.from({ length: EXPRESSIONS }, (_, index) => questions(seed, index, data)).flat();
      const tally = await withServer(async (server) => compareAll(all, await load(data, server), server));
      expect(await report(tally, seed)).toBe('');
      // A comparison of nothing with nothing would prove nothing.
      expect(tally.filled).toBeGreaterThan(all.length / 2);
      expect(tally.errors).toBeGreaterThan(all.length / 50);
      expect(tally.unstable).toBeLessThan(all.length / 200);
    });
  }

  test('questions that were answered differently once, and edges', async () => {
    const all = KEPT.flatMap(({ query, t, step }): Question[] => {
      const time = DATA_START + t;
      return [
        { kind: 'instant', query, time },
        { kind: 'range', query, start: time, end: time + 20 * step, step },
      ];
    });
    const tally = await withServer(async (server) => compareAll(all, await load(makeDataset(1), server), server));
    expect(await report(tally, 0)).toBe('');
    expect(tally.filled).toBeGreaterThan(KEPT.length);
  });
});

test('random expressions hold every stable function, aggregation and operator', () => {
  const seen = new Set<string>();
  const data = makeDataset(1);
  for (let index = 0; index < 2_000; index++) {
    const { query } = questions(1, index, data)[0]!;
    const parsed = parse(query);
    if (!parsed.ok) throw new Error(`${query}: ${parsed.problems[0]!.message}`);
    walk(parsed.expr, (node) => {
      if (node.kind === 'call') seen.add(node.func);
      if (node.kind === 'aggregate' || node.kind === 'binary') seen.add(node.op);
      if (node.kind === 'binary' && node.matching) seen.add(`${node.matching.card} ${node.matching.on}`);
    });
  }
  const native = ['histogram_avg', 'histogram_count', 'histogram_stddev', 'histogram_stdvar', 'histogram_sum'];
  const wanted = [...FUNCTIONS.values(), ...[...AGGREGATES].map(([name, each]) => ({ name, ...each }))]
    .filter(({ name, experimental }) => !experimental && !native.includes(name))
    .map(({ name }) => name);
  const operators = ['+', '-', '*', '/', '%', '^', 'atan2', '==', '!=', '<', '>', '<=', '>=', 'and', 'or', 'unless'];
  const cards = ['one-to-one', 'many-to-one', 'one-to-many', 'many-to-many'].flatMap((c) => [
    `${c} true`,
    `${c} false`,
  ]);
  expect([...wanted, ...operators, ...cards].filter((each) => !seen.has(each))).toEqual([]);
});
