/** Takes delivered batches and makes them durable: from the bytes of a request to parts in the log store's spool. */
import { createHash } from 'node:crypto';
import type { LogIntakeAnswer } from '@obsiac/api';
import type { FastifyBaseLogger } from 'fastify';
import type { LogStore } from '../log-store/index.ts';
import { Refusal } from '../refusal.ts';
import { SpoolError } from '../spool/index.ts';
import type { ByteBudget, Lease } from './byte-budget.ts';
import { type Delivery, plainChunks, readDelivery } from './delivery.ts';
import { isProbe, LONGEST_PROBE, wholeBatchProblem } from './document-shape.ts';
import type { IntakeMetrics } from './intake-metrics.ts';
import { LineInspector } from './line-inspector.ts';
import { LineSorter, type SortedPart } from './line-sorter.ts';
import { LineSplitter } from './line-splitter.ts';
import { OTLP_DATASET } from './normalise/otlp.ts';
import { convertOtlp } from './otlp/convert.ts';
import type { OtlpEncoding } from './otlp/convert-request.ts';
import { OtlpDecodeError } from './otlp/record.ts';
import type { RejectFile } from './rejects.ts';

export interface IntakeLimits {
  /** Largest compressed body in bytes. */
  readonly compressed: number;
  /** Largest batch in bytes after decompression. */
  readonly batch: number;
  /** Longest line in bytes. */
  readonly line: number;
  /** Largest OTLP request in bytes after decompression. */
  readonly otlp: number;
}

export interface IntakeOptions {
  readonly store: Pick<LogStore, 'append' | 'status'>;
  readonly budget: ByteBudget;
  readonly limits: IntakeLimits;
  readonly rejects: RejectFile;
  readonly metrics: IntakeMetrics;
  readonly log: FastifyBaseLogger;
}

/** A request's body, and what is known of it before it is read. */
export interface IncomingBatch {
  readonly org: string;
  readonly body: AsyncIterable<Buffer>;
  /** What `Content-Length` says; 0 when it says nothing. */
  readonly declaredBytes: number;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly receivedAt: string;
}

export interface Intake {
  /** Delivered lines. @param dataset what the sender says; undefined: recognised from the fields. @throws Refusal */
  lines(batch: IncomingBatch, dataset: string | undefined): Promise<LogIntakeAnswer>;
  /** An OTLP request. Resolves to the number of rejected records. @throws Refusal */
  otlp(batch: IncomingBatch, encoding: OtlpEncoding): Promise<number>;
}

/** Memory for the buffers of one batch under way, besides its body. */
const WORKING_BYTES = 1024 * 1024;
/** Of a body whose length is declared, what is reserved at the start; more as it comes. */
const RESERVED_AHEAD = 32 * 1024 * 1024;
/** Seconds after which a sender should try again when nothing more can be stored. */
const RETRY_AFTER = 10;

export function createIntake(options: IntakeOptions): Intake {
  const { budget, limits, metrics } = options;
  const withLease = async <T>(
    endpoint: string,
    batch: IncomingBatch,
    work: (lease: Lease) => Promise<T>,
  ): Promise<T> => {
    const lease = budget.lease();
    try {
      requireRoom(options, batch.declaredBytes);
      // At once, and for what is made of the body too: requests that each hold a part and wait for more would wait for each other.
      await lease.reserve(WORKING_BYTES + 2 * Math.min(batch.declaredBytes, limits.compressed, RESERVED_AHEAD));
      return await work(lease);
    } catch (error) {
      metrics.batch(endpoint, error instanceof Refusal || error instanceof OtlpDecodeError ? error.code : 'internal');
      throw error;
    } finally {
      lease.release();
    }
  };
  return {
    lines: (batch, dataset) => withLease('cloudflare', batch, (lease) => takeLines(options, batch, dataset, lease)),
    otlp: (batch, encoding) => withLease('otlp', batch, (lease) => takeOtlp(options, batch, encoding, lease)),
  };
}

/** A batch that would not be stored is refused before it is read. */
function requireRoom({ store }: IntakeOptions, bytes: number): void {
  const { spool, state } = store.status();
  if (state.phase === 'failed') {
    throw new Refusal('unavailable', `Logs cannot be stored here: ${state.reason}`, { retryAfter: RETRY_AFTER });
  }
  if (spool.bytes + bytes < spool.maxBytes) return;
  throw new Refusal('unavailable', 'Too much waits to be loaded into the log store; send it again later.', {
    retryAfter: RETRY_AFTER,
  });
}

async function takeLines(
  options: IntakeOptions,
  batch: IncomingBatch,
  dataset: string | undefined,
  lease: Lease,
): Promise<LogIntakeAnswer> {
  const { limits, metrics } = options;
  const inspector = new LineInspector(dataset);
  const splitter = new LineSplitter(inspector, limits.line);
  let head = Buffer.alloc(0);
  const delivery = await readDelivery(
    batch.body,
    { compressed: limits.compressed, plain: limits.batch },
    lease,
    (chunk) => {
      if (head.length < LONGEST_PROBE) head = Buffer.concat([head, chunk.subarray(0, LONGEST_PROBE)]);
      splitter.push(chunk);
    },
  );
  splitter.end();
  metrics.received(delivery.plainBytes);
  if (delivery.plainBytes <= LONGEST_PROBE && isProbe(head.toString('utf8'))) {
    metrics.batch('cloudflare', 'probe');
    return { accepted: 0, rejected: 0 };
  }
  const whole = delivery.oneMember ? inspector.result() : undefined;
  if (whole !== undefined) {
    const part: SortedPart = { ...whole, form: 'lines', plainBytes: delivery.plainBytes, body: delivery.kept };
    await storeParts(options, batch, 'cloudflare', delivery.digest, [part]);
    return { accepted: whole.records, rejected: 0 };
  }
  return takeOneByOne(options, batch, dataset, delivery, lease);
}

async function takeOneByOne(
  options: IntakeOptions,
  batch: IncomingBatch,
  dataset: string | undefined,
  delivery: Delivery,
  lease: Lease,
): Promise<LogIntakeAnswer> {
  const sorter = new LineSorter(dataset, batch.receivedAt, lease);
  const splitter = new LineSplitter(sorter, options.limits.line);
  for await (const chunk of plainChunks(delivery)) {
    splitter.push(chunk);
    await sorter.flush();
  }
  splitter.end();
  await sorter.flush();
  const problem = sorter.wrapped ?? wholeBatchProblem(sorter.badLines);
  if (problem !== undefined) throw new Refusal('bad_request', problem);
  const stored = await storeParts(options, batch, 'cloudflare', delivery.digest, await sorter.parts());
  if (sorter.rejected > 0 && stored !== 'duplicate') await keepRejects(options, batch, dataset, sorter);
  return { accepted: sorter.accepted, rejected: sorter.rejected };
}

async function keepRejects(
  { rejects, metrics, log }: IntakeOptions,
  { org, receivedAt }: IncomingBatch,
  dataset: string | undefined,
  sorter: LineSorter,
): Promise<void> {
  const counts = new Map<string, number>();
  for (const { reason } of sorter.rejects) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  for (const [reason, count] of counts) metrics.rejected(reason, count);
  metrics.rejected('not_kept', sorter.rejected - sorter.rejects.length);
  log.warn({ rejected: sorter.rejected, reasons: Object.fromEntries(counts) }, 'lines of a batch were no records');
  await rejects.keep({ org, dataset, receivedAt, lines: sorter.rejects }).catch((error: unknown) => {
    log.error({ err: error }, 'rejected lines could not be kept');
  });
}

async function takeOtlp(
  options: IntakeOptions,
  batch: IncomingBatch,
  encoding: OtlpEncoding,
  lease: Lease,
): Promise<number> {
  const { limits, metrics } = options;
  const chunks: Buffer[] = [];
  const { digest, plainBytes } = await readDelivery(
    batch.body,
    { compressed: limits.otlp, plain: limits.otlp },
    lease,
    async (chunk) => {
      await lease.grow(chunk.length);
      chunks.push(Buffer.from(chunk));
    },
  );
  metrics.received(plainBytes);
  const converted = await convertOtlp(Buffer.concat(chunks), encoding, batch.receivedAt, limits.line);
  const { records, rejected } = converted;
  if (rejected > 0) metrics.rejected('too_long', rejected);
  if (records === 0) return rejected;
  const part: SortedPart = {
    dataset: OTLP_DATASET,
    form: 'records',
    records,
    plainBytes: converted.plainBytes,
    body: [converted.body],
  };
  await storeParts(options, batch, 'otlp', digest, [part]);
  return rejected;
}

/**
 * Resolves when all parts are on disk for good. When one of them cannot be stored, the batch is refused; delivered again, the parts that were stored are
 * known by their hashes and not stored twice.
 */
async function storeParts(
  { store, metrics }: IntakeOptions,
  { org, receivedAt }: IncomingBatch,
  endpoint: string,
  digest: string,
  parts: readonly SortedPart[],
): Promise<'stored' | 'duplicate'> {
  let duplicates = 0;
  for (const { dataset, form, records, plainBytes, fields, body } of parts) {
    const hash = createHash('sha256').update([org, dataset, form, digest].join('\n')).digest('hex');
    const meta = { org, dataset, form, receivedAt, hash, records, plainBytes, contentEncoding: 'gzip' } as const;
    const { duplicate } = await store.append({ ...meta, ...(fields ? { fields } : {}), body }).catch(refuse);
    if (duplicate) duplicates += 1;
    else metrics.accepted(dataset, records);
  }
  const outcome = parts.length > 0 && duplicates === parts.length ? 'duplicate' : 'stored';
  metrics.batch(endpoint, outcome);
  return outcome;
}

function refuse(error: unknown): never {
  if (!(error instanceof SpoolError)) throw error;
  throw new Refusal('unavailable', `${error.message}; send it again later.`, { retryAfter: RETRY_AFTER, cause: error });
}
