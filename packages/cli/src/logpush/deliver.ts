/** Delivers simulated batches: to an intake, or as files. */
import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { EXIT } from '../exit-code.ts';
import { Failure } from '../failure.ts';
import { reasonFor } from '../project/file-reason.ts';
import type { IntakeSender } from './intake-http.ts';

export interface Batch {
  readonly text: string;
  readonly records: number;
}

export interface Delivered {
  batches: number;
  records: number;
  /** Compressed. */
  bytes: number;
  /** Uncompressed. */
  rawBytes: number;
  /** Records that the intake did not take. */
  rejected: number;
}

/** Takes one batch; gives its compressed size and how many of its records were not taken. */
export type Receiver = (batch: Batch, index: number) => Promise<{ readonly bytes: number; readonly rejected: number }>;

/**
 * Delivers every batch, `concurrency` at once, and stops at the first failure. `total` is filled as batches arrive, so that it says after
 * a failure what was delivered.
 */
export async function deliver(
  batches: Iterator<Batch>,
  receive: Receiver,
  total: Delivered,
  options: { readonly concurrency: number; readonly signal: AbortSignal; readonly onBatch: () => void },
): Promise<void> {
  let index = 0;
  let failed = false;
  const work = async () => {
    while (!failed && !options.signal.aborted) {
      const { value: batch, done } = batches.next();
      if (done === true) return;
      try {
        const { bytes, rejected } = await receive(batch, index++);
        total.batches += 1;
        total.records += batch.records;
        total.bytes += bytes;
        total.rawBytes += Buffer.byteLength(batch.text);
        total.rejected += rejected;
        options.onBatch();
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: options.concurrency }, work));
  const broken = outcomes.find((outcome) => outcome.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
}

export function toIntake(sender: IntakeSender): Receiver {
  return async ({ text }) => {
    const { bytes, rejected = 0 } = await sender.send(text);
    return { bytes, rejected };
  };
}

const compress = promisify(gzip);

/** `DIR/http_requests-00001.log.gz` and so on. A file has its name when it is whole. */
export async function toDirectory(directory: string, shown: string, dataset: string): Promise<Receiver> {
  const refuse = (error: NodeJS.ErrnoException) =>
    new Failure(EXIT.error, {
      code: 'output_unwritable',
      summary: `The batches cannot be written into ${shown}`,
      detail: reasonFor(error),
    });
  try {
    await mkdir(directory, { recursive: true });
  } catch (error) {
    throw refuse(error as NodeJS.ErrnoException);
  }
  return async ({ text }, index) => {
    const body = await compress(text);
    const file = path.join(directory, `${dataset}-${String(index + 1).padStart(5, '0')}.log.gz`);
    try {
      const handle = await open(`${file}.part`, 'w');
      try {
        await handle.writeFile(body);
      } finally {
        await handle.close();
      }
      await rename(`${file}.part`, file);
    } catch (error) {
      throw refuse(error as NodeJS.ErrnoException);
    }
    return { bytes: body.length, rejected: 0 };
  };
}
