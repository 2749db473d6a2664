/**
 * Log intake offered ten times what it can store: memory stays under its limits, senders are told to come again, searches are answered, and
 * every acknowledged record is found once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { type NumberedBatch, numberedBatches } from './log-batches.ts';
import { type LogService, startLogService } from './log-service.ts';

const SOAK = process.env['OBSIAC_SOAK'] === '1';
const MIB = 1024 ** 2;
const RECORDS = 1000;
const SENDERS = 16;
/** Times the rate that can be stored. */
const FACTOR = 10;
const MEASURE_MS = SOAK ? 20_000 : 2_000;
const OVERLOAD_MS = SOAK ? 120_000 : 5_000;
const PROBE_EVERY_MS = 250;
/** Small, so that a short test fills it; the limits of memory are those of docs/service-settings.md. */
const SPOOL_LIMIT = 8 * MIB;
/** A machine that is busy with other things needs longer to fill the spool: the load goes on until so many batches were refused. */
const REFUSALS = 50;
const LONGEST_MS = 10 * OVERLOAD_MS;
const INTAKE_MEMORY = 128 * MIB;
const ENGINE_MEMORY = 1024 * MIB;
const SERVICE_LIMIT_MIB = 320 + INTAKE_MEMORY / MIB;
const ENGINE_LIMIT_MIB = (1.2 * ENGINE_MEMORY) / MIB;

let service: LogService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

interface Offered {
  readonly acknowledged: Set<number>;
  /** Batches that were offered, refused ones counted each time. */
  offered: number;
  refused: number;
  /** Answers that a sender must never get. */
  readonly wrong: string[];
  seconds: number;
}

interface Load {
  /** Milliseconds, at least. */
  readonly duration: number;
  /** Records a second, at most. */
  readonly rate: number;
  /** Batches that must have been refused before it ends, unless it takes too long. */
  readonly refusals: number;
}

/** Offers batches for a while. A refused batch is offered again, whatever its sender was told. */
async function offer(to: LogService, next: () => NumberedBatch, { duration, rate, refusals }: Load): Promise<Offered> {
  const result: Offered = { acknowledged: new Set(), offered: 0, refused: 0, wrong: [], seconds: 0 };
  const from = performance.now();
  const elapsed = () => performance.now() - from;
  const sender = async () => {
    let batch = next();
    while (elapsed() < duration || (result.refused < refusals && elapsed() < LONGEST_MS)) {
      const early = (result.offered * RECORDS * 1000) / rate - elapsed();
      if (early > 0) {
        await sleep(Math.min(early, 50));
        continue;
      }
      result.offered += 1;
      const answer = await to.deliver(batch.body).catch((error: unknown) => error as Error);
      if (answer instanceof Error) result.wrong.push(answer.message);
      else if (answer.status === 200) {
        result.acknowledged.add(batch.number);
        batch = next();
      } else if (answer.status === 503 && answer.retryAfter >= 1) result.refused += 1;
      else result.wrong.push(`${answer.status} ${answer.text}`);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  result.seconds = elapsed() / 1000;
  return result;
}

interface Probes {
  readonly failed: string[];
  count: number;
  slowest: number;
}

/** Searches one after another, as an explorer does, until it is told to stop. */
async function probe(in_: LogService, stop: AbortSignal): Promise<Probes> {
  const probes: Probes = { failed: [], count: 0, slowest: 0 };
  const range = { from: 'now-15m', to: 'now' };
  const searches: readonly (readonly [string, object])[] = [
    ['query', { ...range, query: '', limit: 100 }],
    ['hits', { ...range, query: 'EdgeResponseStatus:>=500', buckets: 60 }],
    ['facets', { ...range, query: '', fields: 'ClientCountry,EdgeColoCode,EdgeResponseStatus' }],
    ['query', { ...range, query: 'ClientRequestPath:"/catalog/items/42" | stats count() by (ClientCountry)' }],
  ];
  while (!stop.aborted) {
    const [kind, input] = searches[probes.count % searches.length]!;
    const from = performance.now();
    const answer = await in_.search(kind, input).catch((error: unknown) => error as Error);
    probes.slowest = Math.max(probes.slowest, performance.now() - from);
    probes.count += 1;
    if (answer instanceof Error) probes.failed.push(`${kind}: ${answer.message}`);
    else if (answer.status !== 200) probes.failed.push(`${kind}: ${answer.status} ${answer.text}`);
    await sleep(PROBE_EVERY_MS);
  }
  return probes;
}

describe('log intake under ten times its load', { timeout: SOAK ? 20 * 60_000 : 180_000 }, () => {
  it('stays within its memory, refuses politely, answers searches and loses nothing', async () => {
    const memory = ['--intake-memory', String(INTAKE_MEMORY), '--engine-memory', String(ENGINE_MEMORY)];
    service = await startLogService([...memory, '--spool-limit', String(SPOOL_LIMIT), '--disk-reserve', '0']);
    await service.ready();
    const next = numberedBatches(RECORDS);

    const from = performance.now();
    const measured = await offer(service, next, { duration: MEASURE_MS, rate: Number.POSITIVE_INFINITY, refusals: 0 });
    await service.loaded();
    const sustainable = (measured.acknowledged.size * RECORDS * 1000) / (performance.now() - from);

    const stop = new AbortController();
    const probing = probe(service, stop.signal);
    const overload = await offer(service, next, {
      duration: OVERLOAD_MS,
      rate: FACTOR * sustainable,
      refusals: REFUSALS,
    });
    stop.abort();
    const probes = await probing;
    await service.loaded();
    const peaks = service.peaks();
    report(sustainable, overload, peaks, probes);

    expect([...measured.wrong, ...overload.wrong]).toEqual([]);
    expect(overload.refused).toBeGreaterThan(0);
    expect(overload.acknowledged.size).toBeGreaterThan(0);
    expect(probes.failed).toEqual([]);
    expect(probes.count).toBeGreaterThan(0);
    expect(peaks.service).toBeLessThan(SERVICE_LIMIT_MIB);
    expect(peaks.engine).toBeLessThan(ENGINE_LIMIT_MIB);

    const stored = await service.rows<{ batch: string; records: string; different: string }>(
      'SELECT substring(RayID, 1, 8) AS batch, count() AS records, uniqExact(RayID) AS different FROM obsiac.logs GROUP BY batch',
    );
    const odd = stored.filter(({ records, different }) => Number(records) !== RECORDS || Number(different) !== RECORDS);
    expect(odd).toEqual([]);
    const found = stored.map(({ batch }) => Number.parseInt(batch, 16)).sort((a, b) => a - b);
    const acknowledged = [...measured.acknowledged, ...overload.acknowledged].sort((a, b) => a - b);
    expect(found).toEqual(acknowledged);
  });
});

function report(sustainable: number, overload: Offered, peaks: ReturnType<LogService['peaks']>, probes: Probes): void {
  const rate = (batches: number) => `${Math.round((batches * RECORDS) / overload.seconds)} records/s`;
  const offeredFactor = (overload.offered * RECORDS) / overload.seconds / sustainable;
  process.stdout.write(
    `overload: ${Math.round(sustainable)} records/s sustainable; for ${Math.round(overload.seconds)} s offered ` +
      `${rate(overload.offered)} (${offeredFactor.toFixed(1)} times), accepted ${rate(overload.acknowledged.size)}, refused ${overload.refused} ` +
      `batches with 503; peak memory: service ${Math.round(peaks.service)} of ${SERVICE_LIMIT_MIB} MiB, engine ${Math.round(peaks.engine)} of ` +
      `${Math.round(ENGINE_LIMIT_MIB)} MiB; ${probes.count} searches, slowest ${Math.round(probes.slowest)} ms\n`,
  );
}
