/** The thread that reads big answers: reads one, then hands its series over in portions as they are asked for. */
import { parentPort } from 'node:worker_threads';
import { ErrorInside, readAnswer } from './answer.ts';
import type { RangeSeries } from './source.ts';
import { SourceError } from './source.ts';
import type { Portion, WorkerRequest } from './worker-messages.ts';

/** Series of one message: as many as are unpacked without holding other work up. */
const PORTION = 1000;

let rest: RangeSeries[] = [];
let warnings: string[] = [];

parentPort?.on('message', (request: WorkerRequest) => {
  if (request.kind === 'read') start(request);
  else send();
});

function start(request: Extract<WorkerRequest, { kind: 'read' }>): void {
  try {
    ({ series: rest, warnings } = readAnswer(Buffer.from(request.body), request.limits));
    send();
  } catch (error) {
    if (error instanceof SourceError) {
      post({ kind: 'refused', code: error.code, message: error.message });
    } else if (error instanceof ErrorInside) {
      post({ kind: 'error', errorType: error.errorType, message: error.message });
    } else throw error;
  }
}

function send(): void {
  const series = rest.splice(0, PORTION);
  // The values are in the same buffer as the times.
  const columns = series.map(({ times }) => times.buffer as ArrayBuffer);
  post({ kind: 'portion', series, warnings, isLast: rest.length === 0 }, columns);
}

function post(portion: Portion, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(portion, transfer);
}
