/**
 * The store against the definition of the query language: generated queries over generated records of all kinds, delivered over HTTP, must
 * have the answers that packages/model/src/query gives in memory. `OBSIAC_SOAK=1` runs the full size; `SEED` repeats a run. With
 * `CLICKHOUSE_URL` the same runs against that server too.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queryArbitrary } from '../../../../model/test/query-arbitrary.ts';
import { Differential } from '../../../test/log-differential.ts';
import { type LogService, startLogService } from '../../../test/logs.ts';

const FULL = process.env['OBSIAC_SOAK'] !== undefined;
const RECORDS = FULL ? 20_000 : 2_000;
const QUERIES = FULL ? 2_000 : 150;
/** Counts of values and over time are compared for each so many queries. */
const COUNTS_EVERY = 10;
const SEED = Number(process.env['SEED'] ?? (FULL ? Date.now() % 1_000_000 : 20_261_121));

const server = process.env['CLICKHOUSE_URL'];
const BACKENDS = [
  { name: 'the embedded engine', settings: {} },
  ...(server === undefined ? [] : [{ name: 'a ClickHouse server', settings: { clickhouse_url: server } }]),
];

describe.each(BACKENDS)('$name', ({ settings }) => {
  let service: LogService;
  let differential: Differential;
  beforeAll(async () => {
    service = await startLogService({ settings });
    differential = await Differential.begin(service, RECORDS, SEED);
  }, 600_000);
  afterAll(() => service.stop());

  it(`answers ${QUERIES} queries over ${RECORDS} records as the language defines (seed ${SEED})`, {
    timeout: 3_600_000,
  }, async () => {
    let number = 0;
    const property = fc.asyncProperty(queryArbitrary(differential.vocabulary), async (query) => {
      number += 1;
      expect(await differential.compare(query)).toBeUndefined();
      if (number % COUNTS_EVERY === 0)
        expect(await differential.compareCounts(query, number / COUNTS_EVERY)).toBeUndefined();
    });
    await fc.assert(property, { numRuns: QUERIES, seed: SEED });
    const { queries, refused, none, some, all, rows } = differential.counts;
    process.stdout.write(
      `seed ${SEED}: ${queries} queries over ${differential.records} records: of those for records ${none} matched none, ${some} some, ${all} all; ${rows} made rows; ${refused} were no queries\n`,
    );
    // A suite whose queries find nothing, or everything, shows nothing.
    expect(differential.records).toBeGreaterThanOrEqual(RECORDS);
    expect(some).toBeGreaterThan(QUERIES / 10);
    expect(rows).toBeGreaterThan(QUERIES / 4);
    expect(refused).toBeLessThan(QUERIES / 10);
  });
});
