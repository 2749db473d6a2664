/** Reads answers where it costs least: small ones at once, big ones on a thread, so that the service goes on meanwhile. */
import { Worker } from 'node:worker_threads';
import { type AnswerLimits, ErrorInside, type ReadAnswer, readAnswer } from './answer.ts';
import { type RangeSeries, SourceError } from './source.ts';
import type { Portion, WorkerRequest } from './worker-messages.ts';

/** Bytes that are read in some 40 ms; more go to the thread. */
const SMALL = 2 * 1024 * 1024;
/** Milliseconds that the thread stays when nothing comes: its start costs as much as a big answer. */
const IDLE = 60_000;
/** An answer of 16 MB takes a quarter of this. */
const HEAP_MB = 1024;

/** One thread serves all data sources of a process, one answer at a time. */
export class AnswerReader {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Ends when all answers before have been read. */
  #queue: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @throws SourceError, ErrorInside as `readAnswer`; `cancelled` when it is closed */
  async read(body: Buffer, limits: AnswerLimits): Promise<ReadAnswer> {
    if (body.length <= SMALL) return readAnswer(body, limits);
    const reading = this.#queue.then(() => this.#readOnThread(body, limits));
    this.#queue = reading.catch(() => undefined);
    return reading;
  }

  /** Ends the thread; answers it has not read are cancelled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end();
  }

  async #readOnThread(body: Buffer, limits: AnswerLimits): Promise<ReadAnswer> {
    if (this.#isClosed) throw new SourceError('cancelled', 'The query was cancelled.');
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    try {
      return await readPortions(worker, body, limits);
    } catch (error) {
      // A thread that died, for want of memory for one, is not asked again.
      if (!(error instanceof SourceError || error instanceof ErrorInside)) await this.#end();
      if (this.#isClosed) throw new SourceError('cancelled', 'The query was cancelled.', { cause: error });
      throw isOutOfMemory(error) ? new SourceError('too_large', 'The answer has too many series to be read.') : error;
    } finally {
      worker.unref();
      this.#idle = setTimeout(() => void this.#end(), IDLE).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('./answer-worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    // Who waits for an answer hears of an error; between two answers nobody does. Either way another thread is started next.
    worker.on('error', () => undefined);
    return worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

function isOutOfMemory(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
}

/** Each portion is unpacked in a turn of its own of the event loop, since the next is asked for only then. */
async function readPortions(worker: Worker, body: Buffer, limits: AnswerLimits): Promise<ReadAnswer> {
  const series: RangeSeries[] = [];
  let portion = await ask(worker, { kind: 'read', body: ownBytes(body), limits });
  for (;;) {
    for (const one of portion.series) series.push(one);
    if (portion.isLast) return { series, warnings: portion.warnings };
    portion = await ask(worker, { kind: 'next' });
  }
}

/** Bytes that can be handed over: a part of a bigger block has to be copied. */
function ownBytes(body: Buffer): Uint8Array<ArrayBuffer> {
  const isWhole = body.byteOffset === 0 && body.byteLength === body.buffer.byteLength;
  return isWhole ? new Uint8Array(body.buffer as ArrayBuffer) : new Uint8Array(body);
}

function ask(worker: Worker, request: WorkerRequest): Promise<Extract<Portion, { kind: 'portion' }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (portion: Portion) => {
      stop();
      if (portion.kind === 'portion') resolve(portion);
      else if (portion.kind === 'error') reject(new ErrorInside(portion.errorType, portion.message));
      else reject(new SourceError(portion.code, portion.message));
    };
    const onError = (error: Error) => {
      stop();
      reject(error);
    };
    const onExit = (code: number) => onError(new Error(`The thread that reads answers ended with ${code}.`));
    const stop = () => void worker.off('message', onMessage).off('error', onError).off('exit', onExit);
    worker.on('message', onMessage).on('error', onError).on('exit', onExit);
    worker.postMessage(request, request.kind === 'read' ? [request.body.buffer as ArrayBuffer] : []);
  });
}
